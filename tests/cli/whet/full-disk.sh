# What cannot be written is an error, not a success.
[ -e /dev/full ] || { echo "no /dev/full here"; exit 77; }
whet --help >/dev/full
