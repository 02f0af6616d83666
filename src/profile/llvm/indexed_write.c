/* Writing an indexed profile, byte for byte as llvm-profdata of the same index version does. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "profile/llvm/blocks.h"
#include "profile/llvm/summary.h"

#define MAGIC 0x8169666f72706cffULL
#define FE_HASH_MASK_V13 0x0fffffffffffffffULL

struct writer {
	const struct profile *p;
	uint32_t version;
	int kinds; /* value kinds that this version knows */
	uint64_t flags;
	struct key **keys; /* in ascending order */
	size_t n_keys;
	uint32_t *next; /* chains of the hash table: index + 1 of the next key */
	uint32_t *heads;
	size_t n_buckets;
	uint64_t *offsets; /* of the buckets in the file */
	uint8_t *at, *start;
};

static void put64(struct writer *w, uint64_t v)
{
	memcpy(w->at, &v, 8);
	w->at += 8;
}

/* Front-end hashes use 60 bits since index version 13, and readers go by the version. */
static uint64_t hash_mask(const struct writer *w)
{
	return w->version >= 13 && !(w->flags & FLAG_IR) ? FE_HASH_MASK_V13 : UINT64_MAX;
}

static size_t record_size(const struct writer *w, const struct record *r)
{
	size_t n = 16 + 8 * (size_t)r->n_counts + value_block_size(r, w->kinds);

	return w->version >= 11 ? n + 8 + 8 * (size_t)r->n_bitmap : n;
}

static size_t key_size(const struct writer *w, const struct key *k)
{
	size_t n = 0;

	for (const struct record *r = k->first; r; r = r->next)
		n += record_size(w, r);
	return n;
}

static void put_record(struct writer *w, const struct record *r)
{
	put64(w, r->hash & hash_mask(w));
	put64(w, r->n_counts);
	memcpy(w->at, r->counts, 8 * (size_t)r->n_counts);
	w->at += 8 * (size_t)r->n_counts;
	if (w->version >= 11) {
		put64(w, r->n_bitmap);
		for (uint32_t i = 0; i < r->n_bitmap; i++)
			put64(w, r->bitmap[i]);
	}
	w->at = value_block_write(r, w->kinds, w->at);
}

struct entry {
	const struct record *record;
	uint64_t hash; /* as it is written */
};

static int by_hash(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

/* The records of a key, ascending by hash; caller frees. */
static struct entry *records_of(const struct writer *w, const struct key *k, size_t *ret_n)
{
	struct entry *v;
	size_t n = 0;

	for (const struct record *r = k->first; r; r = r->next)
		n++;
	v = xreallocarray(NULL, n, sizeof(*v));
	n = 0;
	for (const struct record *r = k->first; r; r = r->next)
		v[n++] = (struct entry){r, r->hash & hash_mask(w)};
	qsort(v, n, sizeof(*v), by_hash);
	*ret_n = n;
	return v;
}

/* LLVM keeps the records of one key in a hash map and writes them in the map's order: 4 buckets
 * that become 64 with the third entry and double at three quarters; quadratic probing. There the
 * order of the inputs decides which of two hashes takes a bucket; here always the smaller. */
static size_t map_probe(const struct entry *buckets, size_t n, uint64_t hash)
{
	uint64_t x = hash * 0xbf58476d1ce4e5b9ULL;
	size_t i = (uint32_t)(x ^ x >> 31) & (n - 1);

	for (size_t step = 1; buckets[i].record; step++)
		i = (i + step) & (n - 1);
	return i;
}

static struct entry *map_order(const struct writer *w, const struct key *k, size_t *ret_n)
{
	size_t n = 4, n_records;
	auto_free struct entry *records = records_of(w, k, &n_records);
	struct entry *buckets = xcalloc(n, sizeof(*buckets));

	for (size_t used = 0; used < n_records; used++) {
		if ((used + 1) * 4 >= n * 3) {
			size_t bigger = n == 4 ? 64 : 2 * n;
			struct entry *to = xcalloc(bigger, sizeof(*to));

			for (size_t i = 0; i < n; i++)
				if (buckets[i].record)
					to[map_probe(to, bigger, buckets[i].hash)] = buckets[i];
			free(buckets);
			buckets = to;
			n = bigger;
		}
		buckets[map_probe(buckets, n, records[used].hash)] = records[used];
	}
	*ret_n = n;
	return buckets;
}

static void put_key(struct writer *w, const struct key *k)
{
	put64(w, k->ref);
	put64(w, k->n);
	put64(w, key_size(w, k));
	memcpy(w->at, k->name, k->n);
	w->at += k->n;
	if (k->first == k->last) {
		put_record(w, k->first);
	} else {
		size_t n;
		auto_free struct entry *order = map_order(w, k, &n);

		for (size_t i = 0; i < n; i++)
			if (order[i].record)
				put_record(w, order[i].record);
	}
}

static void push_front(struct writer *w, uint32_t *heads, size_t n_buckets, uint32_t key)
{
	size_t b = w->keys[key]->ref & (n_buckets - 1);

	w->next[key] = heads[b];
	heads[b] = key + 1;
}

static void rehash(struct writer *w, size_t n_buckets)
{
	uint32_t *heads = xcalloc(n_buckets, sizeof(*heads));

	for (size_t b = 0; b < w->n_buckets; b++) {
		uint32_t k = w->heads[b];

		while (k) {
			uint32_t after = w->next[k - 1];

			push_front(w, heads, n_buckets, k - 1);
			k = after;
		}
	}
	free(w->heads);
	w->heads = heads;
	w->n_buckets = n_buckets;
}

/* The chains come out as if the keys were inserted one by one into LLVM's table generator. */
static void build_table(struct writer *w)
{
	size_t n = w->n_keys, target = 1;

	w->next = xcalloc(n + 1, sizeof(*w->next));
	w->heads = NULL;
	w->n_buckets = 0;
	rehash(w, 64);
	for (size_t i = 0; i < n; i++) {
		if (4 * (i + 1) >= 3 * w->n_buckets)
			rehash(w, w->n_buckets * 2);
		push_front(w, w->heads, w->n_buckets, (uint32_t)i);
	}
	if (n > 2)
		while (target < n * 4 / 3 + 1)
			target *= 2;
	if (target != w->n_buckets)
		rehash(w, target);
	w->offsets = xcalloc(w->n_buckets, sizeof(*w->offsets));
}

static void put_payload(struct writer *w)
{
	for (size_t b = 0; b < w->n_buckets; b++) {
		uint16_t items = 0;

		if (!w->heads[b])
			continue;
		w->offsets[b] = (uint64_t)(w->at - w->start);
		for (uint32_t k = w->heads[b]; k; k = w->next[k - 1])
			items++;
		memcpy(w->at, &items, 2);
		w->at += 2;
		for (uint32_t k = w->heads[b]; k; k = w->next[k - 1])
			put_key(w, w->keys[k - 1]);
	}
	while ((w->at - w->start) % 8)
		*w->at++ = 0;
}

static int id_compare(const void *a, const void *b)
{
	const struct binary_id *x = a, *y = b;
	int c = memcmp(x->p, y->p, x->n < y->n ? x->n : y->n);

	return c ? c : (x->n > y->n) - (x->n < y->n);
}

static size_t ids_size(const struct profile *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_ids; i++)
		n += 8 + ((p->ids[i].n + 7) & ~(size_t)7);
	return n;
}

static void put_ids(struct writer *w)
{
	size_t n = w->p->n_ids;
	struct binary_id *ids = xreallocarray(NULL, n + 1, sizeof(*ids));

	if (n)
		memcpy(ids, w->p->ids, n * sizeof(*ids));
	qsort(ids, n, sizeof(*ids), id_compare);
	put64(w, ids_size(w->p));
	for (size_t i = 0; i < n; i++) {
		size_t padded = (ids[i].n + 7) & ~(size_t)7;

		put64(w, ids[i].n);
		memset(w->at, 0, padded);
		memcpy(w->at, ids[i].p, ids[i].n);
		w->at += padded;
	}
	free(ids);
}

static uint64_t flags_for(const struct profile *p, uint32_t version)
{
	uint64_t flags = version >= 12 ? p->flags : p->flags & ~FLAG_LOOP_ENTRIES;

	return version >= 10 ? flags : flags & ~FLAG_TEMPORAL;
}

static size_t traces_size(const struct writer *w)
{
	size_t n = 16;

	if (!(w->flags & FLAG_TEMPORAL))
		return 0;
	for (size_t i = 0; i < w->p->n_traces; i++)
		n += 16 + 8 * w->p->traces[i].n;
	return n;
}

static void put_traces(struct writer *w)
{
	put64(w, w->p->n_traces);
	put64(w, w->p->trace_stream);
	for (size_t i = 0; i < w->p->n_traces; i++) {
		const struct trace *t = &w->p->traces[i];

		put64(w, t->weight);
		put64(w, t->n);
		memcpy(w->at, t->refs, 8 * t->n);
		w->at += 8 * t->n;
	}
}

static size_t header_size(uint32_t version)
{
	return version >= 12 ? 72 : version >= 10 ? 64 : version == 9 ? 56 : version == 8 ? 48 : 40;
}

static size_t total_size(const struct writer *w)
{
	size_t n = header_size(w->version) + SUMMARY_BYTES * (w->flags & FLAG_CS ? 2 : 1) + 8;

	for (size_t i = 0; i < w->n_keys; i++)
		n += 2 + 24 + w->keys[i]->n + key_size(w, w->keys[i]);
	return n + 16 + 8 * w->n_buckets + 8 + ids_size(w->p) + 8 + traces_size(w);
}

static void put_file(struct writer *w)
{
	uint64_t hash_offset, ids_offset = 0, vtables_offset = 0, traces_offset = 0;
	uint8_t *header = w->at;

	w->at += header_size(w->version);
	w->at = summary_write(w->p, false, hash_mask(w), w->at);
	if (w->flags & FLAG_CS)
		w->at = summary_write(w->p, true, hash_mask(w), w->at);
	put_payload(w);
	hash_offset = (uint64_t)(w->at - w->start);
	put64(w, w->n_buckets);
	put64(w, w->n_keys);
	memcpy(w->at, w->offsets, 8 * w->n_buckets);
	w->at += 8 * w->n_buckets;
	if (w->version >= 9) {
		ids_offset = (uint64_t)(w->at - w->start);
		put_ids(w);
	}
	if (w->version >= 12) {
		vtables_offset = (uint64_t)(w->at - w->start);
		put64(w, 0);
	}
	if (w->flags & FLAG_TEMPORAL) {
		traces_offset = (uint64_t)(w->at - w->start);
		put_traces(w);
	}
	memcpy(header,
		(uint64_t[]){MAGIC, w->version | w->flags, 0, 0, hash_offset, 0, ids_offset,
			traces_offset, vtables_offset},
		header_size(w->version));
}

int profile_encode_indexed(
	const struct profile *p, uint32_t version, struct buf *out, struct error *err)
{
	struct writer w = {.p = p,
		.version = version,
		.kinds = version >= 12 ? 3 : 2,
		.flags = flags_for(p, version)};
	size_t size;
	char *room;

	if (version < 6 || version > 13)
		return error_set(err, ERR_UNSUPPORTED,
			"index version %u cannot be written; versions 6 to 13 can", version);
	w.keys = profile_sorted_keys(p);
	w.n_keys = p->n_keys;
	build_table(&w);
	size = total_size(&w);
	out->max = size;
	room = buf_reserve(out, size);
	if (room) {
		w.start = w.at = (uint8_t *)room;
		put_file(&w);
		out->n += (size_t)(w.at - w.start);
		room[out->n] = 0;
	}
	free(w.keys);
	free(w.next);
	free(w.heads);
	free(w.offsets);
	if (!room)
		return error_set(
			err, ERR_ENVIRONMENT, "no memory for a profile of %zu bytes", size);
	return 0;
}

int profile_write_indexed(struct profile *p, uint32_t version, const char *path, struct error *err)
{
	auto_buf struct buf out = BUF_INIT;

	if (profile_encode_indexed(p, version, &out, err) < 0)
		return error_context(err, "indexed profile '%s'", path);
	return file_write_atomic(path, out.p, out.n, 0644, err);
}
