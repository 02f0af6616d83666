# Shared by the scripts that run single build steps through the wrapper (wrap-driver). They print "ok"
# and "not ok" lines.
set -u
build=$(readlink -f "${WHET_BUILD:?usage: WHET_BUILD=FOLDER $0}")
bin=$build/src/wrap
cc=${WHET_E2E_CC:-}
for v in 22 21 20 19 18 17 16 15 14; do
	[ -z "$cc" ] && command -v "clang-$v" >/dev/null && command -v "llvm-profdata-$v" >/dev/null && cc=clang-$v
done
command -v "${cc:-none}" >/dev/null || { echo "no ${cc:-clang} with its llvm-profdata"; exit 77; }
llvm=${cc#clang-}
work=$(mktemp -d "${TMPDIR:-/tmp}/whet-wrap-XXXXXX")
open=$(mktemp -d /tmp/whet-wrap-open-XXXXXX) # reachable by a worker that dropped its privileges
chmod 711 "$open"
if [ -n "${WHET_E2E_KEEP:-}" ]; then
	echo "# kept: $work"
else
	trap 'rm -rf "$work" "$open"' EXIT
fi
chmod 755 "$work"
number=0 failed=0

check() { # NAME CONDITION...
	local name=$1
	shift
	number=$((number + 1))
	if "$@" >"$work/check.log" 2>&1; then
		echo "ok $number - $name"
	else
		echo "not ok $number - $name"
		sed 's/^/# /' "$work/check.log" | head -20
		failed=$((failed + 1))
		[ -z "${WHET_E2E_FIRST:-}" ] || exit 1 # whoever asks only whether all is well
	fi
}

# driver MODE SUBJECT OPTIONS… -- COMMAND: the slot is the subject's folder
driver() {
	local mode=$1 subject=$2
	shift 2
	(cd "$work/$subject" && "$bin/wrap-driver" "$mode" shim "$bin/whet-shim" \
		work "$work/$subject.whet" slot "$work/$subject" "$@")
}
fresh_log() { rm -rf "$work/$1.whet/log-"*; }
has() { grep -q -- "$1" "$2"; }
hasnt() { ! grep -q -- "$1" "$2"; }
same() { cmp "$1" "$2"; }
fails() { ! "$@"; }
subject() { mkdir -p "$work/$1" && cd "$work/$1" || exit 1; }
records() { cat "$work/$1.whet/log-$2"/*.json; }
profile_of() { # SUBJECT PROGRAM ARGS…: runs the program and merges its profile
	local s=$1
	shift
	rm -rf "$work/$s.prof" && mkdir -m 01777 "$work/$s.prof"
	WHET_PROFILE_DIR=$work/$s.prof LLVM_PROFILE_FILE=$work/$s.prof/%p.profraw "$@" >/dev/null &&
		"llvm-profdata-$llvm" merge -o "$work/$s.profdata" "$work/$s.prof"/*.profraw
}
end_of_checks() {
	echo "1..$number"
	[ "$failed" = 0 ]
}
