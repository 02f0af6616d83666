/* Raw profiles. A file holds one or more images (header and sections); images of one binary have
 * one layout, found once and then reused: later files are checked by comparing bytes and merged by
 * adding arrays. */
#pragma once

#include "profile/llvm/blocks.h"

/* Where the fields of a data record are; depends on version and pointer width. */
struct raw_shape {
	uint8_t size, bitmap_ptr, function_ptr, n_counters, n_sites, n_bitmap; /* 0: absent */
	uint8_t kinds;
};

/* The sections of one image, inside the file. */
struct raw_image {
	uint64_t off; /* of the header in the file */
	bool big;
	uint8_t ptr; /* bytes of a pointer: 4 or 8 */
	uint32_t version;
	uint64_t flags;
	struct raw_shape shape;
	uint64_t n_data, n_counters, counters_delta, bitmap_delta, n_vtables;
	struct build_ids ids;
	const uint8_t *data, *counters, *bitmap, *names, *vtables, *values;
	bool values_missing; /* value sites, but no value data: as continuous mode leaves it */
	uint64_t counters_n, bitmap_n, names_n; /* bytes */
	uint64_t values_n; /* bytes from the value data to the end of the file */
	uint64_t end;      /* of the value data in the file; known after the check */
	struct layout *layout;
	struct values_at *filled; /* value blocks that hold any; malloc'ed */
	size_t n_filled, cap_filled;
	uint64_t bias; /* what load address randomisation added, against the layout */
	/* Instead of bias when functions did not move alike; malloc'ed, NULL otherwise. */
	struct address *own_addresses;
	size_t n_own_addresses;
	struct range *vtable_ranges; /* ascending; malloc'ed, NULL without vtables */
	bool mixed;        /* records of two sizes lay in the data section: see raw_mixed() */
	uint8_t *own_data; /* data then points to these records of one size; malloc'ed, or NULL */
};

struct values_at {
	size_t valued; /* index in the layout's list */
	uint64_t off;  /* of the block in the file */
};

struct range {
	uint64_t start, size, ref;
};

struct address {
	uint64_t at, ref;
};

/* Which bytes of a data record must be equal in all images of a binary, in words of 8 bytes. */
struct record_mask {
	uint64_t word[8];
	unsigned words;
};

struct layout_record {
	struct record *record;
	uint64_t counters; /* byte offset in the counters, behind the time stamp */
	uint64_t bitmap;
	bool timed; /* a time stamp stands in front of the counters */
};

struct valued {
	struct record *record;
	uint32_t index;                /* in the layout */
	uint32_t n_sites[VALUE_KINDS]; /* a copy: the record itself is far away in memory */
};

struct layout {
	struct layout *next;
	struct raw_image like; /* header fields of the first image; its pointers are copies */
	size_t n;
	struct layout_record *v;
	struct valued *valued; /* the records that have value sites, in order */
	size_t n_valued;
	struct address *addresses; /* ascending, one for each address */
	size_t n_addresses;
	uint64_t *block; /* when the records' counts lie like the file's counters: the first of them
			  */
	struct record_mask mask;
	size_t first_function; /* index of the first record with a function's address */
	unsigned adds;         /* how many images were added, but no more than 2 */
	char names_sha256[65]; /* "" until somebody wants to know it */
};

#define TIMESTAMP 8 /* bytes in front of a function's counters in temporal profiles */

int raw_image_open(
	struct raw_image *ret, const uint8_t *file, size_t n, uint64_t off, struct error *err);
/* False when the version is not known. */
bool raw_shape_of(uint32_t version, uint8_t ptr, struct raw_shape *ret);
/* Where the zero bytes from off on end. */
uint64_t raw_next(const uint8_t *file, size_t n, uint64_t off);
/* Whether a header may follow image i there. Build ids that are not padded shift what comes after.
 */
bool raw_may_start(const struct raw_image *i, uint64_t off);
/* A field of 2, 4 or 8 bytes. Inline: merging is made of it. */
static inline uint64_t raw_field(const struct raw_image *i, const uint8_t *p, unsigned width)
{
	uint64_t v = 0;

	if (i->big)
		for (unsigned k = 0; k < width; k++)
			v = v << 8 | p[k];
	else if (width == 8)
		memcpy(&v, p, 8);
	else if (width == 4)
		memcpy(&v, p, 4);
	else
		memcpy(&v, p, 2);
	return v;
}
/* The layout of an image that was seen before, or NULL. */
struct layout *layout_match(struct layout *first, struct raw_image *i);
struct layout *layout_build(struct profile *p, const struct raw_image *i, struct error *err);
void addresses_build(const struct raw_image *i, struct address **ret, size_t *ret_n);

/* For an image whose data section is no array of its version's records: makes it one when records
 * of two sizes lie there, in one way that can be told. 1: done; 0: they do not; -1: there is more
 * than one way. */
int raw_mixed(struct raw_image *i, struct error *err);

/* What the values of an image stand for (raw_values.c). */
void raw_ranges_build(struct raw_image *i);
uint64_t raw_value(const void *image, int kind, uint64_t value);
/* Checks the value blocks behind the sections; i->end becomes their end. */
int raw_values_check(struct raw_image *i, const uint8_t *file, size_t n, struct error *err);
/* Adds the order of first calls of a temporal profile. */
void raw_trace_add(struct profile *p, const struct raw_image *i, uint64_t weight);
