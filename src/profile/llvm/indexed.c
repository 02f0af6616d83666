/* Reading an indexed profile: header, summary, hash table payload. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "profile/llvm/blocks.h"

#define MAGIC 0x8169666f72706cffULL /* bytes ff "lprofi" 81 */
#define VERSION_MIN 4
#define VERSION_MAX 13
#define SUMMARY_FIELDS_MAX 64 /* far above the six that exist */

bool indexed_magic(const uint8_t *data, size_t n)
{
	struct reader r = reader_of(data, n);

	return rd_u64(&r) == MAGIC && !r.failed;
}

struct index {
	struct profile *p;
	struct reader r;
	uint32_t version;
	uint64_t flags, hash_offset, ids_offset, traces_offset;
	struct pending {
		struct record *record;
		const uint8_t *counts, *bitmap;
		struct value_block values;
	} *v;
	size_t n, cap;
};

static int read_header(struct index *x, struct error *err)
{
	struct reader *r = &x->r;
	uint64_t word, hash_type;

	rd_u64(r);
	word = rd_u64(r);
	rd_u64(r);
	hash_type = rd_u64(r);
	x->hash_offset = rd_u64(r);
	x->version = (uint32_t)(word & VERSION_MASK);
	x->flags = word & ~VERSION_MASK;
	if (r->failed)
		return error_set(err, ERR_CORRUPT, "header is cut off: the file ends at %zu", r->n);
	if (x->version < VERSION_MIN || x->version > VERSION_MAX)
		return error_set(err, ERR_UNSUPPORTED,
			"indexed version %u is not known; versions %d to %d are", x->version,
			VERSION_MIN, VERSION_MAX);
	if (hash_type != 0)
		return error_set(
			err, ERR_CORRUPT, "hash type is %" PRIu64 ", only 0 exists", hash_type);
	if (x->version >= 8)
		rd_u64(r); /* memory profile: dropped */
	if (x->version >= 9)
		x->ids_offset = rd_u64(r);
	if (x->version >= 10)
		x->traces_offset = rd_u64(r);
	if (x->version >= 12)
		rd_u64(r); /* vtable names: not needed to merge */
	if (r->failed)
		return error_set(err, ERR_CORRUPT, "header is cut off: the file ends at %zu", r->n);
	return 0;
}

static int skip_summary(struct index *x, struct error *err)
{
	size_t at = x->r.off;
	uint64_t fields = rd_u64(&x->r), cutoffs = rd_u64(&x->r);

	if (fields > SUMMARY_FIELDS_MAX || cutoffs > x->r.n / 24 ||
		!rd_bytes(&x->r, fields * 8 + cutoffs * 24))
		return error_set(err, ERR_CORRUPT,
			"summary at byte %zu has %" PRIu64 " fields and %" PRIu64
			" cutoffs, more than the file holds",
			at, fields, cutoffs);
	return 0;
}

static int read_record(struct index *x, struct reader *r, const char *name, size_t n, uint64_t ref,
	struct error *err)
{
	struct pending e = {0};
	struct record_shape s = {.hash = rd_u64(r)};
	uint64_t counts = rd_u64(r), bitmap = 0;

	if (counts <= r->n / 8)
		e.counts = rd_bytes(r, counts * 8);
	if (!e.counts)
		return error_set(err, ERR_CORRUPT, "record claims %" PRIu64 " counters", counts);
	if (x->version >= 11) {
		bitmap = rd_u64(r);
		e.bitmap = bitmap <= r->n / 8 ? rd_bytes(r, bitmap * 8) : NULL;
		if (!e.bitmap)
			return error_set(
				err, ERR_CORRUPT, "record claims %" PRIu64 " bitmap bytes", bitmap);
	}
	if (value_block_read(r, &e.values, err) < 0)
		return -1;
	s.n_counts = (uint32_t)counts;
	s.n_bitmap = (uint32_t)bitmap;
	memcpy(s.n_sites, e.values.n_sites, sizeof(s.n_sites));
	e.record = profile_resolve(x->p, name, n, ref, &s, err);
	if (!e.record)
		return -1;
	if (e.record->adds && counts) {
		uint64_t first;

		memcpy(&first, e.counts, 8);
		if ((first > COUNT_MAX) != (e.record->counts[0] > COUNT_MAX))
			return error_set(err, ERR_MISMATCH,
				"a pseudo count cannot be merged with a real one");
	}
	array_reserve(x->v, x->n, x->cap);
	x->v[x->n++] = e;
	return 0;
}

static int read_item(struct index *x, struct error *err)
{
	struct reader *r = &x->r;
	size_t at = r->off;
	uint64_t hash = rd_u64(r), key_n = rd_u64(r), data_n = rd_u64(r);
	const char *key = (const char *)rd_bytes(r, key_n);
	size_t data_at = r->off;
	struct reader in = *r;

	if (!key || key_n == 0 || memchr(key, 0, key_n) || data_n % 8 || !rd_bytes(r, data_n))
		return error_set(err, ERR_CORRUPT,
			"hash table item at byte %zu has a key of %" PRIu64
			" bytes and data of %" PRIu64 ", which do not fit or are not allowed",
			at, key_n, data_n);
	if (md5_name(key, key_n) != hash)
		return error_set(err, ERR_CORRUPT,
			"hash table item at byte %zu has a wrong hash for key '%.*s'", at,
			(int)(key_n < 200 ? key_n : 200), key);
	in.n = data_at + data_n;
	while (in.off < in.n)
		if (read_record(x, &in, key, key_n, hash, err) < 0)
			return error_context(err, "key '%.*s' at byte %zu",
				(int)(key_n < 200 ? key_n : 200), key, at);
	return 0;
}

static int read_table(struct index *x, struct error *err)
{
	struct reader table = x->r;
	uint64_t buckets, entries, read = 0;

	rd_seek(&table, x->hash_offset);
	buckets = rd_u64(&table);
	entries = rd_u64(&table);
	if (table.failed || x->hash_offset < x->r.off || buckets > table.n / 8 ||
		!rd_bytes(&table, buckets * 8))
		return error_set(err, ERR_CORRUPT,
			"hash table at byte %" PRIu64 " with %" PRIu64
			" buckets does not fit into the file (%zu bytes)",
			x->hash_offset, buckets, x->r.n);
	x->r.n = x->hash_offset;
	while (read < entries) {
		size_t at = x->r.off;
		uint16_t items = rd_u16(&x->r);

		if (x->r.failed || !items)
			return error_set(err, ERR_CORRUPT,
				"hash table holds %" PRIu64 " of %" PRIu64
				" entries; the next is missing at byte %zu",
				read, entries, at);
		for (uint16_t i = 0; i < items; i++, read++)
			if (read_item(x, err) < 0)
				return -1;
	}
	return 0;
}

static void add_id(void *ctx, const uint8_t *id, size_t n)
{
	profile_add_id(ctx, id, n);
}

static int read_ids(struct index *x, const uint8_t *data, size_t n, struct error *err)
{
	struct reader r = reader_of(data, n);
	uint64_t size;
	const uint8_t *p;

	if (x->version < 9)
		return 0;
	rd_seek(&r, x->ids_offset);
	size = rd_u64(&r);
	p = rd_bytes(&r, size);
	if (!p)
		return error_set(err, ERR_CORRUPT,
			"binary id section at byte %" PRIu64 " has %" PRIu64
			" bytes, but the file ends at %zu",
			x->ids_offset, size, n);
	return build_ids_each(&(struct build_ids){.p = p, .n = size}, add_id, x->p, err);
}

/* Moves behind the next trace; *ret_refs gets its unaligned references. */
static int next_trace(struct reader *r, uint64_t *weight, uint64_t *n, const uint8_t **ret_refs,
	struct error *err)
{
	size_t at = r->off;

	*weight = rd_u64(r);
	*n = rd_u64(r);
	*ret_refs = *n <= r->n / 8 ? rd_bytes(r, *n * 8) : NULL;
	if (!*ret_refs)
		return error_set(err, ERR_CORRUPT,
			"temporal trace at byte %zu has %" PRIu64
			" functions, but the file ends at %zu",
			at, *n, r->n);
	return 0;
}

/* Called twice: p is NULL while the file is being checked. */
static int read_traces(const struct index *x, const uint8_t *data, size_t size, struct profile *p,
	struct error *err)
{
	struct reader r = reader_of(data, size);
	uint64_t traces, stream, weight, n;
	const uint8_t *at;

	if (!(x->flags & FLAG_TEMPORAL) || x->version < 10)
		return 0;
	rd_seek(&r, x->traces_offset);
	traces = rd_u64(&r);
	stream = rd_u64(&r);
	if (r.failed)
		return error_set(err, ERR_CORRUPT,
			"temporal traces at byte %" PRIu64 " are cut off: the file ends at %zu",
			x->traces_offset, size);
	for (uint64_t i = 0; i < traces; i++) {
		auto_free uint64_t *refs = NULL;

		if (next_trace(&r, &weight, &n, &at, err) < 0)
			return -1;
		if (!p)
			continue;
		refs = xreallocarray(NULL, n + 1, sizeof(*refs));
		memcpy(refs, at, n * sizeof(*refs));
		profile_add_trace(p, weight, refs, n);
	}
	if (p)
		profile_count_traces(p, stream);
	return 0;
}

static int check(struct index *x, const uint8_t *data, size_t n, struct error *err)
{
	if (read_header(x, err) < 0 || skip_summary(x, err) < 0)
		return -1;
	if ((x->flags & FLAG_CS) && skip_summary(x, err) < 0)
		return -1;
	if (read_table(x, err) < 0 || read_ids(x, data, n, err) < 0)
		return -1;
	return read_traces(x, data, n, NULL, err);
}

static void add_pending(struct profile *p, const struct pending *e, uint64_t weight)
{
	record_add_counts(e->record, e->counts, weight);
	for (uint32_t i = 0; i < e->record->n_bitmap; i++)
		e->record->bitmap[i] |= e->bitmap[8 * (size_t)i];
	value_block_add(&p->arena, e->record, &e->values, false, NULL, weight);
	e->record->adds++;
}

int indexed_add(
	struct profile *p, const uint8_t *data, size_t n, uint64_t weight, struct error *err)
{
	struct profile_mark mark = profile_mark(p);
	struct index x = {.p = p, .r = reader_of(data, n)};
	int rc = check(&x, data, n, err);

	if (rc == 0)
		rc = profile_join_flags(p, x.flags, x.n, err);
	if (rc < 0)
		profile_rollback(p, &mark);
	for (size_t i = 0; i < x.n && rc == 0; i++)
		add_pending(p, &x.v[i], weight);
	if (rc == 0) {
		read_traces(&x, data, n, p, NULL);
		p->short_hashes |= x.n && x.version >= 13 && !(x.flags & FLAG_IR);
	}
	free(x.v);
	return rc;
}
