# One scenario, given twice.
. "${0%/*}/../hello-plan"
cp /bin/true a
whet bench --scenario "start page" --scenario "start page" a
