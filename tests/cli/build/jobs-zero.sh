# Refused before anything is read or compiled.
whet build --jobs 0
