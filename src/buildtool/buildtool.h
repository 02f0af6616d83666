/* Build tools: which commands configure and build a project, and where its binary then lies. Pure:
 * nothing is started here. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/strv.h"
#include "config/plan.h"
#include "config/target.h"

/* Of a build for another machine. */
struct build_cross {
	const struct target *target; /* its processor is known */
	/* Programs of binutils for its files; NULL: not there. */
	const char *ar, *ranlib, *nm, *strip, *objcopy;
	const char *sysroot;         /* NULL: the compiler's own */
	const char *pkg_config;      /* folders where pkg-config looks, parted by ':' */
	const struct strv *emulator; /* words in front of its programs; empty: they run here */
	const char *meson_file;      /* where meson's cross file will lie */
};

/* Where one build happens. All paths absolute. */
struct build_place {
	const char
		*source; /* the sources to build: the user's own folder, or its copy in the slot */
	const char *build; /* the build folder in the slot (cargo's target folder, cmake's -B, …) */
	const char *cc, *cxx; /* compilers as the build sees them (names found through PATH, with
			       * the words that they need for another machine) */
	const struct build_cross *cross; /* NULL: for this machine */
	int jobs;
};

struct build_step {
	char *label; /* "configure", "build" */
	struct strv argv;
	char *cwd;
	bool configure;  /* observe only: no flags are added */
	struct strv env; /* NAME=VALUE on top of the node's */
};

struct build_steps {
	struct build_step *v;
	size_t n, cap;
	struct strv binaries; /* absolute paths, in the order of plan.build.binary */
};
void build_steps_release(struct build_steps *s);

/* Whether this tool builds inside the source folder, so that it needs a copy of it. */
bool buildtool_in_tree(enum build_tool tool);
/* Checks what can be checked before the first compile (CMakeLists.txt, Cargo.lock, … present). */
int buildtool_check(const struct plan_build *b, const char *source, struct error *err);
int buildtool_steps(const struct plan_build *b, const struct build_place *place,
	const struct strv *vars, struct build_steps *ret, struct error *err);
/* The text of meson's cross file; cc, cxx: as in struct build_place. Caller frees. */
char *buildtool_meson_file(const struct build_cross *c, const char *cc, const char *cxx);
/* The triple as the compilers get it: that of the plan, for cargo without a front end's version of
 * glibc. Caller frees. */
char *buildtool_rust_target(const struct plan_build *b);
