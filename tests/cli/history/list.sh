. "$WHET_ROOT/tests/cli/history/lib"
three
whet history
