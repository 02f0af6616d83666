# One binary is compared with itself.
whet bench --calibrate a b
