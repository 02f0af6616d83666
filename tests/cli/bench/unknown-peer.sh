# A peer that the plan has not.
. "${0%/*}/../hello-plan"
cat >>whet.yaml <<'END'
bench:
  peers:
    nginx: {run: "nginx -g 'daemon off;'"}
END
cp /bin/true a
whet bench --peer apache a
