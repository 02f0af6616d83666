. "$WHET_ROOT/tests/cli/history/lib"
whet history 1
