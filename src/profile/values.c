/* Adding counters and value profiles. The order of values at one site follows llvm-profdata: a site
 * read once keeps the order of its file, a merged one is ordered by value; written is always by
 * descending count, stable; saturated counts, which llvm-profdata leaves as they come, by value. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/model.h"

uint64_t saturating_mul(uint64_t a, uint64_t b)
{
	uint64_t r;

	return __builtin_mul_overflow(a, b, &r) ? UINT64_MAX : r;
}

uint64_t saturating_add(uint64_t a, uint64_t b)
{
	uint64_t r;

	return __builtin_add_overflow(a, b, &r) ? UINT64_MAX : r;
}

static uint64_t load64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

static uint64_t clamp(uint64_t v)
{
	return v > COUNT_MAX ? COUNT_MAX : v;
}

uint64_t counts_bits(const uint8_t *src, size_t n)
{
	uint64_t bits = 0;

	for (size_t i = 0; i < n; i++)
		bits |= load64(src + 8 * i);
	return bits;
}

#define COUNTS_AT_ONCE 512 /* as many as stay in the nearest cache */

/* Up to COUNTS_AT_ONCE counts. Where all are small nothing can saturate, and the compiler makes
 * vector instructions of the sum. */
static void add_some(uint64_t *restrict dst, const uint8_t *restrict src, size_t n)
{
	uint64_t bits = counts_bits(src, n) | counts_bits((const uint8_t *)dst, n);

	if (bits >> 62 == 0)
		for (size_t i = 0; i < n; i++)
			dst[i] += load64(src + 8 * i);
	else
		for (size_t i = 0; i < n; i++)
			dst[i] = clamp(saturating_add(dst[i], load64(src + 8 * i)));
}

void counts_add(uint64_t *restrict dst, const uint8_t *restrict src, size_t n, uint64_t weight)
{
	if (weight == 1)
		for (size_t i = 0; i < n; i += COUNTS_AT_ONCE)
			add_some(dst + i, src + 8 * i,
				n - i < COUNTS_AT_ONCE ? n - i : COUNTS_AT_ONCE);
	else
		for (size_t i = 0; i < n; i++)
			dst[i] = clamp(saturating_add(
				dst[i], saturating_mul(load64(src + 8 * i), weight)));
}

void record_add_counts(struct record *r, const uint8_t *src, uint64_t weight)
{
	uint64_t first = r->n_counts ? load64(src) : 0;

	if (r->adds == 0 && weight == 1) {
		memcpy(r->counts, src, r->n_counts * sizeof(uint64_t));
		return;
	}
	/* Pseudo counts have no weight, and of two the hot one (all ones) wins over the warm one.
	 */
	if (first > COUNT_MAX && (r->adds == 0 || r->counts[0] > COUNT_MAX)) {
		if (first > r->counts[0])
			r->counts[0] = first;
		counts_add(r->counts + 1, src + 8, r->n_counts - 1, weight);
		return;
	}
	counts_add(r->counts, src, r->n_counts, weight);
}

static void sort_by_value(struct value_datum *v, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		struct value_datum x = v[i];
		uint32_t j = i;

		for (; j > 0 && v[j - 1].value > x.value; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
}

static int most_first(const void *a, const void *b)
{
	const struct value_datum *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->value < y->value ? -1 : x->value > y->value;
}

static void sort_by_count(struct value_datum *v, uint32_t n)
{
	if (n > SITE_MAX) {
		/* No file holds that many: it was merged, so equal counts are ordered by value. */
		qsort(v, n, sizeof(*v), most_first);
		return;
	}
	for (uint32_t i = 1; i < n; i++) {
		struct value_datum x = v[i];
		uint32_t j = i;

		for (; j > 0 && v[j - 1].count < x.count; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
}

/* One value may stand several times at a site (unknown targets are all 0): those are ordered by
 * descending count, as sorting by count and then by value would leave them. */
static void order_equal_values(struct value_datum *v, uint32_t n)
{
	for (uint32_t i = 0; i + 1 < n;) {
		uint32_t j = i + 1;

		while (j < n && v[j].value == v[i].value)
			j++;
		if (j - i > 1)
			sort_by_count(v + i, j - i);
		i = j;
	}
}

static void site_store(
	struct arena *a, struct value_site *s, const struct value_datum *v, uint32_t n)
{
	if (n > s->cap) {
		for (s->cap = 4; s->cap < n;)
			s->cap *= 4;
		s->v = arena_alloc(a, s->cap * sizeof(*s->v));
	}
	memcpy(s->v, v, n * sizeof(*v));
	s->n = n;
}

static void site_to_value_order(struct value_site *s)
{
	if (s->by_value)
		return;
	sort_by_value(s->v, s->n);
	order_equal_values(s->v, s->n);
	s->by_value = true;
}

/* Both are in the order of values, and those of one value in the order of counts: the n-th of a
 * value is added to the n-th, which gives the same in any order of inputs. */
static uint32_t unite(const struct value_site *s, const struct value_datum *in, uint32_t n,
	struct value_datum *to)
{
	uint32_t i = 0, m = 0;

	for (uint32_t j = 0; j < n; j++) {
		while (i < s->n && s->v[i].value < in[j].value)
			to[m++] = s->v[i++];
		to[m] = in[j];
		if (i < s->n && s->v[i].value == in[j].value)
			to[m].count = saturating_add(in[j].count, s->v[i++].count);
		m++;
	}
	while (i < s->n)
		to[m++] = s->v[i++];
	return m;
}

void site_add(struct arena *a, struct value_site *s, struct value_datum *in, uint32_t n,
	uint64_t weight, bool first)
{
	struct value_datum few[2 * SITE_MAX], *all = few;
	auto_free struct value_datum *many = NULL;

	if (n == 0)
		return;
	for (uint32_t j = 0; j < n && weight > 1; j++)
		in[j].count = saturating_mul(in[j].count, weight);
	if (first) {
		site_store(a, s, in, n);
		return;
	}
	site_to_value_order(s);
	sort_by_value(in, n);
	order_equal_values(in, n);
	if (s->n + n > ARRAY_SIZE(few))
		all = many = xreallocarray(NULL, s->n + n, sizeof(*all));
	site_store(a, s, all, unite(s, in, n, all));
}

struct value_datum *site_by_value(const struct value_site *s)
{
	struct value_datum *v = xreallocarray(NULL, s->n + 1, sizeof(*v));

	if (s->n)
		memcpy(v, s->v, s->n * sizeof(*v));
	if (!s->by_value) {
		sort_by_value(v, s->n);
		order_equal_values(v, s->n);
	}
	return v;
}

double record_sum(const struct record *r)
{
	uint64_t sum = 0;
	double beyond = 0;

	for (uint32_t i = 0; i < r->n_counts; i++)
		if (r->counts[i] <= COUNT_MAX && __builtin_add_overflow(sum, r->counts[i], &sum))
			beyond += 0x1p64;
	return beyond + (double)sum;
}

bool record_is_cs(const struct profile *p, const struct record *r)
{
	return (p->flags & FLAG_IR) && (r->hash & HASH_CS);
}

uint32_t site_size(const struct value_site *s)
{
	return s->n < SITE_MAX ? s->n : SITE_MAX;
}

void order_saturated(struct value_datum *v, uint32_t n)
{
	uint32_t i = 0;

	while (i < n && v[i].count == UINT64_MAX)
		i++;
	sort_by_value(v, i);
}

uint32_t site_order(
	const struct record *r, const struct value_site *s, struct value_datum out[SITE_MAX])
{
	if (s->n == 0)
		return 0;
	if (s->n > SITE_MAX) {
		auto_free struct value_datum *all = xreallocarray(NULL, s->n, sizeof(*all));

		memcpy(all, s->v, s->n * sizeof(*all));
		sort_by_count(all, s->n);
		memcpy(out, all, SITE_MAX * sizeof(*out));
		return SITE_MAX;
	}
	memcpy(out, s->v, s->n * sizeof(*out));
	sort_by_count(out, s->n);
	if (r->adds > 1 && !s->by_value) {
		sort_by_value(out, s->n);
		sort_by_count(out, s->n);
	}
	order_saturated(out, s->n);
	return s->n;
}
