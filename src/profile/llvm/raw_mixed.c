/* A data section in which records of two sizes lie: objects of an LLVM up to 17 and of a newer one
 * in one program, without whet's wrapper, which keeps them apart. The runtime took the section for
 * an array of its own records, so its number of records is that of the bytes, rounded up, and what
 * it wrote of values belongs to nothing. Such a program mostly dies while it writes them.
 *
 * A record begins with the reference to a name that the profile holds, and the next one begins
 * where it ends. The section is read only if there is exactly one way to divide it like that. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/llvm/raw.h"

enum { NARROW, WIDE, WIDTHS };

struct division {
	const struct raw_image *i;
	struct raw_shape shapes[WIDTHS];
	struct names names;
	uint64_t bytes; /* of the section as the header has it, up to a record too long */
	/* For each multiple of 8: how often the rest can be divided from a record there on: 0, 1,
	 * or 2 for more. */
	uint8_t *ways;
};

/* Whether the section may end there: the header's records are not more than what makes it up. */
static bool is_end(const struct division *d, uint64_t at)
{
	return at <= d->bytes && d->bytes - at < d->i->shape.size;
}

static bool is_record(const struct division *d, uint64_t at)
{
	return at < d->bytes && d->ways[at / 8];
}

static uint64_t field(const struct division *d, uint64_t at, unsigned offset, unsigned width)
{
	return raw_field(d->i, d->i->data + at + offset, width);
}

/* The offset of its counters in their section: the pointer is relative to the record. */
static uint64_t counters_of(const struct division *d, uint64_t at)
{
	uint64_t v = field(d, at, 16, d->i->ptr) - d->i->counters_delta + at;

	return d->i->ptr == 4 ? (uint64_t)(int64_t)(int32_t)v : v;
}

/* Whether what lies there makes sense as a record of this shape. */
static bool may_be(const struct division *d, uint64_t at, const struct raw_shape *s)
{
	uint64_t counters, n, sites = 0;

	if (d->bytes - at < s->size)
		return false;
	counters = counters_of(d, at);
	n = field(d, at, s->n_counters, 4);
	if (!n || counters % 8 || counters > d->i->counters_n ||
		n > (d->i->counters_n - counters) / 8)
		return false;
	for (unsigned k = 0; k < s->kinds; k++)
		sites += field(d, at, s->n_sites + 2 * k, 2);
	/* a list of values belongs to sites */
	if (!sites && field(d, at, s->function_ptr + d->i->ptr, d->i->ptr))
		return false;
	return !s->bitmap_ptr || d->i->bitmap_n || !field(d, at, s->n_bitmap, 4);
}

static unsigned ways_at(const struct division *d, uint64_t at)
{
	return is_record(d, at) ? d->ways[at / 8] : is_end(d, at);
}

/* From the end to the front: a way from here is a record and a way from where it ends. */
static void count_ways(struct division *d)
{
	for (uint64_t at = d->bytes / 8 * 8; at > 0;) {
		unsigned n = 0;

		at -= 8;
		if (!names_find(&d->names, field(d, at, 0, 8)))
			continue;
		for (int w = 0; w < WIDTHS; w++)
			if (may_be(d, at, &d->shapes[w]))
				n += ways_at(d, at + d->shapes[w].size);
		d->ways[at / 8] = n > 1 ? 2 : (uint8_t)n;
	}
}

static void put(const struct raw_image *i, uint8_t *to, uint64_t v, unsigned width)
{
	for (unsigned k = 0; k < width; k++)
		to[i->big ? width - 1 - k : k] = (uint8_t)(v >> 8 * k);
}

/* The record in the wide form, as if it lay in an array of such. */
static void widen(
	const struct division *d, uint64_t at, const struct raw_shape *s, uint64_t k, uint8_t *to)
{
	const struct raw_image *i = d->i;
	const struct raw_shape *wide = &d->shapes[WIDE];
	const uint8_t *from = i->data + at;
	uint64_t moved = at - k * wide->size;

	memcpy(to, from, 16);
	put(i, to + 16, raw_field(i, from + 16, i->ptr) + moved, i->ptr);
	if (s->bitmap_ptr)
		put(i, to + wide->bitmap_ptr, raw_field(i, from + s->bitmap_ptr, i->ptr) + moved,
			i->ptr);
	memcpy(to + wide->function_ptr, from + s->function_ptr, 2 * (size_t)i->ptr);
	memcpy(to + wide->n_counters, from + s->n_counters, 4);
	memcpy(to + wide->n_sites, from + s->n_sites, 2 * (size_t)s->kinds);
	if (s->n_bitmap)
		memcpy(to + wide->n_bitmap, from + s->n_bitmap, 4);
}

static void convert(const struct division *d, struct raw_image *ret)
{
	const struct raw_shape *wide = &d->shapes[WIDE];
	uint8_t *v = xcalloc(d->bytes / d->shapes[NARROW].size + 1, wide->size);
	uint64_t k = 0;

	for (uint64_t at = 0; is_record(d, at); k++) {
		const struct raw_shape *s = &d->shapes[NARROW];

		if (!may_be(d, at, s) || !ways_at(d, at + s->size))
			s = wide;
		widen(d, at, s, k, v + k * wide->size);
		at += s->size;
	}
	ret->data = ret->own_data = v;
	ret->n_data = k;
	ret->shape = *wide;
	ret->mixed = true;
}

static int divide(struct division *d, struct raw_image *ret, struct error *err)
{
	unsigned n = d->bytes ? d->ways[0] : 0;

	if (n > 1)
		return error_set(err, ERR_CORRUPT,
			"data section of %" PRIu64 " bytes can be divided into records of %u and "
			"of %u bytes in more than one way: which functions ran cannot be told",
			d->bytes, d->shapes[NARROW].size, d->shapes[WIDE].size);
	if (n == 1)
		convert(d, ret);
	return n == 1;
}

int raw_mixed(struct raw_image *i, struct error *err)
{
	struct division d = {.i = i, .bytes = i->n_data * i->shape.size};
	int r;

	if (i->version < 8 || (i->flags & (FLAG_BYTE_COVERAGE | FLAG_TEMPORAL)) ||
		names_read(&d.names, i->names, i->names_n, NULL) < 0)
		return 0;
	raw_shape_of(8, i->ptr, &d.shapes[NARROW]);
	raw_shape_of(i->version > 8 ? i->version : 10, i->ptr, &d.shapes[WIDE]);
	d.ways = xcalloc(d.bytes / 8 + 1, 1);
	count_ways(&d);
	r = divide(&d, i, err);
	names_release(&d.names);
	free(d.ways);
	return r;
}
