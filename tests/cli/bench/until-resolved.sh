# A width that is none.
. "${0%/*}/../hello-plan"
whet bench --until-resolved 0.5 a b
