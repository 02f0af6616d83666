#include "profile/gcc/sites.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/model.h"

uint64_t gcda_times(uint64_t count, uint64_t weight)
{
	uint64_t v;

	return __builtin_mul_overflow(count, weight, &v) || v > GCDA_COUNT_MAX ? GCDA_COUNT_MAX : v;
}

uint64_t gcda_plus(uint64_t a, uint64_t b)
{
	uint64_t v;

	return __builtin_add_overflow(a, b, &v) || v > GCDA_COUNT_MAX ? GCDA_COUNT_MAX : v;
}

static int by_value(const void *a, const void *b)
{
	const struct gcda_value *x = a, *y = b;

	return x->value < y->value ? -1 : x->value > y->value;
}

static int by_count(const void *a, const void *b)
{
	const struct gcda_value *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return -by_value(a, b);
}

void site_normalise(struct gcda_site *s)
{
	uint32_t n = 0;

	if (s->normalised)
		return;
	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), by_value);
	for (uint32_t i = 0; i < s->n; i++)
		if (n && s->v[n - 1].value == s->v[i].value)
			s->v[n - 1].count = gcda_plus(s->v[n - 1].count, s->v[i].count);
		else
			s->v[n++] = s->v[i];
	s->n = n;
	s->normalised = true;
}

static struct gcda_value *copy_of(const struct gcda_site *s)
{
	struct gcda_value *v;

	if (!s->n)
		return NULL;
	v = xreallocarray(NULL, s->n, sizeof(*v));
	memcpy(v, s->v, s->n * sizeof(*v));
	return v;
}

/* How many of b's values a has not; both are normalised. */
static uint32_t count_new(const struct gcda_site *a, const struct gcda_site *b)
{
	uint32_t i = 0, n = 0;

	for (uint32_t k = 0; k < b->n; k++) {
		while (i < a->n && a->v[i].value < b->v[k].value)
			i++;
		n += i == a->n || a->v[i].value != b->v[k].value;
	}
	return n;
}

static void reserve(struct arena *a, struct gcda_site *s, uint32_t n)
{
	struct gcda_value *v;

	if (n <= s->cap || n <= s->n)
		return;
	v = arena_alloc(a, 2 * (size_t)n * sizeof(*v));
	if (s->n)
		memcpy(v, s->v, s->n * sizeof(*v));
	s->v = v;
	s->cap = 2 * n;
}

/* Both lists into the room behind the first, from the back. */
static void merge_back(struct gcda_site *a, const struct gcda_site *b, uint32_t n, uint64_t weight)
{
	uint32_t i = a->n, k = b->n;

	for (uint32_t to = n; k > 0;) {
		uint64_t count;

		if (i && a->v[i - 1].value > b->v[k - 1].value) {
			a->v[--to] = a->v[--i];
			continue;
		}
		k--;
		count = gcda_times(b->v[k].count, weight);
		if (i && a->v[i - 1].value == b->v[k].value)
			count = gcda_plus(count, a->v[--i].count);
		a->v[--to] = (struct gcda_value){b->v[k].value, count};
	}
	a->n = n;
}

void site_merge(
	struct arena *a, struct gcda_site *into, const struct gcda_site *from, uint64_t weight)
{
	struct gcda_site f = *from;
	auto_free struct gcda_value *copy = NULL;
	uint32_t n;

	into->total = gcda_plus(into->total, gcda_times(f.total, weight));
	into->dropped |= f.dropped;
	if (!f.normalised)
		f.v = copy = copy_of(from);
	site_normalise(&f);
	n = into->n + count_new(into, &f);
	reserve(a, into, n);
	merge_back(into, &f, n, weight);
}

struct gcda_value *site_in_order(const struct gcda_site *s)
{
	struct gcda_value *v = copy_of(s);

	if (s->n)
		qsort(v, s->n, sizeof(*v), by_count);
	return v;
}
