/* What the profile engine's own operations leave open: the difference of two profiles of the same
 * processes, and a profile times a factor that is no whole number. Both keep value profiles. They
 * work on the text form, which the engine writes and reads; scratch is a file that they may write
 * for that. */
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "profile/profile.h"

/* What `after` counted beyond `before`, as a profile in text form: records and values that counted
 * nothing are left out. before: NULL, nothing. A count that went down (the program reset its
 * counters, a value profile gave up a target) is taken as 0. scratch: a file that may be written
 * for that. */
int counts_between(struct profile *before, struct profile *after, const char *scratch,
	struct buf *ret, struct error *err);

/* A factor in units of 2^-20. */
#define COUNTS_FACTOR_BITS 20
#define COUNTS_FACTOR_ONE ((uint64_t)1 << COUNTS_FACTOR_BITS)
/* All counts of a text profile times factor, rounded to the nearest (half: up), saturating; in text
 * form, without what counts nothing then. text: as counts_between() gives it; it is cut to pieces.
 */
int counts_scaled(struct buf *text, uint64_t factor, struct buf *ret, struct error *err);
