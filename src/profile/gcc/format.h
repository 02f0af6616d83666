/* What .gcda and .gcno have in common: magic, header, tags. Private to src/profile/gcc. */
#pragma once

#include "base/error.h"
#include "base/reader.h"

#define GCDA_MAGIC 0x67636461U /* "gcda" from the highest byte */
#define GCNO_MAGIC 0x67636e6fU

/* The versions that are read. gcc 10 and older have value counters of another kind. 13 to 15 write
 * the layout of 12 (not tested: no such compiler is in Debian 12). */
#define GCC_OLDEST 11
#define GCC_NEWEST 15

#define TAG_FUNCTION 0x01000000U
#define TAG_BLOCKS 0x01410000U
#define TAG_ARCS 0x01430000U
#define TAG_LINES 0x01450000U
#define TAG_COUNTERS 0x01a10000U /* plus the kind times 2^17 */
#define TAG_SUMMARY 0xa1000000U

struct gcc_header {
	uint32_t version, stamp, checksum;
	unsigned major;
};

/* Lengths are in bytes since gcc 12, in words of four before. */
static inline int gcc_unit(unsigned major)
{
	return major >= 12 ? 1 : 4;
}

static inline bool gcc_has_checksum(unsigned major)
{
	return major >= 12;
}

/* Reads magic, version, stamp and checksum, and sets the reader's byte order. */
int gcc_header(struct reader *r, uint32_t magic, struct gcc_header *ret, struct error *err);
