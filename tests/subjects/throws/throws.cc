// A program that lives by unwinding: exceptions through hot and cold parts and through folded functions, backtraces
// from all of them, jumps out of signal handlers, and backtraces taken inside a handler at any instruction.
//   throws train N      N rounds without what is to be cold
//   throws throw N      N rounds, of which most throw; prints what they add up to
//   throws names        prints the frames of backtraces as addresses within the file
//   throws segv N       N faults, left by siglongjmp
//   throws prof N       N rounds under a timer whose handler takes backtraces
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <execinfo.h>
#include <link.h>
#include <sys/time.h>
#include <ucontext.h>

#define APART __attribute__((noinline))

static long destroyed;
struct noisy {
	long weight;
	explicit noisy(long w) : weight(w) {}
	~noisy() { destroyed += weight; }
};

struct odd : std::runtime_error {
	unsigned value;
	explicit odd(unsigned v) : std::runtime_error("odd " + std::to_string(v)), value(v) {}
};

// ---- backtraces ----

static uintptr_t base;
static uintptr_t code[8][2]; // from, to
static int n_code;
static void *frames[64];
static int n_frames;
static volatile int wanted; // which place takes a backtrace

APART static void take_backtrace()
{
	n_frames = backtrace(frames, 64);
	wanted = 0;
}

static int find_base(struct dl_phdr_info *i, size_t, void *)
{
	base = i->dlpi_addr;
	for (int k = 0; k < i->dlpi_phnum && n_code < 8; k++) {
		const ElfW(Phdr) *h = &i->dlpi_phdr[k];

		if (h->p_type != PT_LOAD || !(h->p_flags & PF_X))
			continue;
		code[n_code][0] = base + h->p_vaddr;
		code[n_code++][1] = base + h->p_vaddr + h->p_memsz;
	}
	return 1; // the program is the first
}

static void print_frames(const char *where)
{
	printf("%s:", where);
	for (int i = 0; i < n_frames; i++)
		printf(" %lx", (unsigned long)((uintptr_t)frames[i] - base));
	printf("\n");
	n_frames = 0;
}

// ---- folded functions: the same code twice, so that a linker or BOLT may keep one ----

APART static long fold_one(const std::vector<unsigned> &v, unsigned at)
{
	noisy n(3);
	if (wanted == 3)
		take_backtrace();
	return v.at(at % (v.size() + 3)) + 1;
}

APART static long fold_two(const std::vector<unsigned> &v, unsigned at)
{
	noisy n(3);
	if (wanted == 3)
		take_backtrace();
	return v.at(at % (v.size() + 3)) + 1;
}

// ---- hot and cold ----

static long total;

// What the training never does, so that it is split off.
APART static long rare(unsigned v)
{
	noisy n(7);
	std::string text = "rare";

	if (wanted == 2)
		take_backtrace();
	for (unsigned i = 0; i < v % 5; i++)
		text += std::to_string(i);
	if (text.size() % 2)
		throw odd(v);
	throw std::string(text);
}

APART static long leaf(unsigned v, unsigned cold)
{
	noisy n(1);

	if (wanted == 1)
		take_backtrace();
	if (cold && v % cold == 3) {
		// Cold code of this very function, with a landing pad of its own.
		noisy m(5);
		std::string text(v % 40, 'x');

		if (wanted == 4)
			take_backtrace();
		total += text.size();
		return rare(v);
	}
	if (v % 3 == 0)
		throw odd(v);
	if (v % 3 == 1)
		throw static_cast<int>(v);
	return v * 31L;
}

// A C function in between: exceptions pass through its frame.
static int compare(const void *a, const void *b)
{
	unsigned x = *static_cast<const unsigned *>(a), y = *static_cast<const unsigned *>(b);

	if (x == 13 && y > 500)
		throw odd(x);
	return (x > y) - (x < y);
}

APART static long through_c(unsigned v)
{
	unsigned a[] = {v % 1000, 13, v % 77, 600};

	try {
		qsort(a, 4, sizeof(*a), compare);
	} catch (const odd &o) {
		return o.value;
	}
	return a[0];
}

APART static long mid(unsigned v, unsigned cold)
{
	noisy n(2);

	try {
		return leaf(v, cold);
	} catch (const odd &o) {
		if (o.value % 5 == 0)
			throw; // once more, to the next one
		return o.value;
	} catch (int i) {
		noisy m(11);
		return -i;
	}
}

APART static long outer(unsigned v, unsigned cold, const std::vector<unsigned> &numbers)
{
	long r = 0;

	try {
		r += mid(v, cold);
		r += through_c(v);
		r += v % 2 ? fold_one(numbers, v) : fold_two(numbers, v);
	} catch (const std::out_of_range &) {
		r += 17;
	} catch (const std::exception &e) {
		r ^= static_cast<long>(strlen(e.what()));
	} catch (...) {
		std::exception_ptr p = std::current_exception();
		try {
			std::rethrow_exception(p);
		} catch (const std::string &s) {
			r += static_cast<long>(s.size());
		}
	}
	return r;
}

static std::vector<unsigned> numbers()
{
	std::vector<unsigned> v;

	for (unsigned i = 0; i < 20; i++)
		v.push_back(i * i);
	return v;
}

static int throw_many(unsigned n, unsigned cold)
{
	std::vector<unsigned> v = numbers();

	for (unsigned i = 0; i < n; i++)
		total += outer(i, cold, v);
	printf("%ld %ld\n", total, destroyed);
	return 0;
}

static int names()
{
	std::vector<unsigned> v = numbers();

	dl_iterate_phdr(find_base, nullptr);
	wanted = 1;
	outer(2, 0, v);
	print_frames("hot");
	wanted = 4;
	outer(10, 7, v);
	print_frames("cold");
	wanted = 2;
	outer(10, 7, v);
	print_frames("called by cold");
	for (unsigned i = 0; i < 2; i++) {
		wanted = 3;
		outer(4 + i, 0, v);
		print_frames("folded");
	}
	return 0;
}

// ---- signals ----

static sigjmp_buf back;

static void on_segv(int)
{
	siglongjmp(back, 1);
}

APART static void fault(unsigned i)
{
	static volatile int sink;

	if (i % 1000 == 999) // never trained: the fault is in cold code
		sink = *reinterpret_cast<volatile int *>(uintptr_t(16 + i % 64));
	else
		*reinterpret_cast<volatile int *>(uintptr_t(8)) = static_cast<int>(i);
}

static int segv(unsigned n)
{
	volatile unsigned left = 0;

	signal(SIGSEGV, on_segv);
	for (volatile unsigned i = 0; i < n; i = i + 1) {
		if (sigsetjmp(back, 1) == 0)
			fault(i);
		else
			left = left + 1;
	}
	printf("%u faults, %u left\n", n, unsigned(left));
	return left == n ? 0 : 1;
}

static uintptr_t instruction(const ucontext_t *u)
{
#if defined(__x86_64__)
	return uintptr_t(u->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
	return uintptr_t(u->uc_mcontext.pc);
#else
#error "where is the program counter?"
#endif
}

static volatile sig_atomic_t ticks, whole;
static void *top; // a return address that every backtrace must reach

static bool is_own(uintptr_t at)
{
	for (int i = 0; i < n_code; i++)
		if (at >= code[i][0] && at < code[i][1])
			return true;
	return false;
}

// Only at instructions of this program: while libgcc installs the context of a landing pad, its own frames are none.
static void on_prof(int, siginfo_t *, void *context)
{
	const ucontext_t *u = static_cast<const ucontext_t *>(context);
	void *f[128];
	int n;

	if (!is_own(instruction(u)))
		return;
	n = backtrace(f, 128);
	ticks = ticks + 1;
	for (int i = 0; i < n; i++)
		if (f[i] == top) {
			whole = whole + 1;
			return;
		}
}

APART static long spin(unsigned v)
{
	long r = 0;

	for (unsigned k = 0; k < 1000; k++)
		r += leaf(3 * (v + k) + 2, 0);
	return r;
}

APART static int prof_rounds(unsigned n)
{
	std::vector<unsigned> v = numbers();
	struct sigaction act = {};
	struct itimerval every = {{0, 1000}, {0, 1000}};

	dl_iterate_phdr(find_base, nullptr);
	top = __builtin_return_address(0);
	backtrace(frames, 1); // loads what it needs outside of the handler
	act.sa_sigaction = on_prof;
	act.sa_flags = SA_SIGINFO | SA_RESTART;
	sigaction(SIGPROF, &act, nullptr);
	setitimer(ITIMER_PROF, &every, nullptr);
	for (unsigned i = 0; i < n || ticks < 100; i++) // not fewer, however fast the machine is
		total += outer(i, 7, v) + spin(i);
	every = {};
	setitimer(ITIMER_PROF, &every, nullptr);
	printf("%s\n", whole == ticks ? "every backtrace was whole" : "some backtraces were cut off");
	fprintf(stderr, "%d of %d\n", int(whole), int(ticks));
	return whole == ticks ? 0 : 1;
}

int main(int argc, char **argv)
{
	unsigned n = argc > 2 ? unsigned(atoi(argv[2])) : 1000;

	if (argc > 1 && !strcmp(argv[1], "train"))
		return throw_many(n, 0);
	if (argc > 1 && !strcmp(argv[1], "throw"))
		return throw_many(n, 7);
	if (argc > 1 && !strcmp(argv[1], "names"))
		return names();
	if (argc > 1 && !strcmp(argv[1], "segv"))
		return segv(n);
	if (argc > 1 && !strcmp(argv[1], "prof"))
		return prof_rounds(n);
	fprintf(stderr, "usage: throws train|throw|names|segv|prof [N]\n");
	return 2;
}
