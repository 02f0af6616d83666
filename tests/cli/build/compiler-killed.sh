# A compiler that is killed when it is asked has not said no: another one in its place would make
# another release.
mkdir bin project
printf '#!/bin/sh\nkill -9 $$\n' >bin/clang-99
chmod +x bin/clang-99
cat >project/whet.yaml <<'Y'
project: hello
version: "1"
build: {tool: make, binary: hello}
train: {phases: [{name: job, run: "{binary}"}]}
Y
PATH=$PWD/bin:$PATH
touch project/Makefile
cd project
whet build
