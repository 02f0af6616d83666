# The file must be named.
whet build --compile-commands
