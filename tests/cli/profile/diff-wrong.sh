set +e
seeds=$WHET_ROOT/tests/fuzz/seeds
cp "$seeds/gcda/gcc-12.gcda" a.gcda && cp "$seeds/raw/clang-22.profraw" b.profraw
printf ':fe\nf\n1\n1\n5\n' >fe.txt
printf ':ir\nf\n1\n1\n5\n' >ir.txt
printf ':ir\nf\n1\n1\n0\n' >none.txt
mkdir folder && cp a.gcda folder/
for arguments in ir.txt "ir.txt none.txt" "fe.txt ir.txt" "a.gcda b.profraw" "a.gcda folder" "--cs a.gcda a.gcda" \
	"-t x ir.txt ir.txt" "-t 101 ir.txt ir.txt" "--cs ir.txt ir.txt" "ir.txt missing.txt"; do
	whet profile diff $arguments
	echo "$?"
done
