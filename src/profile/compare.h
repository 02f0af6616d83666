/* Comparing two profiles: how far they agree, and which functions one trained that the other did
 * not. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct profile;

/* ---------------------------------------------------------------- overlap */

#define PROFILE_VALUE_KINDS 3 /* targets of indirect calls, sizes of memory operations, vtables */

/* One figure of the counters, and one of each kind of value profiles. */
struct profile_figures {
	double edges, values[PROFILE_VALUE_KINDS];
};

struct profile_overlap {
	/* Function records: in both; of one name, but with another hash or number of counters or
	 * value sites; whose name the other does not have. */
	uint64_t functions, mismatched, only_first, only_second;
	struct profile_figures first, second; /* sums of all counts */
	/* 0 to 1: over all counters, the smaller of the two shares in their sums. Those of the
	 * mismatched and the missing records are of the second profile's sums. */
	struct profile_figures share, mismatched_share, only_second_share;
};

enum profile_match { PROFILE_IN_BOTH, PROFILE_MISMATCHED, PROFILE_ONLY_SECOND };

/* One record of the second profile. */
struct profile_overlap_function {
	const char *key;
	uint64_t hash;
	enum profile_match match;
	struct profile_figures first, second; /* sums of the record's counts */
	struct profile_figures share;         /* as above, of the record's own sums */
};
typedef void profile_overlap_each(void *ctx, const struct profile_overlap_function *f);

/* Compares the context-sensitive records, or all others; each (may be NULL) is called in ascending
 * (key, hash) order. ERR_MISMATCH when one of them counted nothing. */
int profile_overlap(const struct profile *first, const struct profile *second,
	bool context_sensitive, struct profile_overlap *ret, profile_overlap_each *each, void *ctx,
	struct error *err);

/* ---------------------------------------------------------------- difference */

enum profile_change {
	PROFILE_NEW,    /* trained in the new profile alone */
	PROFILE_GONE,   /* trained in the old profile alone */
	PROFILE_HOTTER, /* its share of all counts grew by the threshold or more */
	PROFILE_COLDER,
	PROFILE_STALE, /* trained in both, but its code has changed: the old counts do not fit */
	PROFILE_ALIKE,
	PROFILE_CHANGES
};
const char *profile_change_name(enum profile_change c); /* "new", "gone", ... */

struct profile_diff_side {
	bool present;        /* the profile has a record of the function, trained or not */
	double count, share; /* its counters' sum, and that in the profile's sum, 0 to 1 */
};

struct profile_diff_function {
	char *object; /* of GCC profiles; NULL otherwise */
	char *name;   /* as profile_stable_name() gives it, or what the caller of gcc_diff() says */
	enum profile_change change;
	bool changed; /* both have the function, with code that differs */
	struct profile_diff_side old, new;
};

struct profile_diff {
	struct profile_diff_function *v; /* trained in one at least; all but those that are alike */
	size_t n, cap;
	double threshold;        /* 0 to 1 */
	double old_sum, new_sum; /* of all counters */
	uint64_t old_trained, new_trained;
	struct {
		uint64_t functions;
		double old, new; /* their shares */
	} of[PROFILE_CHANGES];
};

/* What the new profile trained that the old one did not, and the other way round. ret holds the
 * functions by change, then by the difference of their shares, largest first; release it with
 * profile_diff_release(). ERR_MISMATCH when one counted nothing, or when they are of two kinds of
 * instrumentation. */
int profile_diff(const struct profile *old, const struct profile *new, bool context_sensitive,
	double threshold, struct profile_diff *ret, struct error *err);
void profile_diff_release(struct profile_diff *d);

/* For those that compare another kind of profiles: begin, add every function that either has (the
 * strings become d's), and end. */
int profile_diff_begin(struct profile_diff *d, double old_sum, double new_sum, double threshold,
	struct error *err);
void profile_diff_add(struct profile_diff *d, char *object, char *name, bool changed,
	struct profile_diff_side old, struct profile_diff_side new);
void profile_diff_end(struct profile_diff *d);

/* The part of a function's key that stays when a program is built again: without the hashes that
 * rustc puts into names for the crate's version and metadata, and its code generation unit, and
 * with
 * ':' behind the path of a local function, as LLVM wrote it before 18. Functions that differ in
 * those alone (instances of one generic) get one name. Caller frees. */
char *profile_stable_name(const char *key);
