/* Compilers: what they are, what they can do, which flags they need. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strv.h"

enum compiler_family { FAMILY_CLANG, FAMILY_GCC, FAMILY_RUSTC, FAMILY_UNKNOWN };

struct compiler {
	char *path;   /* absolute, as found (symlinks kept: argv[0] matters to rustup) */
	enum compiler_family family;
	int major;    /* of the compiler; for rustc the minor of 1.x */
	int llvm;     /* LLVM major; 0 for gcc */
	char *version; /* one line, without paths: "clang 22.1.8", "rustc 1.95.0 (59807616e …)" */
	char *target;  /* default triple */
	char *runtime; /* path of its profile runtime; NULL when it has none */
	char *sysroot; /* rustc: its sysroot; clang, gcc: resource or library folder */
	bool has_map_lld; /* rustc only: links by rust-lld unless told otherwise */
};
void compiler_release(struct compiler *c);

/* Finds and asks one compiler by name or path. ERR_ENVIRONMENT with the package to install when it
 * is absent or unusable (no profile runtime). */
int toolchain_probe(const char *name, const char *path_list, struct compiler *ret,
	struct error *err);
/* The newest usable clang on the path list: clang, then clang-NN. */
int toolchain_find_clang(const char *path_list, struct compiler *ret, struct error *err);

/* The closed lists of what whet adds (design: rule 10). profile: path of the indexed profile.
 * hook: path of the hook object. */
enum toolchain_mode { MODE_PLAIN, MODE_INSTRUMENTED, MODE_OPTIMISED };
void toolchain_compile_flags(const struct compiler *c, enum toolchain_mode mode,
	const char *profile, struct strv *ret);
void toolchain_link_flags(const struct compiler *c, enum toolchain_mode mode, const char *profile,
	const char *hook, struct strv *ret);

/* Folders whose objects are class toolchain. */
int toolchain_folders(const struct compiler *c, struct strv *ret, struct error *err);
