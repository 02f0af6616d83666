# A closed standard output is one that cannot be written, also when there is nothing to do.
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
for n in first second; do
	code=0
	whet build --no-bench >&- 2>"$WHET_STATE/messages" || code=$?
	grep whet: "$WHET_STATE/messages" >&2
	echo "$n: exit $code"
done
whet --version >&- || echo "version: exit $?"
