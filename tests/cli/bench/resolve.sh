# What shall be narrow, without a width.
. "${0%/*}/../hello-plan"
whet bench --resolve "start page" a b
