. "$WHET_ROOT/tests/cli/history/lib"
three
whet history --compare 2
