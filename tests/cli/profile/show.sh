cp "$WHET_ROOT/tests/fuzz/seeds/raw/clang-22.profraw" a.profraw
whet profile show -f a.profraw
whet profile show --json a.profraw
whet profile validate a.profraw
whet profile validate --json a.profraw
