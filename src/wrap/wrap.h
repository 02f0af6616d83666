/* The wrapper: puts whet in front of the compilers of one build node and gives the compile log and
 * the link graph afterwards. The shim itself (src/wrap/shim_main.c) is a program of its own,
 * `whet-shim`, found beside whet or in its libexec folder. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"
#include "facts/compile.h"
#include "toolchain/toolchain.h"

/* A profile runtime for the objects of compilers whose raw profiles have this version. */
struct wrap_runtime {
	int raw_version;
	char *archive;
};

struct wrap_node {
	struct toolchain_build build; /* without its profile: each compiler has its own */
	const char *lto_linker;       /* see toolchain_lto_linker(); NULL: no word */
	const struct compiler
		*compilers; /* every compiler that may be called; the first C one is "cc" */
	size_t n_compilers;
	const char *shim;       /* path of the whet-shim program */
	const char *folder;     /* the project's shim folder: same path for every node */
	const char *log;        /* folder for the compile log (empty) */
	const char *node_file;  /* where the node's description for the shim goes */
	const char *quarantine; /* profiles of programs run by the build land here */
	const char *slot;       /* absolute path of the slot: below it is target code */
	const char *target_dir; /* cargo's target folder, or NULL */
	const char *target;     /* target triple (cargo) */
	const char *cross;      /* of a build for another machine: its triple in GNU's form; NULL */
	const char *const *profiles; /* the indexed profile of each compiler; NULL: none */
	const struct compiler *main; /* whose profile runtime the program gets; NULL: its own */
	/* Whose runtime of the other kind of profile it gets beside that; NULL: it has one kind. */
	const struct compiler *beside;
	const struct wrap_runtime *runtimes; /* MODE_INSTRUMENTED: of all others */
	size_t n_runtimes;
	const char *gcov;              /* MODE_INSTRUMENTED: with beside, gcc's runtime; NULL */
	const char *hook;              /* hook object, MODE_INSTRUMENTED */
	const char *instrument_linker; /* or NULL */
	const char *rustc_wrapper;     /* of cargo's settings; NULL: none */
	const char *zig;               /* that cargo-zigbuild starts; NULL: none */
	const char *zig_cc;            /* see wrap_make_zig_drivers() */
	uint32_t relinks;              /* of each released binary, with other layouts; 0: none */
	const char *relinker;          /* path of the lld that makes them */
	bool relocs; /* each released binary is linked once more, with its relocations */
	/* Counts of the functions by which the released binaries' are placed, as order.h says, in a
	 * file named by its content; NULL: the linker places them as it does. */
	const char *order;
	const struct strv *released; /* file names of the released binaries */
};

/* Makes shim folder and node file, and sets in env what a build step needs (PATH, RUSTC_WRAPPER,
 * WHET_NODE, LLVM_PROFILE_FILE, GCOV_PREFIX, …). configure: observe only. */
int wrap_prepare(const struct wrap_node *n, struct error *err);
void wrap_environment(const struct wrap_node *n, bool configure, struct strv *env);

/* SHA-256 over flags, profile content names, compiler identities and the wrapper's version: the
 * token of rule 2. */
void wrap_token(const struct wrap_node *n, char hex[65]);

/* After the build: which objects the binary's final link reached, each with class and record. */
int wrap_binary_facts(const struct compile_log *log, const struct wrap_node *n, const char *binary,
	struct binary_fact *ret, struct error *err);

/* Relink i (from 1) of the final link with this id, padded at random by seed i; NULL when it is not
 * there, and then *why says the reason. Caller frees both. */
char *wrap_relink(const struct compile_log *log, const struct wrap_node *n, const char *link,
	uint32_t i, char **why);

/* The relink with relocations, likewise. */
char *wrap_relocs(
	const struct compile_log *log, const struct wrap_node *n, const char *link, char **why);

/* Makes the archive of a second runtime, that of the compiler `of`, unless it is there. linker: a C
 * compiler. cross: as in struct wrap_node. */
int wrap_build_runtime(const struct compiler *linker, const struct compiler *of, const char *cross,
	const char *out, struct error *err);
/* Makes the archive of gcc's runtime for programs that have LLVM's, too, unless it is there: what
 * has a name of LLVM's or of the hook's is local in it. linker: a C compiler; gcc: whose it is.
 * cross: as in struct wrap_node. */
int wrap_build_gcov_runtime(const struct compiler *linker, const struct compiler *gcc,
	const char *cross, const char *out, struct error *err);
/* The compiler with LLVM's counters of the program that main and beside make; NULL: none is. */
const struct compiler *wrap_llvm_main(const struct compiler *main, const struct compiler *beside);
/* The raw version of a compiler whose objects cannot lie beside those of main, which has LLVM's
 * counters, else 0. */
int wrap_other_layout(const struct compiler *main, const struct compiler *c);

/* Writes two programs into a folder that are `zig cc` and `zig c++` to their callers. ret: the path
 * of the first; caller frees. */
int wrap_make_zig_drivers(const char *zig, const char *folder, char **ret, struct error *err);

/* Compiles the fork hook of programs with this kind of runtime into out (an object). */
int wrap_build_hook(
	const struct compiler *cc, enum profile_kind kind, const char *out, struct error *err);
/* The same of programs with both kinds. */
int wrap_build_hook_of_both(const struct compiler *cc, const char *out, struct error *err);
