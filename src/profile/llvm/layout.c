/* Layouts: what one raw image's data records mean, resolved to the merged records once. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "profile/llvm/raw.h"

/* Value sites that are believed before their data are seen; each costs some bytes of memory. */
#define SITES_UNPROVEN (1u << 18)

static const uint8_t *record_at(const struct raw_image *i, uint64_t k)
{
	return i->data + k * i->shape.size;
}

/* An offset in a section, from a pointer field: pointers are relative to the record itself since
 * version 8, and absolute before. */
static uint64_t section_offset(
	const struct raw_image *i, uint64_t pointer, uint64_t delta, uint64_t k)
{
	uint64_t v = pointer - delta;

	if (i->version >= 8)
		v += k * i->shape.size;
	return i->ptr == 4 ? (uint64_t)(int64_t)(int32_t)v : v;
}

/* What is relative to the record itself is the same in every process; version 7 and older have
 * addresses, which move. */
static bool same_header(const struct raw_image *a, const struct raw_image *b)
{
	return a->version == b->version && a->flags == b->flags && a->big == b->big &&
	       a->ptr == b->ptr && a->n_data == b->n_data && a->n_counters == b->n_counters &&
	       a->bitmap_n == b->bitmap_n && a->names_n == b->names_n &&
	       (a->version < 8 || a->counters_delta == b->counters_delta) &&
	       (a->bitmap_n == 0 || a->bitmap_delta == b->bitmap_delta);
}

static struct record_mask mask_of(const struct raw_image *i)
{
	struct record_mask m = {.words = i->shape.size / 8};
	uint8_t *byte = (uint8_t *)m.word;

	memset(byte, 0xff, i->shape.size);
	memset(byte + i->shape.function_ptr, 0, i->shape.n_counters - i->shape.function_ptr);
	if (i->version < 8)
		memset(byte + 16, 0, i->ptr);
	if (i->shape.bitmap_ptr && i->bitmap_n == 0)
		memset(byte + i->shape.bitmap_ptr, 0, i->ptr);
	return m;
}

static inline uint64_t difference_of(
	const uint8_t *x, const uint8_t *y, const uint64_t *mask, unsigned words, size_t n)
{
	uint64_t all = 0;

	for (size_t k = 0; k < n; k++)
		for (unsigned w = 0; w < words; w++, x += 8, y += 8) {
			uint64_t a, b;

			memcpy(&a, x, 8);
			memcpy(&b, y, 8);
			all |= (a ^ b) & mask[w];
		}
	return all;
}

/* Zero when n records are equal. One loop for each size, so that the compiler unrolls it. */
static uint64_t difference(
	const uint8_t *x, const uint8_t *y, const struct record_mask *m, size_t n)
{
	switch (m->words) {
	case 8:
		return difference_of(x, y, m->word, 8, n);
	case 6:
		return difference_of(x, y, m->word, 6, n);
	default:
		return difference_of(x, y, m->word, m->words, n);
	}
}

/* Of images whose records hold addresses. */
static bool same_counter_offsets(const struct layout *l, const struct raw_image *i)
{
	for (uint64_t k = 0; k < l->n; k++)
		if (section_offset(&l->like,
			    raw_field(&l->like, record_at(&l->like, k) + 16, i->ptr),
			    l->like.counters_delta,
			    k) != section_offset(i, raw_field(i, record_at(i, k) + 16, i->ptr),
					  i->counters_delta, k))
			return false;
	return true;
}

#define RECORDS_AT_ONCE 256 /* as many as stay in the nearest cache */

/* The records must be equal but for the addresses of functions and value lists, which move with
 * the load address. All function addresses normally move alike, by *ret_bias. */
static bool same_records(const struct layout *l, const struct raw_image *i, uint64_t *ret_bias,
	bool *ret_moved_alike)
{
	const struct raw_image *like = &l->like;
	unsigned at = i->shape.function_ptr;
	uint64_t bias = 0, apart = 0;

	if (l->n_addresses)
		bias = raw_field(i, record_at(i, l->first_function) + at, i->ptr) -
		       raw_field(like, record_at(like, l->first_function) + at, i->ptr);
	if (i->version < 8 && !same_counter_offsets(l, i))
		return false;
	for (uint64_t k = 0; k < l->n;) {
		uint64_t end = l->n - k < RECORDS_AT_ONCE ? l->n : k + RECORDS_AT_ONCE;

		if (difference(record_at(like, k), record_at(i, k), &l->mask, end - k))
			return false;
		for (; k < end; k++) {
			uint64_t x = raw_field(like, record_at(like, k) + at, i->ptr);

			apart |= raw_field(i, record_at(i, k) + at, i->ptr) ^ (x ? x + bias : 0);
		}
	}
	*ret_bias = bias;
	*ret_moved_alike = apart == 0;
	return true;
}

struct layout *layout_match(struct layout *first, struct raw_image *i)
{
	for (struct layout *l = first; l; l = l->next) {
		bool alike;

		if (!same_header(&l->like, i) || memcmp(l->like.names, i->names, i->names_n) != 0 ||
			!same_records(l, i, &i->bias, &alike))
			continue;
		if (!alike)
			addresses_build(i, &i->own_addresses, &i->n_own_addresses);
		return l;
	}
	return NULL;
}

static int address_compare(const void *a, const void *b)
{
	const struct address *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->ref < y->ref ? -1 : x->ref > y->ref;
}

void addresses_build(const struct raw_image *i, struct address **ret, size_t *ret_n)
{
	struct address *v = xreallocarray(NULL, i->n_data + 1, sizeof(*v));
	size_t n = 0, m = 0;

	for (uint64_t k = 0; k < i->n_data; k++) {
		const uint8_t *p = record_at(i, k);
		uint64_t at = raw_field(i, p + i->shape.function_ptr, i->ptr);

		if (at)
			v[n++] = (struct address){at, raw_field(i, p, 8)};
	}
	qsort(v, n, sizeof(*v), address_compare);
	for (size_t k = 0; k < n; k++)
		if (m == 0 || v[m - 1].at != v[k].at)
			v[m++] = v[k];
	*ret = v;
	*ret_n = m;
}

static int check_offsets(const struct raw_image *i, uint64_t k, const struct layout_record *e,
	const uint64_t need[2], struct error *err)
{
	if (e->counters > i->counters_n || need[0] > i->counters_n - e->counters)
		return error_set(err, ERR_CORRUPT,
			"data record %" PRIu64 " has counters from byte %" PRId64 " to %" PRId64
			" of the counter section, which has %" PRIu64 " bytes",
			k, (int64_t)e->counters, (int64_t)(e->counters + need[0]), i->counters_n);
	if (need[1] && (e->bitmap > i->bitmap_n || need[1] > i->bitmap_n - e->bitmap))
		return error_set(err, ERR_CORRUPT,
			"data record %" PRIu64 " has bitmap bytes from %" PRId64 " to %" PRId64
			" of the bitmap section, which has %" PRIu64 " bytes",
			k, (int64_t)e->bitmap, (int64_t)(e->bitmap + need[1]), i->bitmap_n);
	return 0;
}

struct builder {
	struct profile *p;
	const struct raw_image *i;
	struct names names;
	struct layout *l;
	uint64_t counters, bitmap, sites; /* sums over the records so far */
};

static int check_claims(const struct builder *b, uint64_t k, struct error *err)
{
	const struct raw_image *i = b->i;

	/* Records that share counters over and over would cost memory that the file does not. */
	if (b->counters / 4 > i->n_counters || b->bitmap / 4 > i->bitmap_n)
		return error_set(err, ERR_CORRUPT,
			"data records up to %" PRIu64 " claim %" PRIu64
			" counters; the section has %" PRIu64,
			k, b->counters, i->n_counters);
	if (b->sites > SITES_UNPROVEN && b->sites > i->values_n && b->sites > i->n_counters)
		return error_set(err, ERR_CORRUPT,
			"data records up to %" PRIu64 " have %" PRIu64 " value sites; only %" PRIu64
			" bytes of value data follow",
			k, b->sites, i->values_n);
	return 0;
}

static int build_record(struct builder *b, uint64_t k, struct error *err)
{
	const struct raw_image *i = b->i;
	const uint8_t *p = record_at(i, k);
	struct layout_record *e = &b->l->v[k];
	struct record_shape s = {.hash = raw_field(i, p + 8, 8)};
	uint64_t ref = raw_field(i, p, 8), sites = 0;
	uint64_t n = raw_field(i, p + i->shape.n_counters, 4), skip = 0;
	const struct name *name = names_find(&b->names, ref);
	unsigned width = i->flags & FLAG_BYTE_COVERAGE ? 1 : 8;

	if (!name)
		return error_set(err, ERR_CORRUPT,
			"data record %" PRIu64 " refers to name 0x%016" PRIx64
			", which the names section does not hold",
			k, ref);
	if (n == 0)
		return error_set(err, ERR_CORRUPT,
			"data record %" PRIu64 " ('%.*s') has no counters", k, (int)name->n,
			name->p);
	e->counters = section_offset(i, raw_field(i, p + 16, i->ptr), i->counters_delta, k);
	if (i->shape.bitmap_ptr) {
		e->bitmap = section_offset(
			i, raw_field(i, p + i->shape.bitmap_ptr, i->ptr), i->bitmap_delta, k);
		s.n_bitmap = (uint32_t)raw_field(i, p + i->shape.n_bitmap, 4);
	}
	if (check_offsets(i, k, e, (uint64_t[]){n * width, s.n_bitmap}, err) < 0)
		return -1;
	if (i->flags & FLAG_TEMPORAL) {
		skip = TIMESTAMP / width;
		e->timed = n >= skip; /* function entries in one byte have none */
		skip = e->timed ? skip : n;
		e->counters += skip * width;
	}
	s.n_counts = (uint32_t)(n - skip);
	for (int v = 0; v < i->shape.kinds; v++)
		sites += s.n_sites[v] =
			(uint32_t)raw_field(i, p + i->shape.n_sites + 2 * (size_t)v, 2);
	b->counters += n;
	b->bitmap += s.n_bitmap;
	b->sites += sites;
	if (check_claims(b, k, err) < 0)
		return -1;
	e->record = profile_resolve(b->p, name->p, name->n, ref, &s, err);
	if (!e->record)
		return -1;
	if (sites) {
		struct valued *v = &b->l->valued[b->l->n_valued++];

		v->record = e->record;
		v->index = (uint32_t)k;
		memcpy(v->n_sites, s.n_sites, sizeof(v->n_sites));
	}
	return 0;
}

/* When every record is new and the counters lie in the order of the records, the merged counts get
 * the same order in one piece, so that a later image is added by one loop. */
static void build_block(struct builder *b, size_t first_new)
{
	struct layout *l = b->l;
	const struct raw_image *i = b->i;
	uint64_t end = 0;

	if (b->p->n_records - first_new != l->n ||
		(i->flags & (FLAG_BYTE_COVERAGE | FLAG_TEMPORAL)) || i->big)
		return;
	for (size_t k = 0; k < l->n; k++) {
		if (l->v[k].counters < end || l->v[k].counters % 8)
			return;
		end = l->v[k].counters + 8 * (uint64_t)l->v[k].record->n_counts;
	}
	l->block = arena_zalloc(&b->p->arena, i->counters_n);
	for (size_t k = 0; k < l->n; k++)
		l->v[k].record->counts = l->block + l->v[k].counters / 8;
}

static void keep_copy(struct builder *b)
{
	struct raw_image *like = &b->l->like;
	struct address *addresses;
	size_t n = b->i->n_data * b->i->shape.size;
	uint8_t *copy = arena_alloc(&b->p->arena, n + b->i->names_n);

	*like = *b->i;
	memcpy(copy, b->i->data, n);
	memcpy(copy + n, b->i->names, b->i->names_n);
	like->data = copy;
	like->names = copy + n;
	like->layout = NULL;
	addresses_build(like, &addresses, &n);
	b->l->addresses = arena_alloc(&b->p->arena, n * sizeof(*addresses));
	memcpy(b->l->addresses, addresses, n * sizeof(*addresses));
	b->l->n_addresses = n;
	free(addresses);
	b->l->mask = mask_of(like);
	while (n &&
		!raw_field(like, record_at(like, b->l->first_function) + like->shape.function_ptr,
			like->ptr))
		b->l->first_function++;
}

static size_t count_valued(const struct raw_image *i)
{
	size_t n = 0;

	for (uint64_t k = 0; k < i->n_data; k++) {
		const uint8_t *sites = record_at(i, k) + i->shape.n_sites;
		uint64_t any = 0;

		for (int v = 0; v < i->shape.kinds; v++)
			any |= raw_field(i, sites + 2 * (size_t)v, 2);
		n += any != 0;
	}
	return n;
}

struct layout *layout_build(struct profile *p, const struct raw_image *i, struct error *err)
{
	struct builder b = {.p = p, .i = i};
	size_t first_new = p->n_records;
	int rc = 0;

	if (i->n_data > UINT32_MAX) {
		error_set(err, ERR_UNSUPPORTED, "%" PRIu64 " data records are more than whet reads",
			i->n_data);
		return NULL;
	}
	if (names_read(&b.names, i->names, i->names_n, err) < 0)
		return NULL;
	b.l = arena_zalloc(&p->arena, sizeof(*b.l));
	b.l->n = i->n_data;
	b.l->v = arena_zalloc(&p->arena, i->n_data * sizeof(*b.l->v));
	b.l->valued = arena_alloc(&p->arena, count_valued(i) * sizeof(*b.l->valued));
	for (uint64_t k = 0; k < i->n_data && rc == 0; k++)
		rc = build_record(&b, k, err);
	names_release(&b.names);
	if (rc < 0)
		return NULL;
	build_block(&b, first_new);
	keep_copy(&b);
	b.l->next = p->layouts;
	p->layouts = b.l;
	return b.l;
}
