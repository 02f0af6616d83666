/* When a warm-up is over. */
#include <string.h>

#include "stats/stats.h"

#define WINDOW (STATS_STEADY_NEEDS / 2)
#define FALL_MOST 0.02

static double median_of(const double *v)
{
	double copy[WINDOW];

	memcpy(copy, v, sizeof(copy));
	return stats_median(copy, WINDOW);
}

bool stats_steady(const double *v, size_t n)
{
	return n >= STATS_STEADY_NEEDS &&
	       median_of(v + n - WINDOW) >= (1 - FALL_MOST) * median_of(v + n - STATS_STEADY_NEEDS);
}
