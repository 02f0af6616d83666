. "$WHET_ROOT/tests/cli/history/lib"
three
note 1.3 mix:pgo=0.87
whet history --plot
whet history --plot post
