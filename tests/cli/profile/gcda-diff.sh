seeds=$WHET_ROOT/tests/fuzz/seeds/gcc
cp "$seeds/gcc-12.gcda" p.gcda && cp "$seeds/gcc-12.gcno" p.gcno && cp "$seeds/gcc-11.gcda" old.gcda
whet profile diff p.gcda p.gcda
whet profile diff old.gcda p.gcda
