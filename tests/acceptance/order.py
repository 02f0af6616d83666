"""Merges files in random orders and groupings, groups through files of their own, with weights and threads,
and counts the results whose bytes differ. Used by engine-8.

usage: order.py WHET SEED ROUNDS KIND INPUT...     KIND: index, text, temporal or gcda (inputs are folders)
Prints KEY=VALUE words: trees, merges, differ, and figures that show that there was something to get wrong.
"""

import hashlib
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

whet, seed, rounds, kind, *inputs = sys.argv[1:]
work = Path(tempfile.mkdtemp(prefix="order-"))
rng = random.Random(f"{seed} {kind}")
gcc = kind == "gcda"
merges = 0
usage = subprocess.run([whet, "profile", "merge", "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
threads = re.search(r"--(jobs|threads)\b", usage)


def digest(path):
    h = hashlib.sha256()
    for f in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if f.is_file():
            h.update(f"{f.relative_to(path.parent if f == path else path)}\n".encode() if path.is_dir() else b"")
            h.update(f.read_bytes())
    return h.hexdigest()


def merge(parts, options):
    """parts: (path, weight). Returns the path of the result."""
    global merges
    merges += 1
    out = work / f"{merges}"
    argv = [whet, "profile", "merge", "-o", str(out), *options]
    if threads and not gcc:
        argv += [f"--{threads[1]}", str(rng.randint(1, 5))]
    for path, weight in parts:
        argv += [str(path)] if weight == 1 else ["--weighted", f"{weight},{path}"]
    p = subprocess.run(argv, capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"{' '.join(argv)}: {p.stderr}")
    return out


def tree(parts, options, inner):
    """Merges parts in a random grouping: a part of a group has its own weight divided by the group's."""
    children = []
    parts = list(parts)
    while parts:
        n = rng.randint(1, len(parts))
        group, parts = parts[:n], parts[n:]
        if len(group) == 1 or (not children and not parts):
            children += group
            continue
        factor = 1
        for f in (2, 3):
            if kind != "temporal" and all(w % f == 0 for _, w in group) and rng.random() < 0.8:
                factor = f
        children.append((tree([(p, w // factor) for p, w in group], inner, inner), factor))
    return merge(children, options)


def weight_of(i):
    """Most are small multiples, so that groups have factors; some saturate everything. Raw counters above
    2^56 do not exist, so 2^57 times 2^7 is needed."""
    if kind == "temporal":
        return 1 + i % 3
    if gcc:
        return (1, 2, 4, 3, 6)[i % 5]
    return (1, 6, 2, 3, 12, 2**63, 1)[i % 7]


leaves = [(Path(p).resolve(), weight_of(i)) for i, p in enumerate(inputs)]
want = {}
differ = trees = 0
for r in range(int(rounds)):
    options, inner = [], []
    if not gcc:
        version = rng.choice(("12", "13"))
        options = inner = ["--index-version", version]
        if kind == "text":
            options, inner = ["--text"], rng.choice((["--text"], inner))
    subset = tuple(range(len(leaves))) if r % 2 == 0 else tuple(sorted(rng.sample(range(len(leaves)), rng.randint(2, len(leaves)))))
    key = (tuple(options), subset)
    if key not in want:
        want[key] = digest(merge([leaves[i] for i in subset], options))
    order = [leaves[i] for i in subset]
    rng.shuffle(order)
    got = tree(order, options, inner)
    trees += 1
    if digest(got) != want[key]:
        differ += 1
        keep = Path(tempfile.gettempdir()) / f"differs-{kind}-{r}"
        print(f"# round {r}, {options}: {[(p.name, w) for p, w in order]}", file=sys.stderr)
        shutil.rmtree(keep, ignore_errors=True)
    for f in work.iterdir():
        shutil.rmtree(f) if f.is_dir() else f.unlink()

# Without one of its inputs a merge must come out otherwise.
final = ["--text"] if kind == "text" else []
everything = merge(leaves, final)
missed = sum(digest(merge(leaves[:i] + leaves[i + 1:], final)) == digest(everything) for i in range(len(leaves)))
shown = json.loads(subprocess.run([whet, "profile", "show", "--json", "--functions", everything], stdout=subprocess.PIPE, check=True).stdout)
if gcc:
    keys, saturated = 0, 0
else:
    names = [f["key"] for f in shown["records"]]
    keys = len(names) - len(set(names))
    saturated = sum(f["max_count"] == 2**63 - 1 for f in shown["records"])
print(f"trees={trees} merges={merges} differ={differ} missed={missed} threads={threads[1] if threads and not gcc else 'none'} "
      f"inputs={len(leaves)} sites={shown['value_sites']} values={shown['values']} double={keys} saturated={saturated}")
shutil.rmtree(work)
