/* How far a profile of another revision fits the sources of a build. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

enum lost_how {
	LOST_STALE,   /* the function is there with another structure */
	LOST_MOVED,   /* a local function is in another file now: its key holds the file's path */
	LOST_RENAMED, /* one of the same structure is there under another name */
	LOST_GONE,    /* no compilation looked it up */
	LOST_KINDS
};
const char *lost_how_name(enum lost_how h); /* "stale", "moved", "renamed", "gone" */

struct lost_function {
	char *key, *name; /* of its record; the name without path and without rustc's hashes */
	char *now;        /* moved: the file, renamed: the name; NULL */
	enum lost_how how;
	double share; /* of all counts, 0 to 1 */
};

#define STALENESS_LISTED 20

struct staleness {
	bool judged; /* false: this build's profile was trained in it, or there is no verdict */
	uint64_t trained; /* executed functions of the profile */
	uint64_t lost[LOST_KINDS];
	double share[LOST_KINDS]; /* of all counts, 0 to 1 */
	uint64_t all_lost;
	double all_share;
	/* Of which it is not known whether they were looked up: all their compilers' LLVM is older
	 * than 19, and no symbol is left of them. They are no part of the above, but of what the
	 * budget must hold. */
	uint64_t unknown;
	double unknown_share;
	uint64_t untrained;      /* functions of this build that the profile does not hold */
	struct lost_function *v; /* the hottest first, at most STALENESS_LISTED */
	size_t n, cap;
	double budget;
	/* Where the profile comes from. */
	char *created, *commit;
};

void staleness_release(struct staleness *s);
json_t *staleness_json(const struct staleness *s);
/* "3 of 812 trained functions are lost (1 stale, 2 gone), 0.4 % of all counts; budget 2 %". Caller
 * frees. */
char *staleness_text(const struct staleness *s);
/* "profile of 2026-11-30T20:00:00Z, commit 0123456789ab". Caller frees. */
char *staleness_from(const struct staleness *s);
/* What the budget must hold: the share of what is lost, and of what may be. */
double staleness_at_stake(const struct staleness *s);
/* Whether the budget holds, and at least half of it is used. */
bool staleness_near(const struct staleness *s);
/* 0.00412 as "0.41 %", never a rounded 0 or 100. Caller frees. */
char *staleness_percent(double share);
