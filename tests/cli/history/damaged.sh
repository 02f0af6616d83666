. "$WHET_ROOT/tests/cli/history/lib"
three
printf 'no database\n' >"$history"
whet history
