/* GCC's profile data files (.gcda): read, merged, written without GCC. One file belongs to one
 * object and holds counters of its functions; there are no names in it (gcno.h has them).
 *
 * Formats: docs/formats/gcc.md. Versions of gcc 11 and 12 are tested with their compilers; 13 to 15
 * are read by what is known of their layout. Input is hostile until validated: no allocation is
 * larger than the bytes that are there justify. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

struct arena; /* memory that is released at once */

/* The kinds of counters, in the order in which a function has them. An object uses some of them. */
enum gcda_kind {
	GCDA_ARCS,       /* executions of an arc of the control flow; added */
	GCDA_INTERVAL,   /* histogram of values inside an interval; added */
	GCDA_POW2,       /* histogram of powers of two; added */
	GCDA_TOPN,       /* most common values of an expression: sites */
	GCDA_INDIRECT,   /* most common targets of an indirect call, as function idents: sites */
	GCDA_AVERAGE,    /* sum and number of values; added */
	GCDA_IOR,        /* all values or-ed */
	GCDA_TIME,       /* when the function ran first (1: before all others), 0: never; minimum */
	GCDA_CONDITIONS, /* bit sets of condition coverage (gcc 14 and newer); or-ed */
	GCDA_PATHS,      /* bit sets of path coverage (gcc 15); or-ed */
	GCDA_KINDS
};

/* What a count is at most; more is kept as this much. Values and or-ed bits may have any 64 bits.
 */
#define GCDA_COUNT_MAX ((uint64_t)INT64_MAX)

struct gcda_value {
	int64_t value;
	uint64_t count;
};

/* One place whose most common values are counted. */
struct gcda_site {
	uint64_t total;  /* how often it ran */
	bool dropped;    /* GCC lost values here when merging (the total is negative in the file) */
	bool normalised; /* v is ascending by value, each once */
	uint32_t n, cap; /* values; allocated when it is a piece of its own, else 0 */
	struct gcda_value *v;
};

struct gcda_counters {
	uint8_t kind; /* enum gcda_kind */
	bool elided;  /* the file says only that all are zero; v and sites are NULL */
	uint32_t n;   /* counters, or sites when the kind has them */
	uint64_t *v;
	struct gcda_site *sites;
};

struct gcda_function {
	bool present;   /* false: the program did not contain it, nothing else is set */
	uint32_t ident; /* names the function; docs/formats/gcc.md says how it is computed */
	uint32_t lineno_checksum, cfg_checksum;
	uint32_t n; /* kinds */
	struct gcda_counters *v;
};

/* One file's content. All memory is in the arena; gcda_free() releases it. */
struct gcda {
	bool big;               /* byte order of the machine that ran the program */
	uint32_t version;       /* four characters, for example 'B22*' */
	unsigned major;         /* of GCC, from the version */
	uint32_t stamp;         /* of the compilation */
	uint32_t checksum;      /* of the object in its program; 0 before gcc 12 */
	uint32_t runs, sum_max; /* runs, and the sum of each run's largest arc counter */
	bool merged;            /* not as read any more: is written in canonical form */
	size_t end; /* bytes up to the end mark; what follows is left of a longer file */
	struct gcda_function *functions;
	size_t n_functions, cap_functions;
	struct arena *arena;
};

/* Whether the bytes begin like a .gcda, in either byte order. */
bool gcda_magic(const uint8_t *data, size_t n);
bool gcda_has_sites(unsigned kind);
const char *gcda_kind_name(unsigned kind); /* as gcov-dump prints it */
/* "gcc 12.2 (B22*)" for messages; caller frees. */
char *gcda_version_text(uint32_t version);
/* The major version of GCC in a version word, or 0 when it is none. */
unsigned gcda_major(uint32_t version);

/* Reads one file's bytes. On failure NULL, and err (ERR_CORRUPT, ERR_UNSUPPORTED) names the record
 * and its offset. Nothing of data is referred to afterwards. Free with gcda_free(). */
struct gcda *gcda_read(const void *data, size_t n, struct error *err);
struct gcda *gcda_read_file(const char *path, struct error *err);
void gcda_free(struct gcda *g); /* NULL is fine */

/* Multiplies all counts, runs and sums by weight >= 1, up to GCDA_COUNT_MAX. A weight of 3 gives
 * the same as adding three times. */
void gcda_scale(struct gcda *g, uint64_t weight);
/* Adds `from`, weighted, to `into`. Both must be of one compilation (version, stamp, checksum,
 * functions and number of counters); else ERR_MISMATCH, and `into` is unchanged. In any grouping
 * and order of the same files the bytes that gcda_write() gives are equal. */
int gcda_merge(struct gcda *into, const struct gcda *from, uint64_t weight, struct error *err);
/* Reads a file and adds it to *into, which is NULL at first. On failure *into is unchanged. */
int gcda_add_file(struct gcda **into, const char *path, uint64_t weight, struct error *err);

/* Appends the file's bytes: those that were read when it was only read; otherwise the canonical
 * form (values by descending count, then descending value; arrays of zeros elided). ERR_UNSUPPORTED
 * when it is larger than the format allows. */
int gcda_write(const struct gcda *g, struct buf *out, struct error *err);
int gcda_write_file(const struct gcda *g, const char *path, struct error *err); /* atomic */

struct gcda_summary {
	uint64_t functions, executed;    /* in the program; with an arc counter that is not zero */
	uint64_t counters;               /* arc counters */
	uint64_t total_count, max_count; /* of the arc counters, up to GCDA_COUNT_MAX */
	uint64_t sites, values;          /* of value profiles */
};
/* Adds one file's figures to ret. */
void gcda_summarise(const struct gcda *g, struct gcda_summary *ret);
/* The counters of this kind, or NULL. */
const struct gcda_counters *gcda_find(const struct gcda_function *f, unsigned kind);
uint64_t gcda_largest(const struct gcda_counters *c); /* 0 for NULL */
