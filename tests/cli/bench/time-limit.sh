# A limit without a unit.
. "${0%/*}/../hello-plan"
whet bench --time-limit 10 a b
