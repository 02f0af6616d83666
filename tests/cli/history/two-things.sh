. "$WHET_ROOT/tests/cli/history/lib"
whet history --plot --compare 1
