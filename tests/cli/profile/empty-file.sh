# llvm-profdata takes an empty file as a profile without functions.
: >empty.profraw
whet profile merge -o out.profdata empty.profraw || code=$?
[ ! -e out.profdata ] || echo "out.profdata was written"
exit ${code:-0}
