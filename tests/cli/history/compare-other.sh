. "$WHET_ROOT/tests/cli/history/lib"
three
note 2.0 run:pgo=0.99 machine='another processor, 4 processors'
whet history 4 --compare 3
whet history 4 --compare 3 --json | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["schema"], d["before"]["id"], d["after"]["id"], d["also_different"])
for c in d["changes"]: print(c)'
