# Shared by the cargo builds: their setup sources it, in the folder of the project.

# package FOLDER [LINE...]: a package named like its folder (the last part), with these lines in its
# Cargo.toml behind [package].
package() {
	local folder=$1 line
	shift
	mkdir -p "$folder/src"
	{
		echo "[package]"
		echo "name = \"$(basename "$folder")\""
		echo 'version = "0.1.0"'
		echo 'edition = "2021"'
		for line in "$@"; do echo "$line"; done
	} >"$folder/Cargo.toml"
}

# walk_rs FILE: a public function "walk" over one with branches whose order a profile changes.
walk_rs() {
	mkdir -p "$(dirname "$1")"
	cat >"$1" <<'R'
#[inline(never)]
fn sift_score(x: u64) -> u64 {
    if x % 7 == 0 {
        x / 7
    } else if x % 5 == 3 {
        x.wrapping_mul(2654435761) >> 3
    } else {
        x.wrapping_mul(3).wrapping_add(1)
    }
}
pub fn walk(n: u64) -> u64 {
    (0..n).fold(1, |a, i| a ^ sift_score(a.wrapping_add(i)))
}
R
}

# main_rs FILE EXPRESSION: a program that prints it; n is its first argument.
main_rs() {
	mkdir -p "$(dirname "$1")"
	cat >"$1" <<R
fn main() {
    let n: u64 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1000);
    println!("{}", $2);
}
R
}

# walk_c FILE NAME: the same in C.
walk_c() {
	mkdir -p "$(dirname "$1")"
	sed "s/NAME/$2/g" >"$1" <<'C'
static __attribute__((noinline)) unsigned long sift_score(unsigned long x)
{
	if (x % 7 == 0)
		return x / 7;
	return x % 5 == 3 ? x * 2654435761u >> 3 : x * 3 + 1;
}
unsigned long NAME(unsigned long n)
{
	unsigned long a = 1;

	for (unsigned long i = 0; i < n; i++)
		a ^= sift_score(a + i);
	return a;
}
C
}

# lock: makes Cargo.lock and gets what it names; without a registry the build is skipped.
lock() {
	if grep -rqs '^[a-z_-]* = "[0-9=]' --include=Cargo.toml . && ! cargo fetch -q 2>fetch.log; then
		cargo fetch -q --offline 2>/dev/null || { tail -3 fetch.log; echo "no registry for crates"; exit 77; }
	fi
	rm -f fetch.log
	[ -f Cargo.lock ] || cargo generate-lockfile -q --offline
}

# c_build_rs FILE SOURCE...: a build script that compiles C into a static library "parts", by the
# compiler that CC_x86_64_unknown_linux_gnu or CC names; without the cc crate, which takes seconds.
c_build_rs() {
	local file=$1
	shift
	cat >"$file" <<R
use std::{env, process::Command};
fn run(c: &mut Command) {
    assert!(c.status().unwrap().success());
}
fn main() {
    let out = env::var("OUT_DIR").unwrap();
    let cc = env::var("CC_x86_64_unknown_linux_gnu").or(env::var("CC")).unwrap_or("cc".into());
    let mut ar = Command::new("ar");
    ar.arg("crs").arg(format!("{out}/libparts.a"));
    for source in "$*".split(' ') {
        let object = format!("{out}/{}.o", source.replace('/', "-"));
        run(Command::new(&cc).args(["-O2", "-fPIC", "-c", source, "-o", &object]));
        ar.arg(object);
        println!("cargo:rerun-if-changed={source}");
    }
    run(&mut ar);
    println!("cargo:rustc-link-search=native={out}");
    println!("cargo:rustc-link-lib=static=parts");
}
R
}

# plugin_host_rs FILE: a program that loads libplugin.so, which lies beside it, and calls plugin_walk.
plugin_host_rs() {
	cat >"$1" <<'R'
use std::ffi::{c_char, c_int, c_void, CString};
extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}
fn main() {
    let n: u64 = std::env::args().nth(1).and_then(|a| a.parse().ok()).unwrap_or(1000);
    let path = std::env::current_exe().unwrap().with_file_name("libplugin.so");
    let path = CString::new(path.into_os_string().into_string().unwrap()).unwrap();
    let walk = unsafe {
        let plugin = dlopen(path.as_ptr(), 2);
        assert!(!plugin.is_null(), "no plugin at {path:?}");
        dlsym(plugin, c"plugin_walk".as_ptr())
    };
    assert!(!walk.is_null());
    let walk: extern "C" fn(u64) -> u64 = unsafe { std::mem::transmute(walk) };
    println!("{}", walk(n) ^ common::walk(n));
}
R
}
