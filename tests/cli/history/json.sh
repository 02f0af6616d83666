. "$WHET_ROOT/tests/cli/history/lib"
three
whet history 1 --json
whet history --json | grep '"id"'
