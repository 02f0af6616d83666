/* Latencies in log-linear buckets: exact below 64, then 32 buckets per power of two, so that a
 * value is known within 1/32. Histograms of one kind add up. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_SUB_BITS 5
#define HISTOGRAM_BUCKETS ((64 - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)

struct histogram {
	uint64_t n, max;
	uint32_t count[HISTOGRAM_BUCKETS];
};

static inline size_t histogram_bucket(uint64_t v)
{
	unsigned e;

	if (v < (1U << HISTOGRAM_SUB_BITS))
		return (size_t)v;
	e = 63 - (unsigned)__builtin_clzll(v) - HISTOGRAM_SUB_BITS;
	return ((size_t)e << HISTOGRAM_SUB_BITS) + (size_t)(v >> e);
}

static inline void histogram_add(struct histogram *h, uint64_t v)
{
	h->count[histogram_bucket(v)]++;
	h->n++;
	if (v > h->max)
		h->max = v;
}

void histogram_clear(struct histogram *h);
/* The largest value that the bucket can hold. */
uint64_t histogram_bucket_top(size_t bucket);
/* The value below or at which the share q (0 to 1) of all values lies; 0 when there are none. */
uint64_t histogram_quantile(const struct histogram *h, double q);
