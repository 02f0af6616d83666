. "$WHET_ROOT/tests/cli/history/lib"
python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("CREATE TABLE cookies (a)")' "$history"
whet history --plot
