# Inputs by a list, with weights; wrong lists and options. The same bytes come out by any way.
set +e
seeds=$WHET_ROOT/tests/fuzz/seeds/raw
cp "$seeds/clang-22.profraw" a.profraw
mkdir folder && cp a.profraw folder/b.profraw
printf '# comment\n\n  2,a.profraw \r\n\tfolder\na.profraw' >list
whet profile merge -w 3,a.profraw folder/b.profraw -o want
whet profile merge -f list -o got && cmp want got
whet profile merge -j 7 --input-files list -o got && cmp want got
grep folder list | whet profile merge -f /dev/stdin -w 3,a.profraw -o got && cmp want got
: >empty
whet profile merge -f empty
whet profile merge -f missing
echo 0,a.profraw >zero
whet profile merge -f zero
whet profile merge -j 1025 a.profraw
whet profile merge -j -1 a.profraw
whet profile merge --sparse "$WHET_ROOT/tests/fuzz/seeds/gcda/gcc-12.gcda" -o got2
printf ':ir\nf\n1\n1\n0\n\ng\n2\n1\n0\n\ng\n3\n1\n4\n' >t.proftext
whet profile merge --sparse --text t.proftext -o /proc/self/fd/1 | cat
ls
