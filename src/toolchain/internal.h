/* Shared by the files of this folder. */
#pragma once

#include "toolchain/toolchain.h"

/* How a compiler is asked. */
struct question {
	const char *path;                    /* the compiler */
	const char *path_list;               /* PATH of its process */
	const char *folder;                  /* working folder; NULL: the own */
	const struct strv *words;            /* between its name and the question; NULL: none */
	const struct toolchain_cross *cross; /* NULL: for this machine */
};

/* Runs "path arg…" (args ends with NULL) and gives its output lines. */
int ask(const struct question *q, const char *const *args, struct strv *ret, struct error *err);
/* The first line, or "" when there is none. */
int ask_line(const struct question *q, const char *arg, char **ret, struct error *err);
/* "-print-file-name=NAME": an absolute path cleaned by text, or NULL when the compiler has no such
 * file. Fails when the compiler gave no answer. */
int ask_file(const struct question *q, const char *name, char **ret, struct error *err);

/* The number at the front of a text; 0 when there is none or it is no sensible version. */
int leading_int(const char *text);

/* Each fills what its family needs; first: the first line of --version, lines: all of them. */
int clang_probe(
	const struct question *q, const struct strv *lines, struct compiler *c, struct error *err);
/* What the lines of --version tell. */
void clang_read_version(const struct strv *lines, struct compiler *c);
int gcc_probe(
	const struct question *q, const struct strv *lines, struct compiler *c, struct error *err);
int rustc_probe(const struct question *q, struct compiler *c, struct error *err);

/* lld.c: the lld of the compiler's own LLVM. 1: *ret is set, 0: there is none, -1: one gave no
 * answer. */
int find_lld_of(
	const struct compiler *c, const char *path_list, struct lld *ret, struct error *err);
/* Of a clang that compiles for another machine: what its calls need, and its runtime. */
int clang_probe_cross(const struct question *q, struct compiler *c, struct error *err);
/* Its profile runtime for a triple; NULL: it has none. Caller frees. */
int clang_find_runtime(const struct question *q, const char *target, char **ret, struct error *err);
