/* One call of the shim: what is known of it and how it is carried out. */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "base/strv.h"
#include "facts/compile.h"
#include "wrap/classify.h"
#include "wrap/launcher.h"
#include "wrap/node.h"

#define SHIM_RUSTC "whet-rustc"
#define ENV_NODE "WHET_NODE"
#define ENV_OBSERVE "WHET_OBSERVE"
#define ENV_PARENT "WHET_PARENT"
#define ENV_PARENT_CLASS "WHET_PARENT_CLASS"
#define ENV_RUSTC_WRAPPER "WHET_RUSTC_WRAPPER"
#define ENV_LINKER "WHET_LINKER" /* path of the linker behind a link in SHIM_LINKERS */
#define SHIM_LINKERS "linker"    /* folder in the shim folder */

/* In the log's folder, by a record's id: the objects that a call which compiles and links removes
 * itself, and the assembler source that a call with -S made. */
#define KEPT_OBJECTS ".%s.objects"
#define KEPT_ASSEMBLY ".%s.s"
#define ENV_KEEP "WHET_KEEP"
#define ENV_RETAG "WHET_RETAG"   /* raw version: the kept objects are retagged */
#define KEEP_FOLDER "linkers"    /* in the shim folder */
#define RELINK_FOLDER "relinker" /* in the shim folder: holds lld as "ld.lld" */
/* In the log's folder, by a record's id: relinks 1, 2, … and what the linker said to the first that
 * failed. */
#define RELINKS ".%s.relinks"
#define RELINK_OUTPUT "output"
/* The same of the one with relocations. */
#define RELOCS ".%s.relocs"
#define RELOCS_FILE "linked"
#define RELOCS_OPTION "--emit-relocs"

struct shim_call {
	const struct shim_node *node;
	struct compile_record record;
	struct strv argv; /* what is run; argv.v[0] is the program's path */
	struct strv env;
	bool links;                      /* rustc runs the linker */
	bool gcc;                        /* its diagnostics are gcc's */
	bool capture;                    /* standard error goes through the diagnostics filter */
	bool hide_warnings;              /* -w was dropped */
	bool evidence;                   /* the linker's map is read after the call */
	char *map;                       /* the map */
	bool own_map;                    /* whet asked for it: removed when read */
	bool prints_map;                 /* on standard output */
	const struct launcher *launcher; /* of a call `ccache clang …`; NULL */
	size_t compiler;     /* where the compiler stands in argv: behind a cache, or first */
	bool assembly;       /* -S: the output is kept */
	const char *profile; /* of this compiler; NULL */
	enum plan_lto lto;   /* of a rustc call: what its own words may not stand against */
	int retag;           /* see retag.h; 0: its objects stay as they are */
	struct strv objects; /* to retag, when the call makes them itself */
	char *kept;          /* folder for the objects of a call that compiles and links; NULL */
};
void shim_call_release(struct shim_call *c);

/* Fills the call for a C or C++ driver, or for rustc, from the command line. */
int shim_plan_cc(
	struct shim_call *c, const struct node_tool *t, int argc, char **argv, struct error *err);
int shim_plan_rustc(struct shim_call *c, int argc, char **argv, struct error *err);

/* shim_lto.c: adds what link-time optimisation needs. words: of the call, response files expanded.
 */
void shim_add_lto(struct shim_call *c, const struct node_compiler *own, const struct cc_call *a,
	const struct strv *words);
/* The same for rustc; takes nothing out yet. An error when the call asks for one that whet's cannot
 * stand beside. */
int shim_add_rustc_lto(struct shim_call *c, const struct node_compiler *own,
	const struct rustc_call *a, struct error *err);
/* Takes the words out of a rustc call that would keep it from that. */
void shim_drop_lto(struct shim_call *c, struct strv *words);

/* Puts a cache in front of the compiler of a planned call, and notes what stood there. t: the tool
 * that was called. */
void shim_launch(struct shim_call *c, const struct node_tool *t);
void shim_launch_rustc(struct shim_call *c, const char *wrapper);
/* Takes it away again. */
void shim_leave_launcher(struct shim_call *c);
/* A compiler that compiles and links in one call removes its objects before it ends. So it is given
 * a linker (by COMPILER_PATH, which changes no argument) that keeps them and then runs the real
 * one. */
extern const char *const shim_linkers[]; /* names, NULL at the end */
int shim_keep_objects(struct shim_call *c, struct error *err);
/* The environment as it was before. */
void shim_keep_restore(struct strv *env);
/* What the program does when it is started as that linker; does not return when all went well. */
int shim_link(const char *name, char **argv, struct error *err);

/* Puts the shim in front of the linker of a rustc call of target code, unless it stands there. */
int shim_watch_linker(struct shim_call *c, const char *linker, struct error *err);
/* Whether rustc called its linker, and which one that is: the texts of *ret belong to the
 * environment, to the node, or are *own, which the caller frees. */
bool shim_is_rust_linker(
	const struct shim_node *n, const char *argv0, struct node_tool *ret, char **own);

/* Runs the compiler to its end; fills status and CPU time of the record. The wait status is given
 * in ret. */
int shim_run(struct shim_call *c, int *ret, struct error *err);
/* Runs something for whet itself; its output goes to a file, "/dev/null" for instance. Its exit
 * code, or 128 + signal; -1 when it could not be started. */
int shim_run_aside(const struct strv *argv, const struct strv *env, const char *output);
/* How many words of a call, from this one on, ask for a file of dependencies: 0, 1 or 2. */
size_t shim_dependency_words(const char *word);
/* The environment of a call, for repeating it without what whet wants to know of it. */
void shim_aside_environment(const struct shim_call *c, struct strv *ret);
/* Adds to a link what places functions in order, if that is asked for; when it cannot be, the
 * record says why. Before the call is run. */
int shim_order(struct shim_call *c, struct error *err);
/* Links once more, with random padding, what a released binary may be. A relink that fails is no
 * failure of the call. */
int shim_relink(const struct shim_call *c, struct error *err);
/* Links once more, with relocations, what is to be laid out. One that fails is no failure of the
 * call. */
int shim_relocs(const struct shim_call *c, struct error *err);
/* Whether the call has linked what may be released. */
bool shim_is_released(const struct shim_call *c);
/* Whether a released binary of this name may come of a link whose output has that name. */
bool shim_may_become(const char *output, const char *binary);
/* Writes the record, links included. */
int shim_record(struct shim_call *c, struct error *err);
