/* GCC's notes files (.gcno), which a compilation with -ftest-coverage leaves beside the object: the
 * functions' names, places and control flow. They give names to a .gcda and say what it must hold.
 *
 * Format: docs/formats/gcc.md; gcc 11 and 12 are tested. Input is hostile until validated. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/gcc/gcda.h"

enum {
	GCNO_ON_TREE = 1, /* has no counter: its count follows from the others */
	GCNO_FAKE = 2,    /* of a call that may not return */
	GCNO_FALLTHROUGH = 4,
};

/* Blocks are numbered; 0 is the entry, 1 the exit. */
struct gcno_arc {
	uint32_t from, to, flags;
};

struct gcno_function {
	uint32_t ident, lineno_checksum, cfg_checksum;
	const char *name, *source; /* "" when the file names none */
	bool artificial;           /* made by the compiler */
	uint32_t start_line, start_column, end_line, end_column;
	uint32_t n_blocks, n_arcs,
		n_counted; /* n_counted: arcs that have a counter, in this order */
	struct gcno_arc *arcs;
};

/* One file's content. All memory is in the arena; gcno_free() releases it. */
struct gcno {
	bool big;
	uint32_t version, stamp;
	unsigned major;
	const char *cwd;                 /* working folder of the compiler */
	struct gcno_function *functions; /* in the order of the file */
	size_t n_functions, cap_functions;
	size_t *by_ident;  /* numbers of the functions, ascending by ident */
	uint64_t n_blocks; /* of all functions */
	struct arena *arena;
};

bool gcno_magic(const uint8_t *data, size_t n);
/* Reads one file's bytes. On failure NULL, and err names the record and its offset. */
struct gcno *gcno_read(const void *data, size_t n, struct error *err);
struct gcno *gcno_read_file(const char *path, struct error *err);
void gcno_free(struct gcno *g); /* NULL is fine */
/* The first function of this ident, or NULL. */
const struct gcno_function *gcno_find(const struct gcno *g, uint32_t ident);

/* How often each arc and each block ran, from the counters of the arcs that have one (f->n_counted
 * of them): what flows into a block flows out of it. ERR_CORRUPT when that leaves a count open or
 * makes one negative. arcs and blocks have f->n_arcs and f->n_blocks elements and belong to the
 * caller. */
int gcno_solve(const struct gcno_function *f, const uint64_t *counters, uint64_t *arcs,
	uint64_t *blocks, struct error *err);

/* Whether the data are of this compilation: version, stamp, and for each function that ran in the
 * program its checksums and number of arc counters. ERR_MISMATCH otherwise. */
int gcno_check(const struct gcno *notes, const struct gcda *data, struct error *err);
