/* Raw profiles made from the sections that an instrumented image has in memory: what its runtime
 * would write at this moment. For images of 64-bit little-endian processes with runtimes of
 * LLVM 14 to 22 (raw versions 8 to 10). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"

struct raw_part {
	uint64_t at; /* its address in the process; 0 when there is no such section */
	const uint8_t *p;
	size_t n;
};

struct raw_sections {
	uint64_t version; /* version word; the lower half is 0 when only the flags are known */
	struct raw_part data, counters, bitmap, names, vtables, vtable_names;
	const uint8_t *ids; /* build ids as the file holds them */
	size_t ids_n;
};

/* Where the records stand in the data section: [0] those of 48 bytes (version 8), [1] those of 64
 * (9, 10). Objects of different LLVMs in one image leave both. */
struct raw_records {
	uint32_t *at[2]; /* offsets, ascending; malloc'ed */
	size_t n[2];
};
void raw_records_release(struct raw_records *r);
/* Finds the records by their references to the names. Needs data, names, counters' place and the
 * version, if any, whose size is tried first. */
int raw_records_find(const struct raw_sections *s, struct raw_records *ret, struct error *err);

#define RAW_NODE 24      /* bytes of an element of a value list: value, count, next */
#define RAW_NODE_NEXT 16 /* where its pointer to the next is */

/* Calls fn for each record that has value lists: the address of their heads (8 bytes each) and how
 * many there are. */
typedef void raw_lists(void *ctx, uint64_t heads, size_t n);
void raw_lists_each(
	const struct raw_sections *s, const struct raw_records *r, raw_lists *fn, void *ctx);

/* n bytes of the process's memory, or NULL when they are not known. */
typedef const uint8_t *raw_look(const void *ctx, uint64_t at, size_t n);

/* Appends the image's profile. One whose records have two sizes becomes two profiles, one of each
 * version, since readers know none that has both. */
int raw_write(struct buf *out, const struct raw_sections *s, const struct raw_records *r,
	raw_look *look, const void *ctx, struct error *err);
