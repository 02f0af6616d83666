/* Programs that a build puts in front of its compilers: `ccache clang -c x.c`. In front of the shim
 * a cache would see the same call in the plain, the instrumented and the optimised build, and
 * answer with the object of another one. So the shim stands in for them: a cache is put behind it,
 * where it sees the flags; what sends compilations to other machines is left out. A launcher that
 * is called past the shim (by an absolute path) is told by its own variables to do nothing. */
#pragma once

#include <stdbool.h>

#include "base/strv.h"
#include "wrap/node.h"

/* How ccache, told to do nothing, still says that it was called: CCACHE_PREFIX. */
#define LAUNCHER_PREFIX "whet-behind-"

struct launcher_variable {
	const char *name, *value; /* value NULL: removed */
};

struct launcher {
	const char *name;
	bool cache;                             /* may run behind the shim */
	bool preprocesses;                      /* there it runs the preprocessor for every call */
	const char *off;                        /* the user's own switch; NULL */
	const struct launcher_variable *front;  /* what makes it do nothing in front */
	const struct launcher_variable *behind; /* what makes it safe behind */
};

/* By its name, or by the name that stands behind LAUNCHER_PREFIX; NULL: none. */
const struct launcher *launcher_named(const char *name);
/* The launcher that a file is, links followed (a masquerade: clang -> ccache); NULL: none. */
const struct launcher *launcher_of_file(const char *path);
/* All of them, ended by a name of NULL. */
extern const struct launcher launchers[];

/* The compiler that a masquerade stands for: the first of its name in the list that is none itself.
 * NULL: path is no masquerade, or nothing stands behind it. Caller frees. */
char *launcher_masked(const char *path, const char *path_list);

/* For a build step: switches everything off that stands in front of the shim, and keeps what the
 * user had set. folder: the shim folder. */
void launchers_switch_off(struct strv *env, const char *folder);
/* In the shim: the variables as the user had them. */
void launchers_restore(struct strv *env);
/* Whether the user switched this one off. env: restored. */
bool launcher_is_off(const struct launcher *l, const struct strv *env);
/* Prepares env for a cache behind the shim, one that whet does not know too (NULL). space: what no
 * other build may share. */
void launcher_behind(const struct launcher *l, const char *space, struct strv *env);

/* The place of the compiler in a call of a launcher (its arguments without itself), and the tool
 * that it is; NULL: the call is for the launcher itself, or for a compiler that whet does not know.
 */
const struct node_tool *launcher_compiler(
	const struct shim_node *n, int argc, char **argv, int *place);
