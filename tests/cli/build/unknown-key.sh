# Every error of one reading is told, each with line and column, with a suggestion where one is near.
cat >whet.yaml <<'END'
project: hello
build: {tool: mak, binary: hello, complier: clang}
train:
  phases:
    - name: run
      run: "{binray} 1"
END
whet build
