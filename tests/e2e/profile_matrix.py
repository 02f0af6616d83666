"""The profile engine against every llvm-profdata that is installed: producer x kind of counters x version
of the output. Used by tests/e2e/profile-matrix (some cells) and tests/acceptance/engine-1 (all).

A cell takes the raw profiles of real runs, lets whet merge them for one LLVM, and compares what that
LLVM's llvm-profdata reads from the file with what it should: the text form that the producer's own
llvm-profdata gives, changed by the rules for older readers, which are written here a second time. Where
LLVM fixes the order of the file (versions 11, 12, 13), the bytes must be equal as well.
"""

import functools
import re
import shutil
import struct
import subprocess
from pathlib import Path

# Index version: the LLVM it is written for, and the llvm-profdata that reads it back (the oldest here).
TARGETS = {7: (14, 14), 8: (15, 15), 9: (16, 16), 10: (17, 19), 11: (18, 19), 12: (19, 19), 13: (22, 22)}
TEXT = "text"
BYTES = {11: (22, ["-write-prev-version"]), 12: (19, []), 13: (22, [])}
HEADER = {7: 40, 8: 48, 9: 56}  # bytes in front of the summary

MAIN_C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int elsewhere(int);
typedef int (*function)(int);
__attribute__((noinline)) static int same(int x) { return x > 3 ? x * 2 : x + 1; }
static int add(int x) { return x + 3; }
static int flip(int x) { return x ^ 7; }
static int take(int x) { return x - 1; }
static function table[] = {add, flip, take, abs, add};
/* Long enough for a front-end hash that is a digest. */
static int decide(int a, int b, int c, int d)
{
	int n = 0;
	for (int i = 0; i < a; i++) {
		if ((a > i && b) || c) n++;
		switch (i % 5) { case 0: n += b; break; case 1: n -= c; break; case 2: n ^= d; break; default: n++; }
		while (n > 100) { if (n & 1) n /= 2; else n -= 7; }
		if (b) { if (c) { if (d) n++; else n--; } else do n++; while (n % 3); }
		for (int k = 0; k < d; k++) { if (k == 2 || k == 4) continue; n += k ? 1 : 2; }
	}
	return n;
}
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;
	static char to[2000], from[2000] = {1};
	long s = 0;
	for (int i = 0; i < n; i++) {
		s += table[i % 5](i) + same(i) + elsewhere(i);
		memcpy(to, from, (i * 37) % 1500);
		memset(to, i, n % 16);
		s += to[i % 7] + decide(i % 9, i & 1, i & 2, i & 7);
	}
	if (n == -1) s += decide(1, 2, 3, 4) + take(n);
	printf("%ld\n", s);
	return 0;
}
"""
OTHER_C = r"""
__attribute__((noinline)) static int same(int x) { if (x & 1) return x - 1; return x & 2 ? x : 3; }
int elsewhere(int x) { return same(x) + 1; }
int never(int x) { return x > 2 ? same(x) : 7; }
"""
VTABLE_CC = r"""
#include <cstdio>
#include <cstdlib>
struct base { virtual int f(int) = 0; virtual ~base() {} };
struct one : base { int f(int x) { return x + 1; } };
namespace { struct two : base { int f(int x) { return x * 2; } }; }
int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 10;
	long s = 0;
	one a;
	two b;
	for (int i = 0; i < n; i++) { base *p = i % 3 ? (base *)&a : (base *)&b; s += p->f(i); }
	printf("%ld\n", s);
	return 0;
}
"""
MAIN_RS = r"""
use std::collections::BTreeMap;
trait Shape { fn area(&self) -> u64; }
struct A(u64); struct B(u64, u64);
impl Shape for A { fn area(&self) -> u64 { self.0 * self.0 } }
impl Shape for B { fn area(&self) -> u64 { self.0 * self.1 } }
fn main() {
    let n: u64 = std::env::args().nth(1).map(|s| s.parse().unwrap()).unwrap_or(10);
    let mut m: BTreeMap<String, u64> = BTreeMap::new();
    let mut v: Vec<Box<dyn Shape>> = Vec::new();
    for i in 0..n {
        if i % 3 == 0 { v.push(Box::new(A(i))) } else { v.push(Box::new(B(i, 3))) }
        *m.entry(format!("k{}", i * 7919 % 101)).or_default() += i;
    }
    let f: [fn(u64) -> u64; 3] = [|x| x + 1, |x| x ^ 3, |x| x.rotate_left(3)];
    let t = (0..n).fold(0u64, |a, i| a.wrapping_add(f[(i % 3) as usize](i)));
    println!("{} {} {}", v.iter().map(|x| x.area()).sum::<u64>(), t, m.values().max().unwrap_or(&0));
}
"""

# Kind: the flags, and the first clang that has it.
CLANG_KINDS = {
    "IR": (["-fprofile-generate"], 13),
    "IR, 32 bit": (["-fprofile-generate", "-m32"], 13),
    "FE": (["-fprofile-instr-generate"], 13),
    "CS": (["-fcs-profile-generate"], 13),
    "entry first": (["-fprofile-generate", "-mllvm", "-pgo-instrument-entry"], 13),
    "function entries": (["-fprofile-generate", "-mllvm", "-pgo-function-entry-coverage"], 14),
    "byte coverage": (["-fprofile-generate", "-mllvm", "-pgo-block-coverage"], 19),
    "temporal": (["-fprofile-generate", "-mllvm", "-pgo-temporal-instrumentation"], 19),
    "MC/DC": (["-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc"], 19),
    "vtables": (["-fprofile-generate", "-mllvm", "-enable-vtable-value-profiling"], 19),
    "loop entries": (["-fprofile-generate", "-mllvm", "-pgo-instrument-loop-entries"], 22),
}
RUST_KINDS = {
    "IR": ["-Cprofile-generate=."],
    "FE": ["-Cinstrument-coverage"],
    "entry first": ["-Cprofile-generate=.", "-Cllvm-args=-pgo-instrument-entry"],
    "byte coverage": ["-Cprofile-generate=.", "-Cllvm-args=-pgo-block-coverage"],
    "temporal": ["-Cprofile-generate=.", "-Cllvm-args=-pgo-temporal-instrumentation"],
}


class Failure(Exception):
    pass


class Missing(Exception):
    pass


def have(program):
    return shutil.which(program) is not None


def call(*argv, cwd, env=None):
    p = subprocess.run([str(a) for a in argv], cwd=cwd, env=env, capture_output=True, text=True, errors="replace")
    if p.returncode:
        lines = (p.stderr or p.stdout).strip().splitlines()
        raise Failure(f"{Path(str(argv[0])).name}: {lines[0] if lines else p.returncode}")
    return p.stdout


# ---------------------------------------------------------------- the text form, and the rules


class Record:
    def __init__(self, name, hash_, counts):
        self.name, self.hash, self.counts, self.bitmap, self.kinds = name, hash_, counts, [], {}


class Text:
    """LLVM's text form, taken apart."""

    def __init__(self, text):
        self.flags, self.traces, self.stream, self.records = [], [], 0, []
        self.lines = [l for l in text.splitlines() if l and not l.startswith("#")]
        while self.lines and self.lines[0].startswith(":"):
            self.header(self.lines.pop(0)[1:])
        while self.lines:
            self.record()

    def header(self, name):
        self.flags.append(name)
        if name == "temporal_prof_traces":
            n, self.stream = int(self.lines.pop(0)), int(self.lines.pop(0))
            for _ in range(n):
                weight = int(self.lines.pop(0))
                self.traces.append((weight, [f for f in self.lines.pop(0).split(",") if f]))

    def record(self):
        take = lambda: self.lines.pop(0)
        r = Record(take(), int(take(), 0), [])
        r.counts = [int(take()) for _ in range(int(take()))]
        if self.lines and re.fullmatch(r"\$\d+", self.lines[0]):
            r.bitmap = [int(take(), 0) for _ in range(int(take()[1:]))]
        if self.lines and self.lines[0].isdigit():
            for _ in range(int(take())):
                kind = int(take())
                r.kinds[kind] = []
                for _ in range(int(take())):
                    r.kinds[kind].append([take().rsplit(":", 1) for _ in range(int(take()))])
        self.records.append(r)

    def downgrade(self, version):
        """What an LLVM that reads this index version can know of it."""
        llvm = TARGETS[version][0]
        first = {"single_byte_coverage": 17, "temporal_prof_traces": 17, "instrument_loop_entries": 20}
        self.flags = [f for f in self.flags if first.get(f, 0) <= llvm]
        if "temporal_prof_traces" not in self.flags:
            self.traces = []
        rename = (lambda s: s.replace(";", ":", 1)) if llvm <= 17 else (lambda s: s)
        self.traces = [(w, [rename(f) for f in names]) for w, names in self.traces]
        for r in self.records:
            r.name = rename(r.name)
            if version < 11:
                r.bitmap = []
            if version < 12:
                r.kinds.pop(2, None)
            if version >= 13 and "ir" not in self.flags and "csir" not in self.flags:
                r.hash &= (1 << 60) - 1
            for kind in r.kinds:
                if kind != 1:
                    r.kinds[kind] = [[(rename(v), c) for v, c in site] for site in r.kinds[kind]]
        return self

    def settle_ties(self):
        """Values of one count stand in an order that no rule fixes."""
        for r in self.records:
            for sites in r.kinds.values():
                for site in sites:
                    if any(int(a[1]) < int(b[1]) for a, b in zip(site, site[1:])):
                        raise Failure(f"{r.name}: values are not in the order of their counts")
                    site.sort(key=lambda v: (-int(v[1]), v[0]))
        return self

    def write(self):
        out = []
        for f in self.flags:
            out.append(":" + f)
            if f == "temporal_prof_traces":
                out += [len(self.traces), self.stream]
                for weight, names in self.traces:
                    out += [weight, ",".join(names)]
        for r in self.records:
            if not r.counts:
                continue
            out += [r.name, r.hash, len(r.counts), *r.counts]
            if r.bitmap:
                out += [f"${len(r.bitmap)}", *(hex(b) for b in r.bitmap)]
            if r.kinds:
                out.append(len(r.kinds))
                for kind, sites in sorted(r.kinds.items()):
                    out += [kind, len(sites)]
                    for site in sites:
                        out += [len(site), *(f"{v}:{c}" for v, c in site)]
        return "".join(f"{line}\n" for line in out)


# ---------------------------------------------------------------- producers


class Matrix:
    def __init__(self, whet, work):
        self.whet, self.work, self.sources = Path(whet), Path(work), {}
        for name, text in (("m.c", MAIN_C), ("other.c", OTHER_C), ("v.cc", VTABLE_CC), ("m.rs", MAIN_RS)):
            (self.work / name).write_text(text)

    @staticmethod
    def producers():
        return [f"clang-{v}" for v in (13, 14, 15, 16, 19, 22)] + ["rustc"]

    @staticmethod
    def kinds(producer):
        if producer == "rustc":
            return list(RUST_KINDS)
        return [k for k, (_, first) in CLANG_KINDS.items() if int(producer[6:]) >= first]

    @staticmethod
    @functools.cache
    def llvm_of(producer):
        if producer != "rustc":
            return int(producer[6:])
        text = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=False).stdout
        m = re.search(r"^LLVM version: (\d+)", text, re.M)
        return int(m.group(1)) if m else 0

    def compile(self, producer, kind, program):
        if producer == "rustc":
            call("rustc", "-O", *RUST_KINDS[kind], "-o", program, "m.rs", cwd=self.work)
            return
        flags = list(CLANG_KINDS[kind][0])
        if kind == "CS":
            first = self.raws(producer, "IR")
            call(self.whet, "profile", "merge", "--for", f"llvm-{self.llvm_of(producer)}", "-o", "first.profdata",
                 *first, cwd=self.work)
            flags.append("-fprofile-use=first.profdata")
        if kind == "vtables":
            call(producer.replace("clang", "clang++"), "-O2", *flags, "v.cc", "-o", program, cwd=self.work)
        else:
            call(producer, "-O2", *flags, "m.c", "other.c", "-o", program, cwd=self.work)

    def raws(self, producer, kind):
        """The raw profiles of three runs."""
        stem = re.sub(r"[^a-z0-9]", "", f"{producer}{kind}".lower())
        out = [self.work / f"{stem}.{n}.profraw" for n in (1, 2, 3)]
        if all(f.exists() for f in out):
            return out
        if not have(producer):
            raise Missing(f"{producer} is not installed")
        try:
            self.compile(producer, kind, stem)
        except Failure as e:
            raise Missing(f"{producer} cannot build this kind here: {e}") from e
        for n, f in zip((100, 2000, 333), out):
            call(f"./{stem}", n, cwd=self.work, env={"LLVM_PROFILE_FILE": str(f), "PATH": "/usr/bin:/bin"})
        return out

    # ------------------------------------------------------------ cells

    def profdata(self, llvm, *argv):
        tool = f"llvm-profdata-{llvm}"
        if not have(tool):
            raise Missing(f"{tool} is not installed")
        return call(tool, *argv, cwd=self.work)

    def merge(self, llvm, files, out, *options):
        # One thread: with several, the order of records under one key depends on the machine.
        self.profdata(llvm, "merge", "-num-threads=1", *options, *files, "-o", out)

    def as_text(self, llvm, file):
        self.profdata(llvm, "merge", "-text", file, "-o", "out.txt")
        return Text((self.work / "out.txt").read_text()).settle_ties().write()

    def shown(self, llvm, file, *more):
        options = ["--all-functions", "--counts", "--ic-targets", "--memop-sizes", "--detailed-summary"]
        text = self.profdata(llvm, "show", *options, *more, file)
        # Targets of one site in any order, and older tools list the functions in any order.
        text = re.sub(r"(?:^\t\[.*\n)+", lambda m: "".join(sorted(m.group(0).splitlines(True))), text, flags=re.M)
        return "".join(sorted(re.split(r"^(?=  \S|Instr)", text, flags=re.M)))

    def source(self, producer, kind):
        """The raw profiles, and the text that the producer's own llvm-profdata makes of them: with the
        header lines that it should have, and as it is."""
        files = self.raws(producer, kind)
        if (producer, kind) in self.sources:
            return files, *self.sources[producer, kind]
        self.merge(self.llvm_of(producer), files, "source.txt", "-text")
        text = plain = (self.work / "source.txt").read_text()
        flags = struct.unpack_from("<Q", files[0].read_bytes(), 8)[0]
        if flags >> 60 & 1 and ":single_byte_coverage" not in text:
            # The older ones do not write this line.
            text = ":single_byte_coverage\n" + text
        self.sources[producer, kind] = text, plain
        return files, text, plain

    def content(self, producer, kind, version):
        target, reader = TARGETS[version]
        files, text, _ = self.source(producer, kind)
        (self.work / "want.in").write_text(Text(text).downgrade(version).write())
        self.merge(reader, ["want.in"], "want.profdata")
        call(self.whet, "profile", "merge", "--for", f"llvm-{target}", "-o", "own.profdata", *files, cwd=self.work)
        own = (self.work / "own.profdata").read_bytes()
        if struct.unpack_from("<I", own, 8)[0] != version:
            raise Failure("the file has another version")
        if self.as_text(reader, "own.profdata") != self.as_text(reader, "want.profdata"):
            raise Failure(f"llvm-profdata-{reader} reads other records")
        for more in [[], ["--showcs"]] if kind == "CS" else [[]]:
            if self.shown(reader, "own.profdata", *more) != self.shown(reader, "want.profdata", *more):
                raise Failure(f"llvm-profdata-{reader} shows something else")
        if version in HEADER:
            size = HEADER[version]
            want = (self.work / "want.profdata").read_bytes()
            if own[size:size + 448] != want[size:size + 448]:
                raise Failure("the summary differs")

    def bytes(self, producer, kind, version):
        """Both tools merge the same files. An llvm-profdata that does not know the raw version gets what the
        producer's own made of them."""
        writer, options = BYTES[version]
        files = self.raws(producer, kind)
        llvm = self.llvm_of(producer)
        if llvm < 19:
            self.merge(llvm, files, "input.profdata")
            files = ["input.profdata"]
        self.merge(writer, files, "want.profdata", *options)
        call(self.whet, "profile", "merge", "--for", f"llvm-{TARGETS[version][0]}", "-o", "own.profdata", *files,
             cwd=self.work)
        return (self.work / "own.profdata").read_bytes() == (self.work / "want.profdata").read_bytes()

    def same_text(self, producer, kind):
        files, _, text = self.source(producer, kind)
        call(self.whet, "profile", "merge", "--text", "--for", f"llvm-{self.llvm_of(producer)}", "-o", "own.txt",
             *files, cwd=self.work)
        if (self.work / "own.txt").read_text() != text:
            raise Failure("the text differs")

    def cell(self, producer, kind, version):
        """'bytes', 'content', or an exception that says what is wrong or missing."""
        if version == TEXT:
            self.same_text(producer, kind)
            return "bytes"
        self.content(producer, kind, version)
        if version not in BYTES:
            return "content"
        return "bytes" if self.bytes(producer, kind, version) else "content"
