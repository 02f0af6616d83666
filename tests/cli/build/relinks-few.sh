# Of two relinks the spread is no more than a guess.
. "${0%/*}/../hello-plan"
whet build --relinks 2
