/* When is it enough? By the width of the intervals alone. */
#include <math.h>

#include "stats/stats.h"

#define MORE_MOST 1000000

double stats_half_width(const struct comparison *c)
{
	double half = (c->high - c->low) / 2;

	return isfinite(half) ? half : INFINITY;
}

uint32_t stats_more_launches(const struct comparison *c, double wanted)
{
	double half = stats_half_width(c), factor = half / wanted, more;

	if (half <= wanted)
		return 0;
	if (!isfinite(half))
		return c->launches < STATS_MIN_LAUNCHES ? STATS_MIN_LAUNCHES - c->launches : 1;
	more = ceil(c->launches * (factor * factor - 1) - 1e-6);
	return more < 1 ? 1 : more > MORE_MOST ? MORE_MOST : (uint32_t)more;
}

uint32_t stats_unresolved(const struct comparisons *c)
{
	uint32_t most = 0;

	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].more_launches > most)
			most = c->v[i].more_launches;
	return most;
}
