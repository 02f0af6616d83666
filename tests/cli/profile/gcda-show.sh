seeds=$WHET_ROOT/tests/fuzz/seeds
cp "$seeds/gcda/gcc-12.gcda" p.gcda && cp "$seeds/gcno/gcc-12.gcno" p.gcno && cp "$seeds/gcda/gcc-11.gcda" old.gcda
whet profile show --functions p.gcda old.gcda
whet profile show p.gcda --json
whet profile overlap p.gcda p.gcda
whet profile overlap p.gcda old.gcda --json
whet profile validate p.gcda old.gcda
