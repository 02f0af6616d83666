/* Raw profiles made by hand, field by field, for the profile engine's tests. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "profile/profile.h"

struct fixture {
	uint32_t version; /* raw version; 0 is 10 */
	bool big, narrow; /* byte order; 32-bit pointers */
	uint64_t flags;   /* 0: IR */
	bool front_end;   /* flags are 0 */
	uint64_t load;    /* added to all addresses */
	uint64_t times;   /* multiplies all counts; 0 is 1 */
	bool no_values;   /* no value sites */
	bool continuous;  /* value sites, but no value data */
	bool no_id;
	const char *second;     /* name of the third function, "other" by default */
	uint32_t main_counters; /* 4 by default */
};

#define FIXTURE_IR (1ULL << 56)

/* Three functions: "main" (hash 0x11, counters 1 2 3 4; one indirect call site with targets
 * a/b.c;helper 5 times and an unknown one twice; one memory operation site with sizes 8 three times
 * and 16 once), "a/b.c;helper" (hash 0x22, counters 10 20), "other" (hash 0x33, counter 0). */
void fixture_raw(const struct fixture *f, struct buf *out);

/* "key hash: counts..." lines of all records, for comparing; caller frees. */
char *fixture_dump(const struct profile *p);
