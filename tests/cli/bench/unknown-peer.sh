# A peer that the plan has not.
cat >whet.yaml <<'END'
project: hello
build: {tool: make, binary: hello}
train:
  services:
    hello: {subject: true, run: "{binary} {port}", ready: tcp}
  phases:
    - {name: start page, http: {get: /, requests: 10}}
bench:
  peers:
    nginx: {run: "nginx -g 'daemon off;'"}
END
cp /bin/true a
whet bench --peer apache a
