# Shared by the acceptance scripts. Each prints its figures with their bounds and the tree's hash, and
# exits non-zero when one falls short.
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
whet=${WHET:-$root/build/src/cli/whet}
name=$(basename "$0")
work=$(mktemp -d "${TMPDIR:-/tmp}/$name-XXXXXX")
chmod 711 "$work"
export WHET_STATE=$work/state
failures=0
trap 'rm -rf "$work"' EXIT

[ -x "$whet" ] || { echo "$name: no whet at '$whet': build it first, or set WHET" >&2; exit 1; }

# point TEXT FIGURE BOUND CONDITION...: one figure; CONDITION is a command that says whether it holds
point() {
	local text=$1 figure=$2 bound=$3 mark=ok
	shift 3
	"$@" || { mark='NOT MET'; failures=$((failures + 1)); }
	printf '%s: %s: %s (bound: %s): %s\n' "$name" "$text" "$figure" "$bound" "$mark"
}

# le A B, ge A B: numbers, also with fractions
le() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a + 0 <= b + 0) }'; }
ge() { le "$2" "$1"; }

# subject NAME [FOLDER]: a fresh copy of a test subject; prints its folder
subject() {
	local to=$work/${2:-$1}
	rm -rf "$to"
	cp -r "$root/tests/subjects/$1" "$to"
	echo "$to"
}

# built OPTIONS...: `whet build`, first all but the comparison, then the comparison alone. QUIET: a command that is called with
# "begin" and "end" around it, and may wait until nothing else runs on this machine.
built() {
	local code
	"$whet" build "$@" --no-bench || return
	${QUIET:-true} begin
	"$whet" build "$@"
	code=$?
	${QUIET:-true} end
	return "$code"
}

# needs PROGRAM...: says SKIP and ends when one is missing
needs() {
	local p
	for p in "$@"; do
		command -v "$p" >/dev/null || { echo "$name: SKIP: '$p' is not installed"; exit 77; }
	done
}

# The newest of a family of programs: newest clang, newest llvm-profdata. Prints its path.
newest() {
	local v
	for v in -22 -21 -20 -19 -18 -17 -16 -15 -14 ''; do
		command -v "$1$v" && return
	done
	echo "$name: SKIP: no '$1' is installed" >&2
	exit 77
}

# pgo_binary DIST NAME: unpacks the released pgo binary; prints its path
pgo_binary() {
	local to
	to=$(mktemp -d "$work/unpacked-XXXX")
	tar -xzf "$1"/*-pgo.tar.gz -C "$to" || return 1
	find "$to" -type f -name "$2"
}

# expect WHAT GATE PATTERN FOLDER [OPTIONS...]: the build stops with exit 1, by this gate, and says PATTERN
expect() {
	local what=$1 gate=$2 pattern=$3 folder=$4 out code
	shift 4
	out=$(cd "$folder" && "$whet" build --no-bench "$@" 2>&1 >/dev/null)
	code=$?
	if [ "$code" -eq 1 ] && grep -Eq "^ *gate $gate:" <<<"$out" && grep -Eq "$pattern" <<<"$out"; then
		point "$what" "exit 1, $gate" "exit 1, $gate, naming /$pattern/" true
	else
		point "$what" "exit $code: $(grep -o 'gate [a-z-]*' <<<"$out" | tr '\n' ' ')" \
			"exit 1, $gate, naming /$pattern/" false
		printf '%s\n' "$out" | head -30 | sed 's/^/    /'
	fi
}

# prefork NAME [SED SCRIPT]: the server subject with its plan changed
prefork() {
	local folder
	folder=$(subject prefork "$1")
	[ -z "${2:-}" ] || sed -i -E "$2" "$folder/whet.yaml"
	echo "$folder"
}
with_fault() {
	prefork "$1" "s/--workers 3/--workers 3 --fault $2/"
}

finish() {
	printf '%s: tree %s\n' "$name" "$(git -C "$root" rev-parse 'HEAD^{tree}' 2>/dev/null || echo unknown)"
	[ "$failures" -eq 0 ] || exit 1
	exit 0
}
