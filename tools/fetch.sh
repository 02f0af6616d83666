# Shared by the scripts that fetch a program which the Python package index holds ready built.

# fetch NAME TEST PACKAGE...: a folder of the user's cache with these packages, fetched once; its path is left in
# $own. TEST is a command that gets the folder and says whether what is needed works there. Ends the script with
# 77 and the reason when there is none to be had.
fetch() {
	local name=$1 usable=$2 new
	shift 2
	own=${XDG_CACHE_HOME:-$HOME/.cache}/whet-tests/$name
	"$usable" "$own" && return
	python3 -m pip --version >/dev/null 2>&1 || { echo "SKIP: no $name, and no pip to fetch it"; exit 77; }
	new=$own.$$
	mkdir -p "$(dirname "$own")"
	trap "rm -rf '$new' '$new.log'" EXIT
	if ! timeout 300 python3 -m pip install --quiet --no-input --disable-pip-version-check --target "$new" "$@" \
		>"$new.log" 2>&1; then
		echo "SKIP: $name cannot be fetched: $(tail -1 "$new.log")"
		exit 77
	fi
	"$usable" "$new" || { echo "SKIP: the fetched $name does not run here"; exit 77; }
	rm -rf "$own"
	mv "$new" "$own"
}
