/* Code layout after the link, by LLVM BOLT: is a file fit for it, an instrumented file, the
 * profiles that its processes leave, and the file that is laid out. llvm-bolt ends with exit code 0
 * on many states in which it did nothing, or not what was asked; each is an error here.
 *
 * Errors: ERR_ENVIRONMENT: the machine lacks a program, or memory. ERR_UNSUPPORTED: this file
 * cannot be laid out. ERR_MISMATCH: a profile of another program. ERR_CORRUPT: a profile that is
 * none. ERR_CHILD, ERR_KILLED: llvm-bolt failed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/strv.h"
#include "facts/layout.h"

/* ---- The tool ---- */

struct layout_tool {
	char *bolt;    /* path of llvm-bolt */
	char *runtime; /* of its instrumentation runtime; NULL: it cannot instrument */
	char *p2b;     /* of perf2bolt; NULL: there is none */
	char *strip;   /* of llvm-strip: of the same LLVM, else the newest; NULL: there is none */
	int major;
	char *version; /* "llvm-bolt 22.1.8" */
};
void layout_tool_release(struct layout_tool *t);
/* Finds and asks llvm-bolt. name: "22", "bolt-22", "llvm-bolt-22" or a path; NULL: that of LLVM
 * `llvm` when there is one, else the newest (llvm 0: the newest). Looks in PATH and in LLVM's own
 * folders. ERR_ENVIRONMENT with the package to install. */
#define LAYOUT_OLDEST 15 /* LLVM's major version: older ones are refused */
int layout_find(const char *name, int llvm, const char *path_list, struct layout_tool *ret,
	struct error *err);

/* ---- Preflight ---- */

/* What a file is, and whether llvm-bolt can lay it out: before any time is spent. ERR_UNSUPPORTED,
 * ERR_ENVIRONMENT (memory) with everything that is in the way, a line each with its remedy; *ret is
 * filled in then, too (release it in any case). Memory is that of this process. */
int layout_preflight(const struct layout_tool *t, const char *binary, struct layout_input *ret,
	struct error *err);
/* Whether it can be instrumented, too: it has the runtime, and the file can hold it. */
int layout_can_instrument(
	const struct layout_tool *t, const struct layout_input *i, struct error *err);
/* What is no obstacle, but to be told: split functions, no build id. Adds lines. */
void layout_remarks(const struct layout_input *i, struct strv *ret);

/* ---- Instrumentation ---- */

enum layout_dump {
	/* For services. What descends from one exec by fork shares its counters, and writes one
	 * file, PREFIX: each of them that ends by exit() or a return from main writes all that any
	 * had counted until then, those that were killed, ended by _exit or may not write there,
	 * too. So the last to end must be one that ends by exit(). Two execs of one file overwrite
	 * each other's: each launch needs a file of its own (layout_aim()). */
	LAYOUT_DUMP_SHARED,
	/* The same for a program whose first process is ended by a signal: a further process, a
	 * child of the first one, writes PREFIX every second, and once more when the first has
	 * ended, however it did; then it ends within a second. A program that waits for all its
	 * children before it ends (wait() until there is none) never ends with it. */
	LAYOUT_DUMP_WATCHED,
	/* For programs that are started many times. Each process that ends by exit() or a return
	 * from main writes PREFIX.PID.fdata; what a process counted that ended otherwise is lost. A
	 * forked child's file holds what its parent had counted before the fork, too. From LLVM 19
	 * on. */
	LAYOUT_DUMP_PROCESS,
};
#define LAYOUT_PREFIX_MAX 900 /* bytes of a prefix */

struct layout_instrument {
	const char *binary, *out;
	/* Where profiles go: absolute. Its folder is made by the caller, and every user under which
	 * the program runs must be able to write into it. */
	const char *prefix;
	enum layout_dump dump;
	const char *log; /* llvm-bolt's output is written here */
	uint64_t timeout_ns;
};
int layout_instrument(
	const struct layout_tool *t, const struct layout_instrument *o, struct error *err);
/* A copy of an instrumented file whose processes write to another prefix: for each launch one, and
 * quicker than to instrument again. */
int layout_aim(const char *instrumented, const char *out, const char *prefix, struct error *err);

/* ---- Profiles ---- */

enum layout_state {
	LAYOUT_VALID,
	LAYOUT_MISSING, /* no file */
	LAYOUT_EMPTY,   /* no bytes, or no count in it: the process was killed, or ran nothing */
	LAYOUT_INVALID, /* not the format; cut off */
	LAYOUT_FOREIGN, /* of another program */
};
/* One file that was left. */
struct layout_file {
	char *path;
	pid_t pid; /* of its writer; 0: its name does not tell */
	enum layout_state state;
	char *problem;                          /* with place; NULL: LAYOUT_VALID */
	uint64_t functions, branches, executed; /* as in struct layout_profile */
	uint64_t unknown;
};
struct layout_files {
	struct layout_file *v;
	size_t n, cap;
};
void layout_files_release(struct layout_files *f);
const char *layout_state_name(enum layout_state s);
/* The files that a training left under this prefix, in the order of their names, each judged by
 * the binary that was instrumented (its symbols). None is no error. */
int layout_collect(
	const char *prefix, const char *binary, struct layout_files *ret, struct error *err);
/* Judges one file: `ret->path` and `pid` are set, too. -1 only for ERR_IO. */
int layout_profile_check(
	const char *path, const char *binary, struct layout_file *ret, struct error *err);
/* Merges files (llvm-bolt's text format, .fdata) to one: counts are added, lines sorted, so that
 * the same files in any order give the same bytes. Any file that is not LAYOUT_VALID is an error
 * that names it; so is none at all. */
int layout_merge(const struct strv *files, const char *binary, const char *out,
	struct layout_profile *ret, struct error *err);

/* By what a profile is tied to the file that it was made with: the build id in hex, else the
 * SHA-256 of the content. Caller frees. */
int layout_identity(const char *binary, char **ret, struct error *err);

/* ---- Layout ---- */

struct layout_optimise {
	const char *binary;                /* the one that was instrumented, or sampled */
	const char *profile;               /* of layout_merge(), or of perf2bolt (.fdata) */
	const struct layout_profile *made; /* what layout_merge() told of it; NULL: not known */
	const char *out;
	bool keep_debug; /* its debug sections are updated; else they are left out */
	const char *log; /* llvm-bolt's output is written here */
	uint64_t timeout_ns;
};
/* Writes o->out, or nothing. */
int layout_optimise(const struct layout_tool *t, const struct layout_optimise *o,
	struct layout_result *ret, struct error *err);
/* The options for this version, without names of files: what layout_optimise() gives. */
void layout_options(const struct layout_tool *t, const struct layout_optimise *o, struct strv *ret);
/* Lays out once more and compares with o->out: ERR_MISMATCH when the bytes differ. */
int layout_deterministic(
	const struct layout_tool *t, const struct layout_optimise *o, struct error *err);

/* ---- Strip ---- */

/* GNU strip leaves a file that dies at its start of what llvm-bolt wrote, with exit code 0. The
 * program that may strip it: llvm-strip. ERR_ENVIRONMENT with the package when there
 * is none. *ret points into t. */
int layout_strip_program(const struct layout_tool *t, const char **ret, struct error *err);
