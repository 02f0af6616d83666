# One profile, a named form; what comes out is what merge makes of it.
set +e
seeds=$WHET_ROOT/tests/fuzz/seeds
cp "$seeds/gcda/gcc-12.gcda" a.gcda && cp "$seeds/raw/clang-22.profraw" b.profraw
mkdir folder && cp b.profraw folder/
for arguments in "" "b.profraw b.profraw --text" "folder --text" b.profraw "a.gcda --text" "a.gcda --for clang-14" \
	"b.profraw --for gcc-12" "b.profraw --for clang-14 --index-version 7" "b.profraw --index-version 14"; do
	whet profile convert $arguments -o out
	echo "$?"
done
[ ! -e out ] || echo "something was written"
whet profile convert b.profraw --for clang-14 -o old.profdata && whet profile merge b.profraw --for clang-14 -o same.profdata && cmp old.profdata same.profdata
whet profile convert old.profdata --text && whet profile show default.proftext
