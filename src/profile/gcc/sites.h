/* The most common values of a place in the program. Private to src/profile/gcc. */
#pragma once

#include "profile/gcc/gcda.h"

/* Makes v ascending by value with each value once. */
void site_normalise(struct gcda_site *s);
/* Adds `from`, weighted, to `into`, which is normalised; new values go into a's memory. None is
 * dropped: GCC keeps 32 and makes the result depend on the order, but its compiler reads any
 * number. */
void site_merge(
	struct arena *a, struct gcda_site *into, const struct gcda_site *from, uint64_t weight);
/* The values of a normalised site in the order in which the compiler sorts them: descending count,
 * then descending value. The caller frees; NULL when there are none. */
struct gcda_value *site_in_order(const struct gcda_site *s);

uint64_t gcda_times(uint64_t count, uint64_t weight); /* at most GCDA_COUNT_MAX */
uint64_t gcda_plus(uint64_t a, uint64_t b);
