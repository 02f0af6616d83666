. "$WHET_ROOT/tests/cli/history/lib"
whet history
whet history --json
[ -z "$(ls -A "${history%/*}")" ] # reading makes no file
