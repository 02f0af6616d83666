# The report cannot be written: said, and no success, though the build itself went well.
[ -e /dev/full ] || { echo "no /dev/full here"; exit 77; }
export WHET_STATE=$PWD/state
mkdir state project
cd project
cat >whet.yaml <<'END'
project: hello
build: {tool: make, binary: hello}
train:
  phases:
    - {name: one, run: "{binary}"}
END
printf 'hello: hello.c\n\t$(CC) -O2 -o $@ $<\n' >Makefile
printf '#include <stdio.h>\nint main(void) { return puts("hello") < 0; }\n' >hello.c
code=0
whet build --no-bench >/dev/full 2>"$WHET_STATE/messages" || code=$?
grep whet: "$WHET_STATE/messages" >&2
exit $code
