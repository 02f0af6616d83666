# A training counted in seconds is refused, with the reason and the place.
cat >whet.yaml <<'END'
project: hello
build: {tool: make, binary: hello}
train:
  services:
    hello: {subject: true, run: "{binary} {port}", ready: tcp}
  phases:
    - name: start page
      http: {get: /, requests: 10, seconds: 5}
END
whet build
