"""What the checks need to know about C text: comments and strings blanked, functions found."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_TOKEN = re.compile(
    r"""//(?:[^\n\\]|\\.|\\\n)*|/\*.*?\*/|"(?:[^"\\\n]|\\.|\\\n)*"|'(?:[^'\\\n]|\\.)*'""", re.S)


def tracked(*patterns):
    """Files that git knows or would know (untracked but not ignored), so that a check sees a file
    before it is committed. Without git (an unpacked archive): everything but build folders."""
    got = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "-z", "--", *patterns],
        capture_output=True)
    if got.returncode == 0:
        names = [n for n in got.stdout.decode().split("\0") if n]
    else:
        pathspecs = [p.removeprefix(":(glob)") for p in patterns] or ["**/*"]
        names = [str(f.relative_to(ROOT)) for p in pathspecs for f in ROOT.glob(p) if f.is_file()]
        names = [n for n in names if not n.startswith(("build", "dist/"))]
    return sorted({ROOT / n for n in names if (ROOT / n).is_file()})


def c_files(*folders):
    return [f for f in tracked(*(f":(glob){d}/**/*.[ch]" for d in folders))]


def blank(text, keep_strings=False):
    """Comments (and the content of strings) become spaces; lines keep their numbers."""
    def sub(m):
        t = m.group(0)
        if t[0] == "/":
            return re.sub(r"[^\n]", " ", t)
        if keep_strings:
            return t
        return t[0] + re.sub(r"[^\n]", " ", t[1:-1]) + t[-1]
    return _TOKEN.sub(sub, text)


def without_preprocessor(text):
    """Preprocessor lines with their continuations become empty lines."""
    return re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*",
                  lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.M | re.S)


class Function:
    def __init__(self, name, first, last, body):
        self.name, self.first, self.last, self.body = name, first, last, body

    @property
    def lines(self):
        return self.last - self.first + 1

    @property
    def complexity(self):
        """McCabe's number: decisions plus one; each case label and each && and || is one."""
        return 1 + len(re.findall(r"\b(?:if|for|while|case)\b|&&|\|\||\?", self.body))


def functions(text):
    """Functions of a C file, by braces: a block at depth 0 that follows a closing parenthesis."""
    text = without_preprocessor(blank(text))
    depth, start, found = 0, None, []
    head_from = 0  # where the current outermost declaration begins
    for m in re.finditer(r"[{};]", text):
        c, at = m.group(0), m.start()
        if c == "{":
            head = text[head_from:at]
            if depth == 0 and head.rstrip().endswith(")") and "=" not in head.split("(")[0]:
                start = (head_from + len(head) - len(head.lstrip()), head)
            depth += 1
        elif c == "}":
            depth -= 1
            if depth == 0:
                if start is not None:
                    found.append(_function(text, start, at))
                start, head_from = None, at + 1
        elif depth == 0:
            head_from = at + 1
    if depth != 0:
        raise ValueError("braces do not balance")
    return found


def _function(text, start, end):
    begin, head = start
    head = re.sub(r"__attribute__\s*\(\(.*?\)\)", " ", head, flags=re.S)
    name = re.search(r"(\w+)\s*\(", head)
    return Function(name.group(1) if name else "?", text.count("\n", 0, begin) + 1,
                    text.count("\n", 0, end) + 1, text[begin:end])


def relative(path):
    return path.relative_to(ROOT)


def finish(what, problems, seen):
    """Prints the problems and ends: 1 when there are some, 0 otherwise."""
    if seen == 0:
        print(f"{what}: nothing to look at, which cannot be right")
        sys.exit(1)
    for p in problems:
        print(p)
    print(f"{what}: {seen} looked at, {len(problems)} problem{'s' if len(problems) != 1 else ''}")
    sys.exit(1 if problems else 0)
