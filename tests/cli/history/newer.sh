. "$WHET_ROOT/tests/cli/history/lib"
three
python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("PRAGMA user_version = 9")' "$history"
whet history
