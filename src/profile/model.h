/* The merged set of function records behind struct profile. Private to src/profile.
 *
 * Everything lives in one arena. A file is added in two passes: the first checks it whole and
 * resolves each of its records (creating those that are new, without counts), the second adds and
 * cannot fail. When the first pass fails, profile_rollback() takes back what it created. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "profile/profile.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the writers assume little-endian");

/* Flags in the upper half of the version word of raw and indexed profiles. */
#define FLAG_LOOP_ENTRIES (1ULL << 55)
#define FLAG_IR (1ULL << 56)
#define FLAG_CS (1ULL << 57)
#define FLAG_ENTRY_FIRST (1ULL << 58)
#define FLAG_DEBUG_CORRELATE (1ULL << 59)
#define FLAG_BYTE_COVERAGE (1ULL << 60)
#define FLAG_ENTRY_ONLY (1ULL << 61)
#define FLAG_MEMPROF (1ULL << 62)
#define FLAG_TEMPORAL (1ULL << 63)
/* What a merged profile keeps: a memory profile is dropped with its flag. */
#define FLAGS_KEPT                                                                                 \
	(FLAG_LOOP_ENTRIES | FLAG_IR | FLAG_CS | FLAG_ENTRY_FIRST | FLAG_BYTE_COVERAGE |           \
		FLAG_ENTRY_ONLY | FLAG_TEMPORAL)
#define VERSION_MASK 0xffffffffULL
#define HASH_CS (1ULL << 60) /* in a structural hash: the record is context-sensitive */

#define COUNT_MAX (UINT64_MAX - 2) /* the two values above it mark pseudo counts */
#define RAW_COUNT_MAX (1ULL << 56) /* a raw counter above it is damage */

enum { VALUE_INDIRECT_CALL, VALUE_MEMOP_SIZE, VALUE_VTABLE, VALUE_KINDS };
/* Values of one site in a file. In memory a site has as many as its inputs had: to drop some before
 * all are counted would make the result depend on the order. */
#define SITE_MAX 255

struct arena {
	struct arena_chunk *chunks;
	char *p, *end;
};
void *arena_alloc(struct arena *a, size_t n); /* 8-aligned, not cleared */
void *arena_zalloc(struct arena *a, size_t n);
void arena_release(struct arena *a);

struct value_datum {
	uint64_t value, count;
};

struct value_site {
	struct value_datum *v;
	uint32_t n, cap;
	bool by_value; /* sorted by value: something was merged into it */
};

struct key;

struct record {
	uint64_t hash;
	uint64_t *counts;
	uint8_t *bitmap;
	struct value_site *sites; /* all kinds one after the other; NULL when there are none */
	struct record *next;      /* of the same key, in the order of arrival */
	struct key *key;
	uint32_t n_counts, n_bitmap;
	uint32_t n_sites[VALUE_KINDS];
	uint64_t adds; /* how often data were added */
};

struct key {
	const char *name; /* NUL-terminated, no NUL inside */
	size_t n;
	uint64_t ref; /* md5_name() of the name */
	struct record *first, *last;
};

struct layout; /* of a raw image: llvm/raw.h */

struct binary_id {
	const uint8_t *p;
	size_t n;
};

/* The functions of one run in the order of their first calls. */
struct trace {
	uint64_t weight, digest;
	uint64_t *refs; /* malloc'ed */
	size_t n;
};

struct profile {
	struct arena arena;
	struct key **keys;
	size_t n_keys, cap_keys;
	struct record **records;
	size_t n_records, cap_records;
	uint32_t *slots; /* hash table over keys: index + 1, 0 is free */
	size_t n_slots;
	struct binary_id *ids;
	size_t n_ids, cap_ids;
	struct trace *traces;
	size_t n_traces, cap_traces;
	uint64_t trace_stream; /* how many there were; the profile keeps some of them */
	uint64_t flags;
	bool has_records;  /* flags say whether they are IR or front-end records */
	bool short_hashes; /* front-end hashes came from a file that keeps 60 bits of them */
	struct layout *layouts;
	bool values_missing, mixed; /* in the file that was added last; see struct profile_image */
};

/* The shape of a record that is being added. */
struct record_shape {
	uint64_t hash;
	uint32_t n_counts, n_bitmap;
	uint32_t n_sites[VALUE_KINDS];
};

/* Finds the record of this key and hash, or creates it with zero counts. ERR_MISMATCH when it is
 * there with another number of counters, bitmap bytes or value sites. The name is copied. */
struct record *profile_resolve(struct profile *p, const char *name, size_t n, uint64_t ref,
	const struct record_shape *s, struct error *err);
struct key *profile_find(const struct profile *p, const char *name, size_t n, uint64_t ref);
struct record *key_record(const struct key *k, uint64_t hash);

struct profile_mark {
	struct arena arena;
	size_t n_keys, n_records, n_ids;
	uint64_t flags;
	bool has_records;
	struct layout *layouts;
};
struct profile_mark profile_mark(const struct profile *p);
void profile_rollback(struct profile *p, const struct profile_mark *m);

/* Whether a file with these flags may join; ERR_MISMATCH otherwise. n: its records. */
int profile_join_flags(struct profile *p, uint64_t flags, size_t n, struct error *err);
/* Adds a build id unless it is there. */
void profile_add_id(struct profile *p, const uint8_t *id, size_t n);

/* Copies a trace. The stream is counted apart: a file may hold a sample of a longer one. */
void profile_add_trace(struct profile *p, uint64_t weight, const uint64_t *refs, size_t n);
void profile_count_traces(struct profile *p, uint64_t stream);
void profile_release_traces(struct profile *p);

/* All n numbers or'ed together. src may be unaligned, little-endian. */
uint64_t counts_bits(const uint8_t *src, size_t n);
/* dst[i] += src[i] * weight, saturating at COUNT_MAX. src may be unaligned, little-endian. */
void counts_add(uint64_t *dst, const uint8_t *src, size_t n, uint64_t weight);
/* The same for one record: the first addition copies (so pseudo counts survive), later ones add. */
void record_add_counts(struct record *r, const uint8_t *src, uint64_t weight);
/* Adds values to a site. `first`: nothing was added to the record before. in[] may be reordered. */
void site_add(struct arena *a, struct value_site *s, struct value_datum *in, uint32_t n,
	uint64_t weight, bool first);
/* A copy in ascending order, equal values by descending count; caller frees. */
struct value_datum *site_by_value(const struct value_site *s);
/* The values of a site in the order in which they are written; returns how many (site_size()). */
uint32_t site_order(
	const struct record *r, const struct value_site *s, struct value_datum out[SITE_MAX]);
uint32_t site_size(const struct value_site *s);
/* Sorts those in front that are saturated by value. Which of them came first in a file is by
 * chance: with a smaller weight, as in a group that is merged on its own, their counts would still
 * tell them apart. */
void order_saturated(struct value_datum *v, uint32_t n);
/* The sum of all counters but pseudo counts; exact up to 2^64. */
double record_sum(const struct record *r);
/* Whether a record of this profile is a context-sensitive one. */
bool record_is_cs(const struct profile *p, const struct record *r);
/* ERR_MISMATCH when the sum of the records that are to be compared is 0. which: "first", "old". */
int profile_counted(
	const struct profile *p, const char *which, double sum, bool cs, struct error *err);
uint64_t saturating_mul(uint64_t a, uint64_t b);
uint64_t saturating_add(uint64_t a, uint64_t b);

/* Calls fn for each record in ascending (key, hash) order; stops when it returns non-zero. */
typedef int record_visit(void *ctx, const struct record *r);
int profile_each_record(const struct profile *p, record_visit *fn, void *ctx);

/* Keys in ascending byte order; caller frees. */
struct key **profile_sorted_keys(const struct profile *p);

/* Where the path of a local function's key ends (at ';' or ':'), or NULL for an external one. */
const char *key_path_end(const char *name);
/* Whether what stands there is no file, but a code generation unit of rustc or a placeholder. */
bool key_path_is_unit(const char *name, const char *end);

/* The encoders behind profile_write_indexed() and profile_write_text(); on success out holds the
 * file. */
int profile_encode_indexed(
	const struct profile *p, uint32_t version, struct buf *out, struct error *err);
int profile_encode_text(const struct profile *p, int llvm, struct buf *out, struct error *err);
