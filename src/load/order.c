#include "load/order.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

/* splitmix64: small, and good enough for an order. */
static uint64_t rng_next(uint64_t *s)
{
	uint64_t z = (*s += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* Below n, by multiplication: the bias is under n / 2^64. */
static uint64_t rng_below(uint64_t *s, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)rng_next(s) * n) >> 64);
}

void order_init(struct load_order *o, const uint32_t *weight, size_t n, uint64_t seed)
{
	*o = (struct load_order){.n = n, .rng = seed};
	o->weight = xcalloc(n, sizeof(*o->weight));
	o->credit = xcalloc(n, sizeof(*o->credit));
	o->left = xcalloc(n, sizeof(*o->left));
	for (size_t i = 0; i < n; i++)
		o->total_weight += o->weight[i] = weight[i];
	if (o->total_weight > 0)
		return;
	for (size_t i = 0; i < n; i++)
		o->weight[i] = 1;
	o->total_weight = n;
}

void order_release(struct load_order *o)
{
	free(o->weight);
	free(o->credit);
	free(o->left);
	*o = (struct load_order){0};
}

/* The class that is owed most (want true), or least among those that got something. */
static size_t extreme(const struct load_order *o, bool want)
{
	size_t best = o->n;

	for (size_t i = 0; i < o->n; i++) {
		if (o->weight[i] == 0 || (!want && o->left[i] == 0))
			continue;
		if (best == o->n ||
			(want ? o->credit[i] > o->credit[best] : o->credit[i] < o->credit[best]))
			best = i;
	}
	return best;
}

void order_deal(struct load_order *o, uint64_t n)
{
	int64_t w = (int64_t)o->total_weight;
	uint64_t sum = 0;

	for (size_t i = 0; i < o->n; i++) {
		__int128 due = (__int128)n * o->weight[i] + o->credit[i];

		o->left[i] = due > 0 ? (uint64_t)(due / w) : 0;
		o->credit[i] = (int64_t)(due - (__int128)o->left[i] * w);
		sum += o->left[i];
	}
	/* Rounding: at most one step per class in either direction. */
	while (sum < n) {
		size_t i = extreme(o, true);

		o->left[i]++;
		o->credit[i] -= w;
		sum++;
	}
	while (sum > n) {
		size_t i = extreme(o, false);

		o->left[i]--;
		o->credit[i] += w;
		sum--;
	}
	o->total_left = n;
}

size_t order_next(struct load_order *o)
{
	uint64_t k;
	size_t i = 0;

	if (o->n > 1) {
		k = rng_below(&o->rng, o->total_left);
		while (k >= o->left[i])
			k -= o->left[i++];
	}
	o->left[i]--;
	o->total_left--;
	return i;
}

void order_take(struct load_order *o, size_t i)
{
	size_t other = 0;

	if (o->left[i] == 0) {
		/* Borrowed from the class that has most left; a later deal gives it back. */
		for (size_t k = 1; k < o->n; k++) {
			if (o->left[k] > o->left[other])
				other = k;
		}
		o->left[other]--;
		o->credit[other] += (int64_t)o->total_weight;
		o->credit[i] -= (int64_t)o->total_weight;
	} else {
		o->left[i]--;
	}
	o->total_left--;
}
