# Nothing was built yet: there is no log to show.
export WHET_STATE=$PWD/state
mkdir project
cd project
cat >whet.yaml <<'END'
project: hello
build: {tool: make, binary: hello}
train: {phases: [{name: one, run: "{binary}"}]}
END
whet explain --log
