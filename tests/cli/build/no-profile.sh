# Refused before anything is read or compiled.
whet build --profile nope.profdata
