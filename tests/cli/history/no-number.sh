. "$WHET_ROOT/tests/cli/history/lib"
whet history mix
