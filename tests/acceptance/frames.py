"""Backtraces with names, on standard output: each line of the input is "WHERE: ADDRESS...", addresses within the file
that is named. Return addresses are looked up one byte before. Frames of other files, and those of the start files,
are left out; a part (NAME.cold.0) counts as its function, and folded twins as one. With --parts parts keep their
names."""
import bisect
import re
import subprocess
import sys

table = []
for line in subprocess.run(["nm", "-C", "-S", "--defined-only", sys.argv[1]], stdout=subprocess.PIPE, text=True,
                           check=True).stdout.splitlines():
    m = re.match(r"([0-9a-f]+) ([0-9a-f]+) [tTwW] (.*)", line)
    if m:
        table.append((int(m[1], 16), int(m[2], 16), m[3]))
table.sort()
starts = [t[0] for t in table]


def own(at):
    """The function at an address; the symbols of one address have the same name here, or are twins."""
    i = bisect.bisect_right(starts, at)
    while i and table[i - 1][0] + table[i - 1][1] <= at and i > 1 and table[i - 2][0] == table[i - 1][0]:
        i -= 1
    if not i or table[i - 1][0] + table[i - 1][1] <= at:
        return None
    name = re.sub(r"\(.*\)", "", table[i - 1][2])
    name = re.sub(r" \[clone ([^]]*)\]", r"\1", name)
    if "--parts" not in sys.argv:
        name = re.sub(r"(\.(cold|warm)(\.[0-9]+)?)+$", "", name)
    return re.sub(r"^fold_(one|two)$", "fold_*", name)


for line in sys.stdin:
    where, _, rest = line.partition(":")
    names = [own(int(a, 16) - 1) for a in rest.split() if len(a) < 12]
    print(where + ":", " ".join(n for n in names if n and n != "_start"))
