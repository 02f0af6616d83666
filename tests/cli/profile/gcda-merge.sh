# What does not go together is refused with its reason, and nothing is written.
set +e
seeds=$WHET_ROOT/tests/fuzz/seeds
mkdir gcc both
cp "$seeds/gcda/gcc-12.gcda" a.gcda && cp "$seeds/gcda/gcc-11.gcda" b.gcda && cp "$seeds/raw/clang-22.profraw" c.profraw
cp a.gcda gcc/ && cp a.gcda c.profraw both/
: >empty.gcda
whet profile merge a.gcda c.profraw -o out
whet profile merge -w 2,gcc -w 3,c.profraw -o out
whet profile merge both -o out
whet profile overlap a.gcda c.profraw
whet profile merge a.gcda a.gcda
whet profile merge a.gcda gcc -o out
whet profile merge a.gcda b.gcda -o out
whet profile merge a.gcda empty.gcda -o out
whet profile merge a.gcda --for clang-14 -o out
whet profile merge a.gcda --text -o out
whet profile overlap a.gcda gcc
whet profile merge gcc gcc -o both
whet profile merge -w 0,a.gcda -o out
whet profile show "$WHET_ROOT/tests/fuzz/seeds/gcno/gcc-12.gcno" 2>&1 | sed "s|$WHET_ROOT|ROOT|" >&2
[ ! -e out ] || echo "something was written"
whet profile merge -w 2,a.gcda a.gcda -o sum.gcda; echo $?
whet profile merge gcc -w 2,gcc -o sums; echo $?
cmp sums/a.gcda sum.gcda && ls -A . sums
