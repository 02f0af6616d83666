# Counters that there are none of.
cat >whet.yaml <<'END'
project: hello
build: {tool: make, binary: hello}
train:
  services:
    hello: {subject: true, run: "{binary} {port}", ready: tcp}
  phases:
    - {name: start page, http: {get: /, requests: 10}}
END
whet bench --counters perf a b
