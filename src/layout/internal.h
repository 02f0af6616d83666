/* Shared by the files of this folder. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/proc.h"
#include "base/strv.h"
#include "elf/elf_layout.h"
#include "layout/layout.h"

/* One run of llvm-bolt in a folder of its own, where the files have names that are always the same:
 * its command line becomes part of what it writes. */
struct bolt_call {
	const struct layout_tool *tool;
	const struct strv *options;
	const char *binary;  /* INPUT in there */
	const char *profile; /* PROFILE in there; NULL: none */
	const char *out;     /* appears whole or not at all */
	const char *log;     /* NULL: none is kept */
	uint64_t timeout_ns;
	const char *what; /* "instrument", "lay out": for messages */
};
#define BOLT_INPUT "input"
#define BOLT_OUTPUT "output"
#define BOLT_PROFILE "profile.fdata"

/* lines: what it said. An exit code other than 0, a signal, a time-out, and a run that left no
 * file are errors with what it said. */
int bolt_run(
	const struct bolt_call *c, struct proc_exit *ret, struct strv *lines, struct error *err);

/* Bytes of memory that llvm-bolt needs for a file (docs/layout.md has the measurements), and those
 * that a child of this process can have, with what limits them (caller frees *limit). */
uint64_t bolt_memory_need(
	const struct layout_tool *t, const struct layout_input *i, bool instrument);
uint64_t memory_available(char **limit);

/* What a log tells, added to ret (warnings, changes, counts). relocations: it worked with them. */
void bolt_log_read(const struct strv *lines, struct layout_result *ret, bool *relocations);

/* ---- .fdata ---- */

/* What a file's lines are, which do not mix in one file. */
enum fdata_kind { FDATA_NONE, FDATA_BRANCHES, FDATA_SAMPLES };

/* A line: key is its text up to the counts. */
struct fdata_line {
	const char *key;
	size_t n;
	uint64_t mispredicted, count;
	bool branch; /* has the first of them */
};
struct fdata_place {
	const char *name;
	size_t n;
	uint64_t offset;
};
struct fdata {
	enum fdata_kind kind;
	char *header; /* its line of "no_lbr", with events; NULL */
	bool bolted;  /* "boltedcollection": made with a file that llvm-bolt had laid out */
	struct fdata_line *v;
	size_t n, cap;
	struct fdata_place *places; /* in functions of the program itself */
	size_t n_places, cap_places;
	char *text; /* holds keys and names */
};
void fdata_release(struct fdata *f);
/* ERR_IO; ERR_CORRUPT with the line. An empty file is valid and has no lines. */
int fdata_read(const char *path, struct fdata *ret, struct error *err);
/* Functions with a count, and how many of these the names do not have, or have smaller. example:
 * the first of them (caller frees), else NULL. */
struct fdata_names {
	uint64_t functions, unknown;
	char *example;
};
void fdata_names_of(struct fdata *f, const struct elf_names *names, struct fdata_names *ret);
/* Sorts lines by their text and adds up those of the same. */
void fdata_sum(struct fdata *f);
uint64_t fdata_executed(const struct fdata *f);
