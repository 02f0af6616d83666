# Counters that there are none of.
. "${0%/*}/../hello-plan"
whet bench --counters perf a b
