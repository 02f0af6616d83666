# Of two relinks the spread is no more than a guess.
cat >whet.yaml <<'END'
project: hello
build: {tool: make, binary: hello}
train:
  phases:
    - {name: run, run: "{binary} 1"}
END
whet build --relinks 2
