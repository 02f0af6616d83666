#include "profile/raw_write.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "profile/llvm/raw.h"

#define MAGIC 0xff6c70726f667281ULL
#define SMALL 48
#define LARGE 64
#define VTABLE 24

static const size_t sizes[2] = {SMALL, LARGE};

static size_t pad8(size_t n)
{
	return -n & 7;
}

static uint64_t field(const uint8_t *p, unsigned width)
{
	uint64_t v = 0;

	memcpy(&v, p, width);
	return v;
}

void raw_records_release(struct raw_records *r)
{
	free(r->at[0]);
	free(r->at[1]);
	*r = (struct raw_records){0};
}

/* ---- finding the records ------------------------------------------------------------------- */

struct search {
	const struct raw_sections *s;
	struct names names;
	struct raw_records r;
	size_t cap[2];
};

static bool known(const struct search *f, size_t at)
{
	return at + 8 <= f->s->data.n && names_find(&f->names, field(f->s->data.p + at, 8));
}

static void add_record(struct search *f, int kind, size_t at)
{
	array_reserve(f->r.at[kind], f->r.n[kind], f->cap[kind]);
	f->r.at[kind][f->r.n[kind]++] = (uint32_t)at;
}

static bool all_of(struct search *f, int kind)
{
	size_t n = f->s->data.n;

	if (n % sizes[kind])
		return false;
	for (size_t at = 0; at < n; at += sizes[kind])
		if (!known(f, at))
			return false;
	for (size_t at = 0; at < n; at += sizes[kind])
		add_record(f, kind, at);
	return true;
}

/* Whether a record of this size can stand here: its counters are in their section, and the next
 * record or the end follows. */
static bool fits(const struct search *f, int kind, size_t at)
{
	const struct raw_sections *s = f->s;
	const uint8_t *p = s->data.p + at;
	uint64_t counters, n, width = s->version & FLAG_BYTE_COVERAGE ? 1 : 8;

	if (at + sizes[kind] > s->data.n)
		return false;
	counters = field(p + 16, 8) + s->data.at + at - s->counters.at;
	n = field(p + (kind ? 48 : 40), 4) * width;
	return n && counters <= s->counters.n && n <= s->counters.n - counters &&
	       (at + sizes[kind] == s->data.n || known(f, at + sizes[kind]));
}

static int walk(struct search *f, struct error *err)
{
	for (size_t at = 0; at < f->s->data.n;) {
		int kind = !known(f, at) ? -1 : fits(f, 1, at) ? 1 : fits(f, 0, at) ? 0 : -1;

		if (kind < 0)
			return error_set(err, ERR_CORRUPT,
				"its data section holds no record that whet knows at byte %zu of "
				"%zu (name 0x%016" PRIx64 ")",
				at, f->s->data.n,
				at + 8 <= f->s->data.n ? field(f->s->data.p + at, 8) : 0);
		add_record(f, kind, at);
		at += sizes[kind];
	}
	return 0;
}

int raw_records_find(const struct raw_sections *s, struct raw_records *ret, struct error *err)
{
	struct search f = {.s = s};
	int likely = (s->version & VERSION_MASK) != 8, rc = 0;

	if (s->data.n > UINT32_MAX)
		return error_set(err, ERR_UNSUPPORTED,
			"its data section of %zu bytes is larger than whet reads", s->data.n);
	if (names_read(&f.names, s->names.p, s->names.n, err) < 0)
		return -1;
	if (!all_of(&f, likely) && !all_of(&f, !likely))
		rc = walk(&f, err);
	names_release(&f.names);
	if (rc < 0) {
		raw_records_release(&f.r);
		return -1;
	}
	*ret = f.r;
	return 0;
}

/* Versions 9 and 10 have records of one size, which differ in where bitmap bytes are counted. */
static uint32_t version_of(const struct raw_sections *s, const struct raw_records *r, int kind)
{
	uint32_t version = (uint32_t)(s->version & VERSION_MASK);

	if (kind == 0)
		return 8;
	if (version == 9 || version == 10)
		return version;
	for (size_t k = 0; k < r->n[1] && s->bitmap.n && !s->vtables.n; k++) {
		const uint8_t *p = s->data.p + r->at[1][k];

		if (field(p + 56, 4) && !field(p + 60, 4))
			return 9;
	}
	return 10;
}

/* ---- value lists ---------------------------------------------------------------------------- */

static size_t sites_of(
	const struct raw_shape *shape, const uint8_t *record, uint32_t n[VALUE_KINDS])
{
	size_t sum = 0;

	for (int kind = 0; kind < VALUE_KINDS; kind++) {
		n[kind] = kind < shape->kinds
				  ? (uint32_t)field(record + shape->n_sites + 2 * kind, 2)
				  : 0;
		sum += n[kind];
	}
	return sum;
}

static uint64_t heads_of(const struct raw_shape *shape, const uint8_t *record)
{
	return field(record + shape->function_ptr + 8, 8);
}

void raw_lists_each(
	const struct raw_sections *s, const struct raw_records *r, raw_lists *fn, void *ctx)
{
	for (int kind = 0; kind < 2; kind++) {
		struct raw_shape shape;
		uint32_t n[VALUE_KINDS];

		if (!raw_shape_of(version_of(s, r, kind), 8, &shape))
			continue;
		for (size_t k = 0; k < r->n[kind]; k++) {
			const uint8_t *p = s->data.p + r->at[kind][k];
			size_t sites = sites_of(&shape, p, n);

			if (sites && heads_of(&shape, p))
				fn(ctx, heads_of(&shape, p), sites);
		}
	}
}

/* ---- writing -------------------------------------------------------------------------------- */

struct image {
	struct buf *out;
	const struct raw_sections *s;
	struct raw_shape shape;
	uint32_t version;
	const uint32_t *at; /* its records in the data section */
	size_t n;
	bool whole; /* they are all that the section has */
	raw_look *look;
	const void *ctx;
};

static void put(struct buf *out, uint64_t v, unsigned width)
{
	buf_add(out, &v, width);
}

static void put_padded(struct buf *out, const void *p, size_t n)
{
	static const uint8_t zero[8];

	buf_add(out, p, n);
	buf_add(out, zero, pad8(n));
}

static void put_header(const struct image *i)
{
	const struct raw_sections *s = i->s;
	size_t width = s->version & FLAG_BYTE_COVERAGE ? 1 : 8;
	uint64_t h[16] = {MAGIC, i->version | (s->version & ~VERSION_MASK), s->ids_n, i->n, 0,
		s->counters.n / width, pad8(s->counters.n)};
	size_t n = 7;

	if (i->version >= 9) {
		h[n++] = s->bitmap.n;
		h[n++] = pad8(s->bitmap.n);
	}
	h[n++] = s->names.n;
	h[n++] = s->counters.at - s->data.at;
	if (i->version >= 9)
		h[n++] = s->bitmap.at - s->data.at;
	h[n++] = s->names.at;
	if (i->version >= 10) {
		h[n++] = (s->vtables.n + VTABLE - 1) / VTABLE;
		h[n++] = s->vtable_names.n;
	}
	h[n++] = i->shape.kinds - 1U;
	buf_add(i->out, h, n * sizeof(*h));
}

/* Pointers of a record are relative to where it stands, which changes when others are left out. */
static void put_record(const struct image *i, size_t k)
{
	uint8_t record[LARGE];
	uint64_t moved = i->at[k] - (uint64_t)k * i->shape.size, p;

	memcpy(record, i->s->data.p + i->at[k], i->shape.size);
	p = field(record + 16, 8) + moved;
	memcpy(record + 16, &p, 8);
	if (i->shape.bitmap_ptr) {
		p = field(record + i->shape.bitmap_ptr, 8) + moved;
		memcpy(record + i->shape.bitmap_ptr, &p, 8);
	}
	buf_add(i->out, record, i->shape.size);
}

static void put_sections(const struct image *i)
{
	const struct raw_sections *s = i->s;

	buf_add(i->out, s->ids, s->ids_n);
	if (i->whole)
		buf_add(i->out, s->data.p, s->data.n);
	for (size_t k = 0; k < i->n && !i->whole; k++)
		put_record(i, k);
	put_padded(i->out, s->counters.p, s->counters.n);
	if (i->version >= 9)
		put_padded(i->out, s->bitmap.p, s->bitmap.n);
	put_padded(i->out, s->names.p, s->names.n);
	if (i->version >= 10) {
		put_padded(i->out, s->vtables.p, s->vtables.n);
		put_padded(i->out, s->vtable_names.p, s->vtable_names.n);
	}
}

static const uint8_t *node_at(const struct image *i, uint64_t at, struct error *err)
{
	const uint8_t *p = i->look(i->ctx, at, RAW_NODE);

	if (!p)
		error_set(err, ERR_CORRUPT,
			"a value list leads to address 0x%" PRIx64 ", which was not read", at);
	return p;
}

/* Adds how many values each list has; only so many are written, however long it is. */
static int put_lengths(const struct image *i, const uint8_t *heads, uint32_t n, struct error *err)
{
	for (uint32_t k = 0; k < n; k++) {
		uint64_t at = heads ? field(heads + 8 * (size_t)k, 8) : 0;
		unsigned length = 0;

		while (at && length < SITE_MAX) {
			const uint8_t *p = node_at(i, at, err);

			if (!p)
				return -1;
			length++;
			at = field(p + RAW_NODE_NEXT, 8);
		}
		put(i->out, length, 1);
	}
	return 0;
}

static int put_kind(
	const struct image *i, unsigned kind, const uint8_t *heads, uint32_t n, struct error *err)
{
	static const uint8_t zero[8];

	put(i->out, kind, 4);
	put(i->out, n, 4);
	if (put_lengths(i, heads, n, err) < 0)
		return -1;
	buf_add(i->out, zero, pad8(8 + (size_t)n));
	for (uint32_t k = 0; k < n && heads; k++) {
		uint64_t at = field(heads + 8 * (size_t)k, 8);

		for (unsigned length = 0; at && length < SITE_MAX; length++) {
			const uint8_t *p = node_at(i, at, err);

			if (!p)
				return -1;
			buf_add(i->out, p, 16);
			at = field(p + RAW_NODE_NEXT, 8);
		}
	}
	return 0;
}

static int put_values(const struct image *i, size_t k, struct error *err)
{
	const uint8_t *record = i->s->data.p + i->at[k], *heads = NULL;
	uint32_t n[VALUE_KINDS], size, kinds = 0;
	size_t sites = sites_of(&i->shape, record, n), start = i->out->n;
	uint64_t at = heads_of(&i->shape, record);

	if (!sites)
		return 0;
	if (at && !(heads = i->look(i->ctx, at, 8 * sites)))
		return error_set(err, ERR_CORRUPT,
			"record %zu has value lists at address 0x%" PRIx64 ", which was not read",
			k, at);
	put(i->out, 0, 8);
	for (unsigned kind = 0; kind < VALUE_KINDS; kind++) {
		if (!n[kind])
			continue;
		kinds++;
		if (put_kind(i, kind, heads, n[kind], err) < 0)
			return -1;
		heads += heads ? 8 * (size_t)n[kind] : 0;
	}
	if (buf_failed(i->out))
		return 0;
	size = (uint32_t)(i->out->n - start);
	memcpy(i->out->p + start, &size, 4);
	memcpy(i->out->p + start + 4, &kinds, 4);
	return 0;
}

static int put_image(const struct image *i, struct error *err)
{
	put_header(i);
	put_sections(i);
	for (size_t k = 0; k < i->n; k++)
		if (put_values(i, k, err) < 0)
			return -1;
	return 0;
}

int raw_write(struct buf *out, const struct raw_sections *s, const struct raw_records *r,
	raw_look *look, const void *ctx, struct error *err)
{
	for (int kind = 1; kind >= 0; kind--) {
		struct image i = {.out = out,
			.s = s,
			.version = version_of(s, r, kind),
			.at = r->at[kind],
			.n = r->n[kind],
			.whole = !r->n[!kind],
			.look = look,
			.ctx = ctx};

		if (!i.n)
			continue;
		if (!raw_shape_of(i.version, 8, &i.shape))
			return error_set(
				err, ERR_INTERNAL, "raw version %u has no shape", i.version);
		if (put_image(&i, err) < 0)
			return -1;
	}
	if (buf_failed(out))
		return error_set(err, ERR_UNSUPPORTED,
			"the raw profile would be larger than whet writes (%zu bytes)",
			out->max ? out->max : BUF_MAX_DEFAULT);
	return 0;
}
