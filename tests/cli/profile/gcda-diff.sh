seeds=$WHET_ROOT/tests/fuzz/seeds
cp "$seeds/gcda/gcc-12.gcda" p.gcda && cp "$seeds/gcno/gcc-12.gcno" p.gcno && cp "$seeds/gcda/gcc-11.gcda" old.gcda
whet profile diff p.gcda p.gcda
whet profile diff old.gcda p.gcda
