#include "profile/llvm/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const uint32_t cutoffs[] = {10000, 100000, 200000, 300000, 400000, 500000, 600000, 700000,
	800000, 900000, 950000, 990000, 999000, 999900, 999990, 999999};

struct totals {
	uint64_t functions, blocks, max_function, max, max_internal, total;
	uint64_t *v; /* the counters that are not 0 */
	size_t n;
};

static void collect(const struct record *r, struct totals *t)
{
	if (r->n_counts && r->counts[0] > COUNT_MAX)
		return; /* pseudo counts say nothing about frequency */
	t->functions++;
	for (uint32_t i = 0; i < r->n_counts; i++) {
		uint64_t c = r->counts[i];

		if (c == UINT64_MAX)
			continue;
		t->blocks++;
		t->total += c;
		if (c > t->max)
			t->max = c;
		if (i == 0 && c > t->max_function)
			t->max_function = c;
		if (i > 0 && c > t->max_internal)
			t->max_internal = c;
		if (c)
			t->v[t->n++] = c;
	}
}

/* Ascending, by bytes from the lowest to the highest that is in use. */
static void radix_sort(uint64_t **v, size_t n, uint64_t max)
{
	uint64_t *a = *v, *b = xreallocarray(NULL, n + 1, sizeof(*b));

	for (unsigned shift = 0; shift < 64 && max >> shift; shift += 8) {
		size_t at[256] = {0}, sum = 0;
		uint64_t *t;

		for (size_t i = 0; i < n; i++)
			at[a[i] >> shift & 255]++;
		for (int k = 0; k < 256; k++) {
			size_t c = at[k];

			at[k] = sum;
			sum += c;
		}
		for (size_t i = 0; i < n; i++)
			b[at[a[i] >> shift & 255]++] = a[i];
		t = a;
		a = b;
		b = t;
	}
	*v = a;
	free(b);
}

static uint8_t *put(uint8_t *to, uint64_t v)
{
	memcpy(to, &v, 8);
	return to + 8;
}

uint8_t *summary_write(
	const struct profile *p, bool context_sensitive, uint64_t hash_mask, uint8_t *to)
{
	struct totals t = {0};
	uint64_t sum = 0, seen = 0, current = 0;
	size_t room = 1, left;

	for (size_t i = 0; i < p->n_records; i++)
		room += p->records[i]->n_counts;
	t.v = xreallocarray(NULL, room, sizeof(*t.v));
	for (size_t i = 0; i < p->n_records; i++)
		if (!!(p->records[i]->hash & hash_mask & HASH_CS) == context_sensitive)
			collect(p->records[i], &t);
	radix_sort(&t.v, t.n, t.max);
	to = put(put(to, 6), ARRAY_SIZE(cutoffs));
	to = put(put(put(to, t.functions), t.blocks), t.max_function);
	to = put(put(put(to, t.max), t.max_internal), t.total);
	left = t.n;
	for (size_t k = 0; k < ARRAY_SIZE(cutoffs); k++) {
		uint64_t want = (uint64_t)((unsigned __int128)t.total * cutoffs[k] / 1000000);

		while (sum < want && left) {
			/* All counters of one value at once. */
			current = t.v[left - 1];
			while (left && t.v[left - 1] == current) {
				sum += current;
				seen++;
				left--;
			}
		}
		to = put(put(put(to, cutoffs[k]), current), seen);
	}
	free(t.v);
	return to;
}
