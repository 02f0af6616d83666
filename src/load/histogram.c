#include "load/histogram.h"

#include <string.h>

void histogram_clear(struct histogram *h)
{
	memset(h, 0, sizeof(*h));
}

uint64_t histogram_bucket_top(size_t bucket)
{
	size_t e = bucket >> HISTOGRAM_SUB_BITS;
	uint64_t first;

	if (e < 2)
		return bucket;
	e--;
	first = ((uint64_t)bucket - ((uint64_t)e << HISTOGRAM_SUB_BITS)) << e;
	return first + ((1ULL << e) - 1);
}

uint64_t histogram_quantile(const struct histogram *h, double q)
{
	uint64_t rank, seen = 0;

	if (h->n == 0)
		return 0;
	rank = (uint64_t)(q * (double)h->n + 0.9999999);
	if (rank == 0)
		rank = 1;
	if (rank > h->n)
		rank = h->n;
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += h->count[i];
		if (seen >= rank) {
			uint64_t top = histogram_bucket_top(i);

			return top < h->max ? top : h->max;
		}
	}
	return h->max;
}
