seeds=$WHET_ROOT/tests/fuzz/seeds/gcc
cp "$seeds/gcc-12.gcda" p.gcda && cp "$seeds/gcc-12.gcno" p.gcno && cp "$seeds/gcc-11.gcda" old.gcda
whet profile show --functions p.gcda old.gcda
whet profile show p.gcda --json
whet profile overlap p.gcda p.gcda
whet profile overlap p.gcda old.gcda --json
whet profile validate p.gcda old.gcda
