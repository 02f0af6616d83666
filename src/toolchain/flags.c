#include <string.h>

#include "base/mem.h"
#include "toolchain/toolchain.h"

/* The oldest LLVM of which it is known that it can trace; that of 14 cannot. */
#define TRACING_LLVM 19

/* "x86_64", "i686": there -march names a processor, elsewhere -mcpu does. */
static bool is_x86(const char *triple)
{
	return strncmp(triple, "x86_64", 6) == 0 ||
	       (triple[0] == 'i' && triple[1] && strncmp(triple + 2, "86", 2) == 0);
}

/* Kept in front of the others: nothing of the project's own may be hidden by it. */
static void cpu_flag(const struct compiler *c, const struct toolchain_build *b, struct strv *ret)
{
	const char *triple = b->target ? b->target : c->target ? c->target : "";

	if (!b->cpu)
		return;
	if (c->family == FAMILY_RUSTC)
		strv_addf(ret, "-Ctarget-cpu=%s", b->cpu);
	else
		strv_addf(ret, "%s=%s", is_x86(triple) ? "-march" : "-mcpu", b->cpu);
}

/* The option that puts counters in; the driver takes it at the link for the runtime, and hands it
 * on to link-time optimisation, which puts in those of the second round. */
static const char *clang_generate(const struct toolchain_build *b)
{
	return b->context_sensitive ? "-fcs-profile-generate" : "-fprofile-generate";
}

/* Where a program is large, LLVM compiles all that is not hot for size, and with it what has no
 * counts. */
#define ONLY_COLD_FOR_SIZE "-pgso-cold-code-only-for-instr-pgo"

/* A linker places sections, so each function gets one. */
#define OWN_SECTIONS "-ffunction-sections"

static void clang_flags(const struct toolchain_build *b, struct strv *ret)
{
	if (b->mode == MODE_OPTIMISED || (b->mode == MODE_INSTRUMENTED && b->context_sensitive)) {
		strv_addf(ret, "-fprofile-use=%s", b->profile);
		strv_add(ret, "-mllvm");
		strv_add(ret, "-pgo-warn-missing-function");
		if (b->neutral) {
			strv_add(ret, "-mllvm");
			strv_add(ret, ONLY_COLD_FOR_SIZE);
		}
		if (b->mode == MODE_OPTIMISED && b->order)
			strv_add(ret, OWN_SECTIONS);
		/* Brings profile diagnostics back after -Wno-everything or -Wno-backend-plugin. */
		strv_add(ret, "-Wbackend-plugin");
	}
	if (b->mode == MODE_INSTRUMENTED)
		strv_add(ret, clang_generate(b));
}

/* Counts are atomic, since threads would lose some. With -fprofile-correction a profile of threads
 * that ran on while the program ended is smoothed instead of refused. A mismatch is no error of the
 * compiler: the gate `stale` decides. */
/* gcc's own order of first calls gives sections numbers instead of names. */
static void gcc_order_flags(struct strv *ret)
{
	strv_add(ret, OWN_SECTIONS);
	strv_add(ret, "-fno-profile-reorder-functions");
}

static void gcc_flags(const struct toolchain_build *b, struct strv *ret)
{
	if (b->mode == MODE_INSTRUMENTED) {
		strv_add(ret, "-fprofile-generate");
		strv_add(ret, "-fprofile-update=prefer-atomic");
	} else if (b->mode == MODE_OPTIMISED) {
		strv_addf(ret, "-fprofile-use=%s", b->profile);
		strv_add(ret, "-fprofile-correction");
		if (b->neutral)
			strv_add(ret, "-fprofile-partial-training");
		if (b->order)
			gcc_order_flags(ret);
		strv_add(ret, "-Wmissing-profile");
		strv_add(ret, "-Wno-error=missing-profile");
		strv_add(ret, "-Wcoverage-mismatch");
		strv_add(ret, "-Wno-error=coverage-mismatch");
	}
}

void toolchain_gcc_base(const char *folder, struct strv *ret)
{
	strv_addf(ret, "-fprofile-prefix-path=%s", folder);
}

enum profile_kind toolchain_profile_kind(const struct compiler *c)
{
	return c && c->family == FAMILY_GCC ? PROFILE_GCC : PROFILE_LLVM;
}

bool toolchain_takes_part(const struct compiler *main, const struct compiler *c)
{
	if (c->family == FAMILY_UNKNOWN ||
		toolchain_profile_kind(main) != toolchain_profile_kind(c))
		return false;
	return c->family != FAMILY_GCC || c->major == main->major;
}

static void rustc_flags(const struct toolchain_build *b, struct strv *ret)
{
	if (b->mode == MODE_INSTRUMENTED) {
		strv_add(ret, "-Cprofile-generate");
	} else if (b->mode == MODE_OPTIMISED) {
		strv_addf(ret, "-Cprofile-use=%s", b->profile);
		strv_add(ret, "-Cllvm-args=-pgo-warn-missing-function");
		if (b->neutral)
			strv_add(ret, "-Cllvm-args=" ONLY_COLD_FOR_SIZE);
	}
}

static bool traces(const struct compiler *c)
{
	return (c->family == FAMILY_CLANG || c->family == FAMILY_RUSTC) && c->llvm >= TRACING_LLVM;
}

/* With a name it is one function; the empty name is part of every name. */
static void trace_flags(const struct compiler *c, struct strv *ret)
{
	if (c->family == FAMILY_RUSTC) {
		strv_add(ret, "-Cllvm-args=-pgo-trace-func-hash=");
	} else {
		strv_add(ret, "-mllvm");
		strv_add(ret, "-pgo-trace-func-hash=");
	}
}

void toolchain_compile_flags(
	const struct compiler *c, const struct toolchain_build *b, struct strv *ret)
{
	cpu_flag(c, b, ret);
	if (c->family == FAMILY_CLANG)
		clang_flags(b, ret);
	else if (c->family == FAMILY_GCC)
		gcc_flags(b, ret);
	else if (c->family == FAMILY_RUSTC)
		rustc_flags(b, ret);
	if (b->mode == MODE_OPTIMISED && b->trace && traces(c))
		trace_flags(c, ret);
}

/* LLVM's runtime has functions of gcc's names, which do nothing for gcc's counters: a program's own
 * calls of them go by other names, of gcc's runtime alone. */
static const char *const gcov_words[] = {"-Wl,--wrap=__gcov_dump", "-Wl,--wrap=__gcov_reset"};

static void add_gcov(const struct toolchain_link *link, struct strv *ret)
{
	if (!link->gcov)
		return;
	strv_add(ret, link->gcov);
	for (size_t i = 0; i < ARRAY_SIZE(gcov_words); i++)
		strv_add(ret, gcov_words[i]);
}

/* The hook and all runtimes but the driver's own. */
static void add_runtimes(const struct toolchain_link *link, struct strv *ret)
{
	if (link->hook)
		strv_add(ret, link->hook);
	if (link->runtime)
		strv_add(ret, link->runtime);
	if (link->archives)
		strv_add_all(ret, link->archives);
	add_gcov(link, ret);
}

static void clang_link_flags(
	const struct toolchain_build *b, const struct toolchain_link *link, struct strv *ret)
{
	/* Link-time optimisation reads the counts of the second round, too. */
	if (b->context_sensitive)
		strv_addf(ret, "-fprofile-use=%s", b->profile);
	if (b->mode != MODE_INSTRUMENTED)
		return;
	if (link->runtime) {
		strv_add(ret, "-Wl,-u,__llvm_profile_runtime");
	} else {
		strv_add(ret, clang_generate(b));
	}
	if (link->resource)
		strv_addf(ret, "-resource-dir=%s", link->resource);
	add_runtimes(link, ret);
}

static void gcc_link_flags(const struct toolchain_link *link, struct strv *ret)
{
	strv_add(ret, link->gcov ? "-Wl,-u,__llvm_profile_runtime" : "-fprofile-generate");
	add_runtimes(link, ret);
}

static void rustc_link_flags(const struct toolchain_link *link, struct strv *ret)
{
	if (link->hook)
		strv_addf(ret, "-Clink-arg=%s", link->hook);
	for (size_t i = 0; link->archives && i < link->archives->n; i++)
		strv_addf(ret, "-Clink-arg=%s", link->archives->v[i]);
	if (link->gcov)
		strv_addf(ret, "-Clink-arg=%s", link->gcov);
	for (size_t i = 0; link->gcov && i < ARRAY_SIZE(gcov_words); i++)
		strv_addf(ret, "-Clink-arg=%s", gcov_words[i]);
	/* rustc puts them behind its own -lc, and GNU ld looks into libc's static part
	 * (pthread_atfork) once only. */
	if (link->hook || link->gcov || (link->archives && link->archives->n))
		strv_add(ret, "-Clink-arg=-lc");
}

void toolchain_link_flags(const struct compiler *c, const struct toolchain_build *b,
	const struct toolchain_link *link, struct strv *ret)
{
	/* rustc compiles in the call that links. */
	if (c->family != FAMILY_RUSTC)
		cpu_flag(c, b, ret);
	if (b->mode == MODE_PLAIN)
		return;
	/* Link-time optimisation makes the sections at the link. */
	if (b->mode == MODE_OPTIMISED && b->order && c->family == FAMILY_CLANG)
		strv_add(ret, OWN_SECTIONS);
	if (b->mode == MODE_OPTIMISED && b->order && c->family == FAMILY_GCC)
		gcc_order_flags(ret);
	if (c->family == FAMILY_CLANG)
		clang_link_flags(b, link, ret);
	if (b->mode != MODE_INSTRUMENTED)
		return;
	if (c->family == FAMILY_GCC)
		gcc_link_flags(link, ret);
	else if (c->family == FAMILY_RUSTC)
		rustc_link_flags(link, ret);
}

int toolchain_raw_version(const struct compiler *c)
{
	if (c->llvm <= 0)
		return 0;
	return c->llvm < 18 ? 8 : c->llvm == 18 ? 9 : 10;
}

static bool next_is(const struct strv *argv, size_t i, const char *value)
{
	return i + 1 < argv->n && !strcmp(argv->v[i + 1], value);
}

/* How many words from i on are taken out; 0: none. instead: what takes their place, or NULL. */
static size_t rustc_silencer(const struct strv *argv, size_t i, const char **instead)
{
	const char *arg = argv->v[i];

	*instead = NULL;
	if (!strcmp(arg, "--cap-lints") && next_is(argv, i, "allow")) {
		*instead = "--cap-lints=warn";
		return 2;
	}
	if (!strcmp(arg, "--cap-lints=allow")) {
		*instead = "--cap-lints=warn";
		return 1;
	}
	if ((!strcmp(arg, "-A") || !strcmp(arg, "--allow")) && next_is(argv, i, "warnings"))
		return 2;
	return !strcmp(arg, "-Awarnings") || !strcmp(arg, "--allow=warnings");
}

static size_t clang_silencer(const struct strv *argv, size_t i)
{
	if (!strcmp(argv->v[i], "-Xclang") && next_is(argv, i, "-w"))
		return 2;
	return !strcmp(argv->v[i], "-w");
}

void toolchain_unsilence(
	const struct compiler *c, const struct strv *argv, struct strv *ret, struct strv *removed)
{
	for (size_t i = 0; i < argv->n;) {
		const char *instead = NULL;
		size_t n = 0;

		if (c->family == FAMILY_CLANG || c->family == FAMILY_GCC)
			n = clang_silencer(argv, i);
		else if (c->family == FAMILY_RUSTC)
			n = rustc_silencer(argv, i, &instead);
		if (!n) {
			strv_add(ret, argv->v[i++]);
			continue;
		}
		for (size_t k = 0; k < n; k++)
			strv_add(removed, argv->v[i + k]);
		if (instead)
			strv_add(ret, instead);
		i += n;
	}
}

bool toolchain_warnings_are_errors(const struct strv *argv)
{
	for (size_t i = 0; i < argv->n; i++)
		if (!strcmp(argv->v[i], "-Werror") ||
			!strcmp(argv->v[i], "-Werror=backend-plugin") ||
			!strcmp(argv->v[i], "-pedantic-errors"))
			return true;
	return false;
}
