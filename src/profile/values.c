/* Adding counters and value profiles. The order of values at one site follows llvm-profdata: a site
 * read once keeps the order of its file, a merged one is ordered by value; written is always by
 * descending count, stable. */
#include <string.h>

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
	if (r->adds == 0 && weight == 1) {
		memcpy(r->counts, src, r->n_counts * sizeof(uint64_t));
		return;
	}
	/* Two pseudo counts: hot (all ones) wins over warm. */
	if (r->adds && r->n_counts && r->counts[0] > COUNT_MAX && load64(src) > COUNT_MAX) {
		if (load64(src) > r->counts[0])
			r->counts[0] = load64(src);
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

static void sort_by_count(struct value_datum *v, uint32_t n)
{
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
		s->cap = n <= 4 ? 4 : n <= 16 ? 16 : n <= 64 ? 64 : SITE_MAX;
		s->v = arena_alloc(a, s->cap * sizeof(*s->v));
	}
	memcpy(s->v, v, n * sizeof(*v));
	s->n = n;
}

static void site_to_value_order(struct value_site *s)
{
	if (s->by_value)
		return;
	sort_by_count(s->v, s->n);
	sort_by_value(s->v, s->n);
	s->by_value = true;
}

void site_add(struct arena *a, struct value_site *s, struct value_datum *in, uint32_t n,
	uint64_t weight, bool first)
{
	struct value_datum all[2 * SITE_MAX];
	uint32_t i = 0, m = 0;

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
	for (uint32_t j = 0; j < n; j++) {
		while (i < s->n && s->v[i].value < in[j].value)
			all[m++] = s->v[i++];
		all[m] = in[j];
		if (i < s->n && s->v[i].value == in[j].value)
			all[m].count = saturating_add(in[j].count, s->v[i++].count);
		m++;
	}
	while (i < s->n)
		all[m++] = s->v[i++];
	order_equal_values(all, m);
	if (m > SITE_MAX) {
		sort_by_count(all, m);
		m = SITE_MAX;
		sort_by_value(all, m);
	}
	site_store(a, s, all, m);
}

uint32_t site_order(
	const struct record *r, const struct value_site *s, struct value_datum out[SITE_MAX])
{
	if (s->n == 0)
		return 0;
	memcpy(out, s->v, s->n * sizeof(*out));
	sort_by_count(out, s->n);
	if (r->adds > 1 && !s->by_value) {
		sort_by_value(out, s->n);
		sort_by_count(out, s->n);
	}
	return s->n;
}
