# Of fewer launches there are no intervals.
. "${0%/*}/../hello-plan"
whet bench --calibrate --launches 5 a
