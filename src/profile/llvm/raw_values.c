/* What follows the sections of a raw image, and what its values and time stamps mean. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/llvm/raw.h"

/* Whether the image ends where its value data should begin: continuous mode leaves them all out,
 * and so does a process that dies between writing its counters and its values. */
static bool no_values(const struct raw_image *i, const uint8_t *file, size_t n)
{
	uint64_t at = raw_next(file, n, i->end);

	return at == n || (raw_may_start(i, at) && raw_magic(file + at, n - at));
}

/* To the next profile in the file, or to its end. */
static void skip_values(struct raw_image *i, const uint8_t *file, size_t n)
{
	while (i->end < n && !raw_magic(file + i->end, n - i->end))
		i->end = n - i->end < 8 ? n : i->end + 8;
}

/* The value data follow the sections, one block for each record with value sites. */
int raw_values_check(struct raw_image *i, const uint8_t *file, size_t n, struct error *err)
{
	const struct layout *l = i->layout;
	struct reader r = reader_of(file, n);

	r.big = i->big;
	r.off = i->end;
	if (i->mixed)
		skip_values(i, file, n);
	i->values_missing = l->n_valued && (i->mixed || no_values(i, file, n));
	if (i->values_missing)
		return 0;
	for (size_t k = 0; k < l->n_valued; k++) {
		const struct valued *v = &l->valued[k];
		uint64_t off = r.off;
		struct value_block b;

		if (value_block_read(&r, &b, err) < 0)
			return error_context(err, "'%s'", v->record->key->name);
		if (memcmp(b.n_sites, v->n_sites, sizeof(b.n_sites)) != 0)
			return error_set(err, ERR_CORRUPT,
				"'%s' has %u, %u and %u value sites in its data record, but %u, "
				"%u and %u in its value data",
				v->record->key->name, v->n_sites[0], v->n_sites[1], v->n_sites[2],
				b.n_sites[0], b.n_sites[1], b.n_sites[2]);
		if (!b.filled)
			continue;
		array_reserve(i->filled, i->n_filled, i->cap_filled);
		i->filled[i->n_filled++] = (struct values_at){k, off};
	}
	i->end = r.off;
	return 0;
}

static uint64_t map_function(const struct raw_image *i, uint64_t value)
{
	const struct address *v = i->own_addresses ? i->own_addresses : i->layout->addresses;
	size_t n = i->own_addresses ? i->n_own_addresses : i->layout->n_addresses;
	uint64_t at = i->own_addresses ? value : value - i->bias;
	size_t lo = 0;

	while (n > 0) {
		size_t half = n / 2;

		if (v[lo + half].at < at) {
			lo += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	/* lo is the first entry not below, if there is one */
	n = i->own_addresses ? i->n_own_addresses : i->layout->n_addresses;
	return lo < n && v[lo].at == at ? v[lo].ref : 0;
}

static int range_compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->ref < y->ref ? -1 : x->ref > y->ref;
}

void raw_ranges_build(struct raw_image *i)
{
	unsigned width = i->ptr == 8 ? 24 : 16, size_at = i->ptr == 8 ? 16 : 12;

	if (!i->n_vtables)
		return;
	i->vtable_ranges = xreallocarray(NULL, i->n_vtables, sizeof(*i->vtable_ranges));
	for (uint64_t k = 0; k < i->n_vtables; k++) {
		const uint8_t *p = i->vtables + k * width;

		i->vtable_ranges[k] = (struct range){raw_field(i, p + 8, i->ptr),
			raw_field(i, p + size_at, 4), raw_field(i, p, 8)};
	}
	qsort(i->vtable_ranges, i->n_vtables, sizeof(*i->vtable_ranges), range_compare);
}

static uint64_t map_vtable(const struct raw_image *i, uint64_t value)
{
	const struct range *v = i->vtable_ranges;
	size_t lo = 0, hi = i->n_vtables;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (v[mid].start <= value)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && value - v[lo - 1].start < v[lo - 1].size ? v[lo - 1].ref : 0;
}

uint64_t raw_value(const void *image, int kind, uint64_t value)
{
	switch (kind) {
	case VALUE_INDIRECT_CALL:
		return map_function(image, value);
	case VALUE_VTABLE:
		return map_vtable(image, value);
	default:
		return value;
	}
}

struct call {
	uint64_t time, ref;
};

static int call_compare(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->ref < y->ref ? -1 : x->ref > y->ref;
}

void raw_trace_add(struct profile *p, const struct raw_image *i, uint64_t weight)
{
	const struct layout *l = i->layout;
	struct call *v = xreallocarray(NULL, l->n + 1, sizeof(*v));
	uint64_t *refs = xreallocarray(NULL, l->n + 1, sizeof(*refs));
	size_t n = 0;

	for (size_t k = 0; k < l->n; k++) {
		uint64_t time;

		if (!l->v[k].timed)
			continue;
		time = raw_field(i, i->counters + l->v[k].counters - TIMESTAMP, TIMESTAMP);
		if (time != 0 && time != UINT64_MAX)
			v[n++] = (struct call){time, l->v[k].record->key->ref};
	}
	qsort(v, n, sizeof(*v), call_compare);
	for (size_t k = 0; k < n; k++)
		refs[k] = v[k].ref;
	profile_add_trace(p, weight, refs, n);
	profile_count_traces(p, n != 0);
	free(v);
	free(refs);
}
