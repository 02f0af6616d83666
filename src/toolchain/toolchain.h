/* Compilers: what they are, what they can do, which flags they need. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/strv.h"
#include "config/plan.h"
#include "config/target.h"

enum compiler_family { FAMILY_CLANG, FAMILY_GCC, FAMILY_RUSTC, FAMILY_UNKNOWN };

struct compiler {
	char *path; /* absolute, as found (symlinks kept: argv[0] matters to rustup) */
	enum compiler_family family;
	int major;        /* of the compiler; for rustc the minor of 1.x */
	int llvm;         /* LLVM major; 0 for gcc */
	char *version;    /* one line, without paths: "clang 22.1.8 (1~deb12u1)", "rustc 1.95.0
			     (59807616e …)" */
	char *target;     /* default triple */
	char *runtime;    /* path of its profile runtime; NULL when it has none */
	char *sysroot;    /* rustc: its sysroot; clang, gcc: resource or library folder */
	bool has_map_lld; /* rustc only: links by rust-lld unless told otherwise */
	bool zig;         /* the clang in zig: brings no profile runtime, its libraries lie in zig's
			     cache */
	/* Of a build for another machine: */
	struct strv
		words;  /* behind its name, to compile for the target ("--target=…"); else empty */
	char *linker;   /* rustc: what links for the target; NULL: cc */
	char *resource; /* clang: the resource folder of instrumented links; NULL: its own */
};
void compiler_release(struct compiler *c);

/* Finds and asks one compiler by name or path. ERR_ENVIRONMENT with the package to install when it
 * is absent or unusable (no profile runtime). */
int toolchain_probe(
	const char *name, const char *path_list, struct compiler *ret, struct error *err);
/* The same for a build for another machine. A missing profile runtime is no error: runtime is NULL,
 * and toolchain_cross_missing() says it. */
struct toolchain_cross {
	const struct target *target;
	const char *sysroot; /* NULL: the compiler's own */
	const char *runtime; /* clang's profile runtime for the target; NULL: looked for */
};
int toolchain_probe_cross(const struct toolchain_cross *x, const char *folder, const char *name,
	const char *path_list, struct compiler *ret, struct error *err);
/* Adds, a line each with the package to install, what this compiler needs for the target and is not
 * there: headers and libraries, linker, profile runtime. */
int toolchain_cross_missing(const struct toolchain_cross *x, const struct compiler *c,
	const char *path_list, struct buf *ret, struct error *err);
/* A program of binutils that reads the target's files: "aarch64-linux-gnu-ar", else LLVM's that is
 * as new as the compiler. gnu: the target in GNU's form; NULL: this machine, "ar". NULL when there
 * is none; caller frees. */
char *toolchain_binutil(const char *gnu, int llvm, const char *name, const char *path_list);
/* clang looks for its runtime in its resource folder alone. When it lies elsewhere: makes a copy of
 * that folder in `folder`, of links, with the runtime in it, and sets c->resource and c->runtime.
 */
int toolchain_lend_runtime(struct compiler *c, const char *folder, struct error *err);

/* The same as seen from a folder: rustup's rustc is another one where a rust-toolchain.toml stands.
 * folder NULL: the own working folder. */
int toolchain_probe_in(const char *folder, const char *name, const char *path_list,
	struct compiler *ret, struct error *err);
/* The wrapper that cargo's settings name for rustc (build.rustc-wrapper,
 * CARGO_BUILD_RUSTC_WRAPPER), as a path or a name for PATH; NULL: none. cargo: its words ("cargo
 * +nightly"); settings: further
 * --config arguments; folder: where it will run. Caller frees. ERR_CHILD: cargo does not tell. */
int toolchain_cargo_rustc_wrapper(const struct strv *cargo, const struct strv *settings,
	const char *folder, char **ret, struct error *err);
/* The newest usable clang on the path list: clang, then clang-NN. */
int toolchain_find_clang(const char *path_list, struct compiler *ret, struct error *err);

/* What kind of profile a compiler writes and reads. A program has its main compiler's, and may have
 * the other one beside it: then it has a runtime, and a profile, of each. */
enum profile_kind {
	PROFILE_LLVM, /* clang, rustc: one file */
	PROFILE_GCC,  /* a folder with a .gcda for each object */
};
enum profile_kind toolchain_profile_kind(const struct compiler *c);
/* Whether what this compiler makes is counted by the runtime of `main` (NULL: an LLVM's): the same
 * kind, and of GCC the same major version, because the runtime refuses the objects of another one.
 */
bool toolchain_takes_part(const struct compiler *main, const struct compiler *c);
/* The oldest gcc that is instrumented; older ones have value counters of another kind. */
#define TOOLCHAIN_GCC_OLDEST 11
/* ERR_ENVIRONMENT when programs cannot be instrumented by it, with what to install. */
int toolchain_check_gcc(const struct compiler *c, struct error *err);

/* zig, the compiler of cargo-zigbuild. */
struct zig {
	char *path;    /* of the program itself, absolute */
	char *library; /* folder of its headers and sources of libraries */
	char *version; /* "0.17.1" */
};
void zig_release(struct zig *z);
/* The one that cargo-zigbuild would start. ERR_ENVIRONMENT when there is none. */
int toolchain_find_zig(const char *path_list, struct zig *ret, struct error *err);
/* cc: a program that is `zig cc` to its callers. Its runtime is NULL: zig brings none, so the
 * program's has to come from another compiler with the same layout of counters. */
int toolchain_probe_zig(const char *cc, const struct zig *z, const char *path_list,
	struct compiler *ret, struct error *err);

enum toolchain_mode { MODE_PLAIN, MODE_INSTRUMENTED, MODE_OPTIMISED };

/* What a build asks of its compilers. */
struct toolchain_build {
	enum toolchain_mode mode;
	/* The indexed profile (of gcc: the folder of .gcda) that the compiler reads:
	 * MODE_OPTIMISED, and the second round of MODE_INSTRUMENTED. NULL: none, and then an
	 * optimised build adds nothing. */
	const char *profile;
	/* MODE_INSTRUMENTED: the second round, which counts after inlining (clang alone).
	 * MODE_OPTIMISED: the profile holds such counts. */
	bool context_sensitive;
	/* MODE_OPTIMISED: the compilers that can tell every function that they look up in the
	 * profile (facts/sought.h). The code stays what it is. */
	bool trace;
	bool order;   /* MODE_OPTIMISED: the link places functions in an order of its own */
	bool neutral; /* functions that the training did not reach are not taken for cold */
	/* The project's own settings, the same in plain, instrumented and optimised builds. */
	enum plan_lto lto;
	const char *cpu;    /* processor that the code is made for; NULL: nothing is added */
	const char *target; /* triple of the program */
};

/* Whether it has context-sensitive profiles. ERR_ENVIRONMENT with the reason when it has none. */
int toolchain_check_context_sensitive(const struct compiler *c, struct error *err);

/* The closed lists of what whet adds (design: rule 10). */
void toolchain_compile_flags(
	const struct compiler *c, const struct toolchain_build *b, struct strv *ret);
/* What makes a call leave its code to link-time optimisation, or not: for calls that make objects
 * or link them; of rustc for those alone that link an executable, a cdylib or a staticlib. */
void toolchain_lto_flags(
	const struct compiler *c, const struct toolchain_build *b, struct strv *ret);
/* How many words of a call of rustc, from i on, would keep it from what toolchain_lto_flags() adds:
 * cargo says for each crate whether its rlib holds intermediate code. 0: none. */
size_t toolchain_rustc_lto_words(const struct strv *argv, size_t i, enum plan_lto lto);
/* The word by which clang links intermediate code where a call names no linker: that of the lld of
 * the same LLVM, which takes archives without an index, too. *ret NULL: there is none, and GNU ld
 * can do it by LLVM's plugin. Caller frees. ERR_ENVIRONMENT with the packages when nothing can. */
int toolchain_lto_linker(
	const struct compiler *c, const char *path_list, char **ret, struct error *err);
/* Whether the compiler knows b->cpu: rustc only warns of one that it does not. ERR_CONFIG. */
int toolchain_check_cpu(const struct compiler *c, const struct toolchain_build *b,
	const char *path_list, struct error *err);
/* What an instrumented link gets beside the compiler's own runtime. */
struct toolchain_link {
	const char *hook; /* path of the hook object; NULL: none */
	/* The runtime of another compiler in the place of the own one; NULL: the own one. */
	const char *runtime;
	const struct strv *archives; /* further runtimes, loaded when they are asked for; NULL */
	/* Of a program with both kinds of counters: gcc's runtime as wrap_build_gcov_runtime() made
	 * it, and then gcc's driver brings none, and links with `runtime`. NULL: of one kind. */
	const char *gcov;
	const char *resource; /* clang's resource folder; NULL: its own */
};
void toolchain_link_flags(const struct compiler *c, const struct toolchain_build *b,
	const struct toolchain_link *link, struct strv *ret);
/* The version of the raw profiles that its LLVM writes: data records of different versions cannot
 * lie in one section. 0 for gcc. */
int toolchain_raw_version(const struct compiler *c);

/* gcc, optimised: the folder that is left out in front of the objects' paths when their profiles
 * are looked for, so that a name is no longer than it must be. */
void toolchain_gcc_base(const char *folder, struct strv *ret);

/* The argv (without the compiler) of an optimised compile without what hides profile diagnostics:
 * clang's and gcc's -w, rustc's "--cap-lints allow" (which cargo gives to every registry crate; it
 * becomes "warn") and "-A warnings". The rest is copied to ret, what was taken out to removed. What
 * clang can turn on again (-Wno-everything, -Wno-backend-plugin) stays: the compile flags end in
 * -Wbackend-plugin and must therefore follow the call's own. */
void toolchain_unsilence(
	const struct compiler *c, const struct strv *argv, struct strv *ret, struct strv *removed);
/* clang only: whether a warning of the call is an error, so that -Wno-error=backend-plugin is due.
 */
bool toolchain_warnings_are_errors(const struct strv *argv);

/* The C++ compiler that belongs to a C one: "clang++-22" for "clang-22". NULL when its name tells
 * nothing. Caller frees. */
char *toolchain_cxx_name(const char *cc);

/* Folders whose objects are class toolchain. */
int toolchain_folders(const struct compiler *c, struct strv *ret, struct error *err);

/* The linker of LLVM. */
#define LLD_PADDING 20 /* from this one on: --randomize-section-padding */
struct lld {
	char *path;
	int major;
	char *version; /* "lld 22.1.8" */
};
void lld_release(struct lld *l);
/* One that can pad at random between sections: that of LLVM `llvm`, which gives the same code to
 * link-time optimisation as the build has, else the newest. Looks in PATH and beside the compilers.
 * ERR_ENVIRONMENT with the package to install. */
int toolchain_find_lld(const struct compiler *compilers, size_t n, int llvm, const char *path_list,
	struct lld *ret, struct error *err);
