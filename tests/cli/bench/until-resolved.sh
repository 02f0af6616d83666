# A width that is none.
cat >whet.yaml <<'END'
project: hello
build: {tool: make, binary: hello}
train:
  services:
    hello: {subject: true, run: "{binary} {port}", ready: tcp}
  phases:
    - {name: start page, http: {get: /, requests: 10}}
END
whet bench --until-resolved 0.5 a b
