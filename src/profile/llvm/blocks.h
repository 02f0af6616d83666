/* The encodings that raw and indexed profiles share: value blocks, names blocks, build-id lists. */
#pragma once

#include "base/reader.h"
#include "profile/model.h"

/* One record's value block, checked: pointers into the file. */
struct value_block {
	uint32_t size;
	uint32_t n_sites[VALUE_KINDS];
	const uint8_t *per_site[VALUE_KINDS]; /* how many values each site has */
	const uint8_t *data[VALUE_KINDS];     /* (value, count) pairs, site after site */
	bool filled;                          /* there are any */
};

/* Reads the block at the reader's position and moves behind it. */
int value_block_read(struct reader *r, struct value_block *ret, struct error *err);

/* Turns a stored value into the one that is kept; NULL keeps it. */
struct value_map {
	uint64_t (*fn)(const void *ctx, int kind, uint64_t value);
	const void *ctx;
};
/* Adds the block's values to the record. Site numbers must agree (profile_resolve() checked). */
void value_block_add(struct arena *a, struct record *r, const struct value_block *b, bool big,
	const struct value_map *map, uint64_t weight);
/* Size of a record's value block for consumers of `kinds` kinds, and its encoding at `to`. */
size_t value_block_size(const struct record *r, int kinds);
uint8_t *value_block_write(const struct record *r, int kinds, uint8_t *to);

struct name {
	const char *p; /* not NUL-terminated */
	size_t n;
	uint64_t ref;
};

/* All names of a names block, found by reference. */
struct names {
	struct name *v;
	size_t n, cap;
	char **texts; /* inflated chunks */
	size_t n_texts, cap_texts;
	uint32_t *slots;
	size_t n_slots;
};
int names_read(struct names *ret, const uint8_t *p, size_t n, struct error *err);
const struct name *names_find(const struct names *s, uint64_t ref);
void names_release(struct names *s);

struct build_ids {
	const uint8_t *p;
	size_t n;
	bool big;
	bool packed; /* without padding, as raw version 7 has them */
};
/* Checks a list of build ids and calls fn for each, unless NULL. */
int build_ids_each(const struct build_ids *ids, void (*fn)(void *ctx, const uint8_t *id, size_t n),
	void *ctx, struct error *err);

/* The readers. Each adds a whole file to p or leaves p unchanged. */
int raw_add(struct profile *p, const uint8_t *data, size_t n, uint64_t weight,
	struct profile_images *images, struct error *err);
bool raw_magic(const uint8_t *data, size_t n);
int indexed_add(
	struct profile *p, const uint8_t *data, size_t n, uint64_t weight, struct error *err);
bool indexed_magic(const uint8_t *data, size_t n);
int text_add(struct profile *p, const uint8_t *data, size_t n, uint64_t weight, struct error *err);
bool text_magic(const uint8_t *data, size_t n);
