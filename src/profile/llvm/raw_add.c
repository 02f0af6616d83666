/* Adding a raw file: check all of its images first, then add. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "profile/llvm/raw.h"

struct raw_images {
	struct raw_image *v;
	size_t n, cap;
};

static void images_free(struct raw_images *s)
{
	for (size_t k = 0; k < s->n; k++) {
		free(s->v[k].own_addresses);
		free(s->v[k].filled);
		free(s->v[k].vtable_ranges);
		free(s->v[k].own_data);
	}
	free(s->v);
}

/* Counters that large are never reached by counting. */
static int check_counters(const struct raw_image *i, struct error *err)
{
	const struct layout *l = i->layout;
	uint64_t all = 0;

	if (i->flags & FLAG_BYTE_COVERAGE)
		return 0;
	if (i->big)
		for (uint64_t k = 0; k < i->n_counters; k++)
			all |= raw_field(i, i->counters + 8 * k, 8);
	else
		all = counts_bits(i->counters, i->n_counters);
	if (all <= RAW_COUNT_MAX)
		return 0;
	for (size_t k = 0; k < l->n; k++) {
		const struct record *rec = l->v[k].record;

		for (uint32_t c = 0; c < rec->n_counts; c++) {
			uint64_t v =
				raw_field(i, i->counters + l->v[k].counters + 8 * (uint64_t)c, 8);

			if (v > RAW_COUNT_MAX)
				return error_set(err, ERR_CORRUPT,
					"counter %u of '%s' is %" PRIu64
					", which no program counts to: the file is damaged",
					c, rec->key->name, v);
		}
	}
	return 0;
}

static void add_id(void *ctx, const uint8_t *id, size_t n)
{
	profile_add_id(ctx, id, n);
}

static int find_layout(struct profile *p, struct raw_image *i, struct error *err)
{
	struct profile_mark mark = profile_mark(p);
	struct error own = ERROR_INIT;
	int mixed = 0;

	i->layout = layout_match(p->layouts, i);
	if (!i->layout)
		i->layout = layout_build(p, i, &own);
	if (!i->layout && own.code == ERR_CORRUPT) {
		profile_rollback(p, &mark);
		mixed = raw_mixed(i, err);
	}
	if (mixed > 0) {
		error_release(&own);
		i->layout = layout_match(p->layouts, i);
		if (!i->layout)
			i->layout = layout_build(p, i, &own);
	}
	if (!i->layout && mixed >= 0)
		return error_move(err, &own);
	error_release(&own);
	return i->layout ? 0 : -1;
}

static int check_image(
	struct profile *p, struct raw_image *i, const uint8_t *file, size_t n, struct error *err)
{
	if (build_ids_each(&i->ids, NULL, NULL, err) < 0 ||
		profile_join_flags(p, i->flags, i->n_data, err) < 0)
		return -1;
	if (find_layout(p, i, err) < 0 || check_counters(i, err) < 0 ||
		raw_values_check(i, file, n, err) < 0)
		return -1;
	raw_ranges_build(i);
	return build_ids_each(&i->ids, add_id, p, err);
}

static int check_file(
	struct profile *p, struct raw_images *s, const uint8_t *file, size_t n, struct error *err)
{
	uint64_t off = 0;

	do {
		struct raw_image i;

		if (raw_image_open(&i, file, n, off, err) < 0)
			return -1;
		array_reserve(s->v, s->n, s->cap);
		s->v[s->n++] = i;
		if (check_image(p, &s->v[s->n - 1], file, n, err) < 0)
			return s->n == 1 ? -1 : error_context(err, "image %zu", s->n);
		off = raw_next(file, n, s->v[s->n - 1].end);
		if (off < n && !raw_may_start(&s->v[s->n - 1], off))
			return error_set(err, ERR_CORRUPT,
				"no raw profile header at byte %" PRIu64
				": it must start at a multiple of 8",
				off);
	} while (off < n);
	return 0;
}

/* Counters that are not plain little-endian numbers are turned into such. */
static void add_converted(const struct raw_image *i, const struct layout_record *e, uint64_t weight)
{
	const uint8_t *p = i->counters + e->counters;

	for (uint32_t c = 0; c < e->record->n_counts; c++) {
		uint64_t v = i->flags & FLAG_BYTE_COVERAGE ? p[c] == 0
							   : raw_field(i, p + 8 * (size_t)c, 8);

		counts_add(&e->record->counts[c], (const uint8_t *)&v, 1, weight);
	}
}

struct adding {
	struct profile *p;
	const struct raw_image *i;
	struct reader file;
	struct value_map map;
	uint64_t weight;
};

/* Adds the k-th of the value blocks that hold any. */
static void add_values(struct adding *a, size_t k)
{
	const struct values_at *at = &a->i->filled[k];
	struct record *rec = a->i->layout->valued[at->valued].record;
	struct value_block b;

	a->file.off = at->off;
	if (value_block_read(&a->file, &b, NULL) == 0)
		value_block_add(&a->p->arena, rec, &b, a->i->big, &a->map, a->weight);
}

/* A record may be there twice, and must know at the second time that it was added to. */
static void add_records(struct adding *a)
{
	const struct raw_image *i = a->i;
	const struct layout *l = i->layout;
	bool plain = !i->big && !(i->flags & FLAG_BYTE_COVERAGE);
	size_t filled = 0;

	for (size_t k = 0; k < l->n; k++) {
		const struct layout_record *e = &l->v[k];
		struct record *rec = e->record;

		if (!l->block && plain)
			counts_add(
				rec->counts, i->counters + e->counters, rec->n_counts, a->weight);
		else if (!l->block)
			add_converted(i, e, a->weight);
		for (uint32_t m = 0; m < rec->n_bitmap; m++)
			rec->bitmap[m] |= i->bitmap[e->bitmap + m];
		if (filled < i->n_filled && l->valued[i->filled[filled].valued].index == k)
			add_values(a, filled++);
		rec->adds++;
	}
}

static void add_image(struct profile *p, const struct raw_image *i, const uint8_t *file, size_t n,
	uint64_t weight)
{
	struct layout *l = i->layout;
	struct adding a = {p, i, reader_of(file, n), {raw_value, i}, weight};

	a.file.big = i->big;
	if (l->block)
		counts_add(l->block, i->counters, i->n_counters, weight);
	/* A record counts whether it was added to, and whether more than once. After that only
	 * those with values are to be looked at. */
	if (!l->block || l->adds < 2 || i->bitmap_n)
		add_records(&a);
	else
		for (size_t k = 0; k < i->n_filled; k++)
			add_values(&a, k);
	if (l->adds < 2)
		l->adds++;
	if (i->flags & FLAG_TEMPORAL)
		raw_trace_add(p, i, weight);
}

static void hex_of_first(void *ctx, const uint8_t *id, size_t n)
{
	char **to = ctx;
	char *s;

	if (*to)
		return;
	s = xmalloc(2 * n + 1);
	for (size_t i = 0; i < n; i++) {
		s[2 * i] = "0123456789abcdef"[id[i] >> 4];
		s[2 * i + 1] = "0123456789abcdef"[id[i] & 15];
	}
	s[2 * n] = 0;
	*to = s;
}

static bool executed(const struct raw_image *i, const struct layout_record *e)
{
	bool byte = i->flags & FLAG_BYTE_COVERAGE;
	const uint8_t *p = i->counters + e->counters;

	for (uint32_t c = 0; c < e->record->n_counts; c++)
		if (byte ? p[c] == 0 : raw_field(i, p + 8 * (size_t)c, 8) != 0)
			return true;
	return false;
}

static void describe(const struct raw_image *i, struct profile_images *to)
{
	struct profile_image d = {.version = i->version,
		.records = i->n_data,
		.counters = i->n_counters,
		.values_missing = i->values_missing,
		.mixed = i->mixed};

	if (!i->layout->names_sha256[0])
		sha256_of(i->names, i->names_n, i->layout->names_sha256);
	memcpy(d.names_sha256, i->layout->names_sha256, sizeof(d.names_sha256));
	build_ids_each(&i->ids, hex_of_first, &d.build_id, NULL);
	for (size_t k = 0; k < i->layout->n; k++)
		d.executed += executed(i, &i->layout->v[k]);
	array_reserve(to->v, to->n, to->cap);
	to->v[to->n++] = d;
}

int raw_add(struct profile *p, const uint8_t *data, size_t n, uint64_t weight,
	struct profile_images *images, struct error *err)
{
	struct profile_mark mark = profile_mark(p);
	struct raw_images s = {0};
	int rc = check_file(p, &s, data, n, err);

	if (rc < 0)
		profile_rollback(p, &mark);
	for (size_t k = 0; k < s.n && rc == 0; k++) {
		p->values_missing |= s.v[k].values_missing;
		p->mixed |= s.v[k].mixed;
		add_image(p, &s.v[k], data, n, weight);
		if (images)
			describe(&s.v[k], images);
	}
	images_free(&s);
	return rc;
}
