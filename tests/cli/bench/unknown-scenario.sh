# A scenario that the plan has not.
. "${0%/*}/../hello-plan"
whet bench --scenario "start pag" a b
