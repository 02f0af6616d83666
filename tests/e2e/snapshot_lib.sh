# Shared by the scripts that take snapshots of live processes (e2e/snapshot, acceptance/engine-4). The
# oracle is the runtime itself: a held process writes its own profile right after the snapshot was taken,
# from code that is not instrumented. The sourcing script sets whet and work, enters $work and defines
# result NAME OK TEXT.

have() { command -v "$1" >/dev/null; }

sources() {
	cat >work.cc <<'CC'
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
struct base { virtual int f(int) = 0; virtual ~base() {} };
struct one : base { int f(int x) { return x + 1; } };
struct two : base { int f(int x) { return x * 2; } };
static int add(int x) { return x + 3; }
static int flip(int x) { return x ^ 7; }
static int take(int x) { return x - 1; }
typedef int (*function)(int);
static function table[] = {add, flip, take, abs, add};
template <class T> T sum(T x) { T s = 0; for (int i = 0; i < 10; i++) s += x * i; return s; }
extern "C" long work(int n)
{
	char to[2000], from[2000] = {1};
	long s = 0;
	one a;
	two b;
	for (int i = 0; i < n; i++) {
		s += table[i % 5](i);
		memcpy(to, from, (i * 37) % 1500);
		s += to[i % 7];
		base *p = i % 3 ? (base *)&a : (base *)&b;
		s += p->f(i);
		std::vector<int> v(i % 50);
		for (auto &x : v) x = rand();
		std::sort(v.begin(), v.end(), [](int x, int y) { return x < y; });
		s += sum(i) + sum((long)i);
		std::string q(i % 30, 'x');
		s += q.size();
#ifdef CONDITIONS
		if ((i & 1 && i % 5 > 2) || q == "xxx") s++;
#endif
	}
	return s;
}
CC
	cat >main.c <<'C'
#include <stdio.h>
#include <stdlib.h>
long work(int);
void hold(void);
int main(int c, char **v) { printf("%ld\n", work(c > 1 ? atoi(v[1]) : 100)); hold(); return 0; }
C
	# Not instrumented: between the snapshot and the runtime's own writing no counter moves.
	cat >hold.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int __llvm_profile_write_file(void);
extern int library_write(void) __attribute__((weak));
void hold(void)
{
	char c;
	int (*plugin_write)(void) = getenv("PLUGIN") ? dlsym(RTLD_DEFAULT, "plugin_write") : NULL;
	int rc = 0;

	puts("ready");
	fflush(stdout);
	if (read(0, &c, 1) < 0)
		_exit(9);
	rc |= __llvm_profile_write_file();
	if (library_write)
		rc |= library_write();
	if (plugin_write)
		rc |= plugin_write();
	_exit(rc != 0);
}
C
	cat >shared.c <<'C'
__attribute__((noinline)) static int odd(int x) { return x & 1 ? x * 3 : x + 1; }
__attribute__((noinline)) static int even(int x) { return x & 1 ? x : x / 2; }
int NAME(int n) { int (*f[])(int) = {odd, even}; int s = 0; for (int i = 0; i < n; i++) s += f[i % 2](i); return s; }
C
	echo 'int __llvm_profile_write_file(void); int WRITE(void) { return __llvm_profile_write_file(); }' >shared_write.c
	cat >dsomain.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int library_work(int);
void hold(void);
int main(int c, char **v)
{
	void *h = getenv("PLUGIN") ? dlopen(getenv("PLUGIN"), RTLD_NOW | RTLD_GLOBAL) : NULL;
	int (*f)(int) = h ? (int (*)(int))dlsym(h, "plugin_work") : NULL;

	printf("%d\n", library_work(70) + (f ? f(30) : 0));
	hold();
	return 0;
}
C
	cat >threads.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile int stop;
__attribute__((noinline)) static int up(int x) { return x + 1; }
__attribute__((noinline)) static int down(int x) { return x - 1; }
static int (*const volatile f[2])(int) = {up, down};
__attribute__((noinline)) int counted(int i) { return f[i & 1](i); }
static void *spin(void *p) { long s = 0; for (int i = 0; !stop; i++) s += counted(i); return (void *)s; }
static void *brief(void *p) { return (void *)(long)counted(1); }
/* THREADS that spin; CHURN short-lived ones, one after the other, and then the end. */
int main(int c, char **v)
{
	int n = atoi(v[1]), churn = atoi(v[2]);
	pthread_t t[n], one;
	char b;

	for (int i = 0; i < n; i++)
		pthread_create(&t[i], NULL, spin, NULL);
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < churn; i++) {
		pthread_create(&one, NULL, brief, NULL);
		pthread_join(one, NULL);
	}
	if (!churn && read(0, &b, 1) < 0)
		return 1;
	stop = 1;
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	puts("done");
	return 0;
}
C
	cat >signals.c <<'C'
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((noinline)) int busy(int n) { int s = 0; for (int i = 0; i < n; i++) s += i & 3; return s; }
static volatile sig_atomic_t seen;
static void on(int sig) { seen++; }
int main(void)
{
	struct sigaction a = {.sa_handler = on, .sa_flags = SA_RESTART};
	char c;

	sigaction(SIGRTMIN, &a, NULL);
	puts("ready");
	fflush(stdout);
	while (read(0, &c, 1) == 1 && c != 'q')
		busy(1000);
	printf("seen %d\n", (int)seen);
	return 0;
}
C
	cc -c -O1 -fPIC hold.c -o hold.o && cc -c -O1 -fPIC -DWRITE=library_write shared_write.c -o library_write.o &&
		cc -c -O1 -fPIC -DWRITE=plugin_write shared_write.c -o plugin_write.o
}

# start PROGRAM ARGUMENTS...: runs it until it says "ready"; sets pid. Descriptor 9 is its input.
start() {
	rm -f in out oracle.profraw
	mkfifo in
	LLVM_PROFILE_FILE=$work/oracle.profraw "$@" <in >out 2>program.err &
	pid=$!
	exec 9>in
	for _ in $(seq 200); do
		grep -q ready out && return 0
		kill -0 "$pid" 2>/dev/null || break
		sleep 0.05
	done
	echo "'$*' is not ready: $(head -3 program.err)"
	return 1
}
# finish_program: lets it go on and waits for its end; its exit code
finish_program() {
	(echo go >&9) 2>/dev/null # a subshell: it may have ended
	exec 9>&-
	wait "$pid"
}
abandon() {
	kill -9 "$pid" 2>/dev/null
	exec 9>&-
	wait "$pid" 2>/dev/null
	return 0
}

text_of() { "llvm-profdata-$1" merge --text "$2" -o "$3" 2>>text.log; }

# equal LLVM HOW: snapshot.profraw against oracle.profraw. HOW: bytes, or content by llvm-profdata
equal() {
	[ -s oracle.profraw ] || { echo "the runtime wrote nothing: $(head -3 program.err)"; return 1; }
	if [ "$2" = bytes ]; then
		cmp snapshot.profraw oracle.profraw
	else
		text_of "$1" snapshot.profraw a.txt && text_of "$1" oracle.profraw b.txt && cmp a.txt b.txt
	fi
}

# held NAME LLVM HOW PROGRAM ARGUMENTS...: one comparison
held() {
	local what=$1 llvm=$2 how=$3
	shift 3
	rm -f snapshot.profraw text.log
	if held_once "$llvm" "$how" "$@" >held.log 2>&1; then
		result "$what: as the runtime writes it ($how)" true
	else
		result "$what: as the runtime writes it ($how)" false
		sed 's/^/# /' held.log | head -20
	fi
}
held_once() {
	local llvm=$1 how=$2 code
	shift 2
	start "$@" || return 1
	if ! "$whet" profile snapshot "$pid" -o snapshot.profraw; then
		abandon
		return 1
	fi
	finish_program
	code=$?
	[ "$code" -eq 0 ] || { echo "the program ended with exit code $code: $(head -3 program.err)"; return 1; }
	equal "$llvm" "$how"
}

# Builds of C and C++; each sets the words for held, or returns 1 with the reason in build.log.
# build OUT CLANG FLAGS...: work.cc, main.c and the hold
build() {
	local out=$1 llvm=$2
	shift 2
	"clang++-$llvm" -O2 "$@" work.cc -x c main.c -x none hold.o -o "$out" >build.log 2>&1
}
ways="pie no-pie static static-pie lld lto stripped"
build_way() { # WAY OUT CLANG
	local lld
	lld=$(command -v ld.lld-22 || command -v "ld.lld-$3")
	case $1 in
	pie) build "$2" "$3" -fprofile-generate ;;
	no-pie) build "$2" "$3" -fprofile-generate -no-pie ;;
	static) build "$2" "$3" -fprofile-generate -static ;;
	static-pie) build "$2" "$3" -fprofile-generate -static-pie -fPIE ;;
	lld) [ -n "$lld" ] && build "$2" "$3" -fprofile-generate "--ld-path=$lld" ;;
	lto) [ -n "$lld" ] && build "$2" "$3" -fprofile-generate -flto "--ld-path=$lld" ;;
	stripped) build "$2" "$3" -fprofile-generate && strip "$2" ;;
	esac
}
library() { # NAME CLANG FLAGS...: libNAME.so
	local name=$1 llvm=$2
	shift 2
	"clang-$llvm" -O1 -fPIC -shared -fprofile-generate "$@" "-DNAME=${name}_work" shared.c "${name}_write.o" -o "lib$name.so" >build.log 2>&1
}
# with_objects CLANG [STRIP]: a program with a shared library and a plugin that is loaded with dlopen
with_objects() {
	library library "$1" && library plugin "$1" &&
		"clang-$1" -O1 -fprofile-generate dsomain.c hold.o -L. -llibrary -Wl,-rpath,"$work" -o objects >build.log 2>&1 || return 1
	[ -z "${2:-}" ] || strip objects liblibrary.so libplugin.so
}

rust_source() {
	cat >p.rs <<'RS'
extern "C" { fn hold(); }
trait Shape { fn area(&self) -> u64; }
struct Square(u64);
struct Line(u64);
impl Shape for Square { fn area(&self) -> u64 { self.0 * self.0 } }
impl Shape for Line { fn area(&self) -> u64 { if self.0 > 9 { 1 } else { 0 } } }
#[inline(never)]
fn total(v: &[Box<dyn Shape>]) -> u64 { v.iter().map(|s| s.area()).sum() }
fn main() {
    let n: u64 = std::env::args().nth(1).map_or(100, |a| a.parse().unwrap());
    let mut v: Vec<Box<dyn Shape>> = Vec::new();
    for i in 0..n { if i % 3 == 0 { v.push(Box::new(Line(i))) } else { v.push(Box::new(Square(i))) } }
    let mut words: Vec<String> = (0..n).map(|i| format!("{:04}", i * 7919 % n)).collect();
    words.sort();
    println!("{} {}", total(&v), words.join("").len());
    unsafe { hold() }
}
RS
}
rust() { # OUT OPTIONS...
	local out=$1
	shift
	rustc -O -Cprofile-generate=. -Clink-arg=hold.o "$@" -o "$out" p.rs >build.log 2>&1
}

# mixed KIND: a program of Rust and of C by clang-14, which the runtime cannot write: KIND is
# rust-main (the Rust program calls C) or c-main (the C program calls Rust)
mixed() {
	cat >c_part.c <<'C'
int c_called(int x) { return x & 1 ? x * 3 : x - 1; }
C
	if [ "$1" = rust-main ]; then
		cat >mixed.rs <<'RS'
extern "C" { fn c_called(x: i32) -> i32; fn hold(); }
#[no_mangle] #[inline(never)] pub extern "C" fn rust_called(x: i32) -> i32 { if x % 3 == 0 { x } else { x + 2 } }
fn main() {
    let mut s = 0i64;
    for i in 0..300 { s += rust_called(i) as i64; }
    for i in 0..500 { s += unsafe { c_called(i) } as i64; }
    println!("{}", s);
    unsafe { hold() }
}
RS
		clang-14 -O1 -fprofile-generate -c c_part.c -o c_part.o >build.log 2>&1 &&
			rustc -O -Cprofile-generate=. -Clink-arg=c_part.o -Clink-arg=hold.o -o mixed mixed.rs >build.log 2>&1
	else
		cat >mixed.rs <<'RS'
#[no_mangle] #[inline(never)] pub extern "C" fn rust_called(x: i32) -> i32 { if x % 3 == 0 { x } else { x + 2 } }
RS
		cat >c_main.c <<'C'
#include <stdio.h>
int rust_called(int);
int c_called(int);
void hold(void);
int main(void)
{
	long s = 0;
	for (int i = 0; i < 300; i++) s += rust_called(i);
	for (int i = 0; i < 500; i++) s += c_called(i);
	printf("%ld\n", s);
	hold();
	return 0;
}
C
		rustc -O -Cprofile-generate=. --crate-type staticlib -o librust_part.a mixed.rs >build.log 2>&1 &&
			clang-14 -O1 -fprofile-generate c_main.c c_part.c hold.o librust_part.a -lpthread -ldl -lm -o mixed >build.log 2>&1
	fi
}

# calls FILE FUNCTION: the largest count of a function
calls() {
	"$whet" profile show --functions "$1" | awk -v f="$2" '$4 ~ "(^|[;:])" f "$" { print $1 }' | head -1
}

# How much of a process a tracer left standing: states of its threads that are t, or a tracer's pid
traced() { grep -hE '^(State:.*[tT] \(|TracerPid:.*[1-9])' "/proc/$1/task/"*/status 2>/dev/null; }

number_of() { sed -n "s/.*\"$2\": \([0-9]*\).*/\1/p" "$1" | head -1; }
