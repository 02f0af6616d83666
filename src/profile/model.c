#include "profile/model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

struct arena_chunk {
	struct arena_chunk *next;
	uint64_t data[];
};

#define ARENA_CHUNK ((size_t)256 << 10)

void *arena_alloc(struct arena *a, size_t n)
{
	size_t want = (n + 7) & ~(size_t)7;
	struct arena_chunk *c;
	char *p;

	if (want > (size_t)(a->end - a->p)) {
		size_t size = want > ARENA_CHUNK / 4 ? want : ARENA_CHUNK;

		c = xmalloc(sizeof(*c) + size);
		c->next = a->chunks;
		a->chunks = c;
		/* A large piece gets a chunk of its own and the current one stays in use. */
		if (size == want)
			return c->data;
		a->p = (char *)c->data;
		a->end = a->p + size;
	}
	p = a->p;
	a->p += want;
	return p;
}

void *arena_zalloc(struct arena *a, size_t n)
{
	return memset(arena_alloc(a, n), 0, n);
}

static void arena_rollback(struct arena *a, const struct arena *to)
{
	while (a->chunks != to->chunks) {
		struct arena_chunk *next = a->chunks->next;

		free(a->chunks);
		a->chunks = next;
	}
	*a = *to;
}

void arena_release(struct arena *a)
{
	arena_rollback(a, &(struct arena){0});
}

struct profile *profile_new(void)
{
	return xcalloc(1, sizeof(struct profile));
}

void profile_free(struct profile *p)
{
	if (!p)
		return;
	free(p->keys);
	free(p->records);
	free(p->slots);
	free(p->ids);
	profile_release_traces(p);
	arena_release(&p->arena);
	free(p);
}

static size_t slot_of(const struct profile *p, const char *name, size_t n, uint64_t ref)
{
	size_t i = ref & (p->n_slots - 1);

	for (;; i = (i + 1) & (p->n_slots - 1)) {
		const struct key *k;

		if (!p->slots[i])
			return i;
		k = p->keys[p->slots[i] - 1];
		if (k->ref == ref && k->n == n && memcmp(k->name, name, n) == 0)
			return i;
	}
}

static void rebuild_slots(struct profile *p, size_t n_slots)
{
	if (n_slots != p->n_slots) {
		free(p->slots);
		p->slots = xcalloc(n_slots, sizeof(*p->slots));
		p->n_slots = n_slots;
	} else {
		memset(p->slots, 0, n_slots * sizeof(*p->slots));
	}
	for (size_t i = 0; i < p->n_keys; i++) {
		const struct key *k = p->keys[i];

		p->slots[slot_of(p, k->name, k->n, k->ref)] = (uint32_t)i + 1;
	}
}

struct key *profile_find(const struct profile *p, const char *name, size_t n, uint64_t ref)
{
	size_t i;

	if (!p->n_slots)
		return NULL;
	i = slot_of(p, name, n, ref);
	return p->slots[i] ? p->keys[p->slots[i] - 1] : NULL;
}

struct record *key_record(const struct key *k, uint64_t hash)
{
	for (struct record *r = k->first; r; r = r->next)
		if (r->hash == hash)
			return r;
	return NULL;
}

static struct key *key_get(struct profile *p, const char *name, size_t n, uint64_t ref)
{
	struct key *k;
	char *copy;
	size_t i;

	if (2 * (p->n_keys + 1) > p->n_slots)
		rebuild_slots(p, p->n_slots ? p->n_slots * 2 : 1024);
	i = slot_of(p, name, n, ref);
	if (p->slots[i])
		return p->keys[p->slots[i] - 1];
	k = arena_zalloc(&p->arena, sizeof(*k));
	copy = arena_alloc(&p->arena, n + 1);
	memcpy(copy, name, n);
	copy[n] = 0;
	*k = (struct key){.name = copy, .n = n, .ref = ref};
	array_reserve(p->keys, p->n_keys, p->cap_keys);
	p->keys[p->n_keys++] = k;
	p->slots[i] = (uint32_t)p->n_keys;
	return k;
}

static struct record *record_new(struct profile *p, struct key *k, const struct record_shape *s)
{
	struct record *r = arena_zalloc(&p->arena, sizeof(*r));
	size_t sites = 0;

	r->hash = s->hash;
	r->key = k;
	r->n_counts = s->n_counts;
	r->n_bitmap = s->n_bitmap;
	for (int i = 0; i < VALUE_KINDS; i++)
		sites += r->n_sites[i] = s->n_sites[i];
	r->counts = arena_zalloc(&p->arena, s->n_counts * sizeof(uint64_t));
	if (s->n_bitmap)
		r->bitmap = arena_zalloc(&p->arena, s->n_bitmap);
	if (sites)
		r->sites = arena_zalloc(&p->arena, sites * sizeof(*r->sites));
	if (k->last)
		k->last->next = r;
	else
		k->first = r;
	k->last = r;
	array_reserve(p->records, p->n_records, p->cap_records);
	p->records[p->n_records++] = r;
	return r;
}

static int shape_mismatch(const struct record *r, const struct record_shape *s, struct error *err)
{
	static const char *const kinds[] = {"indirect call", "memory operation", "vtable"};

	if (r->n_counts != s->n_counts)
		return error_set(err, ERR_MISMATCH,
			"function '%s' (hash 0x%016" PRIx64 ") has %u counters here, but %u in the "
			"profiles merged so far; merge profiles of one build only",
			r->key->name, r->hash, s->n_counts, r->n_counts);
	if (r->n_bitmap != s->n_bitmap)
		return error_set(err, ERR_MISMATCH,
			"function '%s' (hash 0x%016" PRIx64 ") has %u bitmap bytes here, but %u in "
			"the profiles merged so far; merge profiles of one build only",
			r->key->name, r->hash, s->n_bitmap, r->n_bitmap);
	for (int i = 0; i < VALUE_KINDS; i++)
		if (r->n_sites[i] != s->n_sites[i])
			return error_set(err, ERR_MISMATCH,
				"function '%s' (hash 0x%016" PRIx64 ") has %u %s sites here, but "
				"%u in the profiles merged so far; merge profiles of one build "
				"only",
				r->key->name, r->hash, s->n_sites[i], kinds[i], r->n_sites[i]);
	return 0;
}

struct record *profile_resolve(struct profile *p, const char *name, size_t n, uint64_t ref,
	const struct record_shape *s, struct error *err)
{
	struct key *k = key_get(p, name, n, ref);
	struct record *r = key_record(k, s->hash);

	if (!r)
		return record_new(p, k, s);
	return shape_mismatch(r, s, err) < 0 ? NULL : r;
}

static bool executed(const struct key *k)
{
	uint64_t any = 0;

	for (const struct record *r = k->first; r; r = r->next) {
		any |= counts_bits((const uint8_t *)r->counts, r->n_counts);
		for (uint32_t i = 0; i < r->n_bitmap; i++)
			any |= r->bitmap[i];
	}
	return any;
}

void profile_drop_unexecuted(struct profile *p)
{
	size_t n = 0;

	p->n_records = 0;
	for (size_t i = 0; i < p->n_keys; i++) {
		if (!executed(p->keys[i]))
			continue;
		p->keys[n++] = p->keys[i];
		for (struct record *r = p->keys[i]->first; r; r = r->next)
			p->records[p->n_records++] = r;
	}
	p->n_keys = n;
	p->layouts = NULL; /* they refer to what is gone */
	if (p->n_slots)
		rebuild_slots(p, p->n_slots);
}

struct profile_mark profile_mark(const struct profile *p)
{
	return (struct profile_mark){
		p->arena, p->n_keys, p->n_records, p->n_ids, p->flags, p->has_records, p->layouts};
}

void profile_rollback(struct profile *p, const struct profile_mark *m)
{
	while (p->n_records > m->n_records) {
		struct record *r = p->records[--p->n_records];
		struct key *k = r->key;
		struct record *before = NULL;

		for (struct record *i = k->first; i != r; i = i->next)
			before = i;
		k->last = before;
		if (before)
			before->next = NULL;
		else
			k->first = NULL;
	}
	if (p->n_keys > m->n_keys) {
		p->n_keys = m->n_keys;
		rebuild_slots(p, p->n_slots);
	}
	p->n_ids = m->n_ids;
	p->flags = m->flags;
	p->has_records = m->has_records;
	p->layouts = m->layouts;
	arena_rollback(&p->arena, &m->arena);
}

int profile_join_flags(struct profile *p, uint64_t flags, size_t n, struct error *err)
{
	uint64_t all = p->flags | flags;

	if (n && p->has_records && ((p->flags ^ flags) & FLAG_IR))
		return error_set(err, ERR_MISMATCH,
			"%s; they cannot be merged with those read so far (%s): use profiles of "
			"one "
			"kind of instrumentation",
			flags & FLAG_IR ? "holds compiler (IR) counters"
					: "holds front-end (source coverage) counters",
			flags & FLAG_IR ? "front-end counters" : "IR counters");
	/* One file may have both: -pgo-function-entry-coverage with -pgo-instrument-entry. */
	if (((p->flags ^ flags) & FLAG_ENTRY_ONLY) &&
		(all & (FLAG_ENTRY_FIRST | FLAG_LOOP_ENTRIES)) && n && p->has_records)
		return error_set(err, ERR_MISMATCH,
			"holds function-entry counters and block counters cannot be merged with "
			"them: "
			"use profiles of one kind of instrumentation");
	p->flags |= flags & FLAGS_KEPT;
	if (n)
		p->has_records = true;
	return 0;
}

void profile_add_id(struct profile *p, const uint8_t *id, size_t n)
{
	uint8_t *copy;

	for (size_t i = 0; i < p->n_ids; i++)
		if (p->ids[i].n == n && memcmp(p->ids[i].p, id, n) == 0)
			return;
	copy = arena_alloc(&p->arena, n);
	memcpy(copy, id, n);
	array_reserve(p->ids, p->n_ids, p->cap_ids);
	p->ids[p->n_ids++] = (struct binary_id){copy, n};
}

static int key_compare(const void *a, const void *b)
{
	const struct key *x = *(struct key *const *)a, *y = *(struct key *const *)b;
	int c = memcmp(x->name, y->name, x->n < y->n ? x->n : y->n);

	return c ? c : (x->n > y->n) - (x->n < y->n);
}

struct key **profile_sorted_keys(const struct profile *p)
{
	struct key **v = xreallocarray(NULL, p->n_keys + 1, sizeof(struct key *));

	if (p->n_keys)
		memcpy(v, p->keys, p->n_keys * sizeof(struct key *));
	qsort(v, p->n_keys, sizeof(struct key *), key_compare);
	return v;
}
