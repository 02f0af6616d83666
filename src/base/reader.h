/* Bounded reading of binary data. Every read checks the bound; the first failure sticks, later
 * reads give zero, so that a parser may check once per block. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct reader {
	const uint8_t *p;
	size_t n, off;
	bool big;    /* big-endian data */
	bool failed; /* a read went past the end */
};

static inline struct reader reader_of(const void *p, size_t n)
{
	return (struct reader){.p = p, .n = n};
}

/* Whether n more bytes are there; if not, the reader fails. */
static inline bool rd_need(struct reader *r, uint64_t n)
{
	if (r->failed || n > r->n - r->off) {
		r->failed = true;
		return false;
	}
	return true;
}

static inline const uint8_t *rd_bytes(struct reader *r, uint64_t n)
{
	const uint8_t *p;

	if (!rd_need(r, n))
		return NULL;
	p = r->p + r->off;
	r->off += (size_t)n;
	return p;
}

static inline uint8_t rd_u8(struct reader *r)
{
	const uint8_t *p = rd_bytes(r, 1);

	return p ? *p : 0;
}

static inline uint16_t rd_u16(struct reader *r)
{
	const uint8_t *p = rd_bytes(r, 2);
	uint16_t v;

	if (!p)
		return 0;
	memcpy(&v, p, 2);
	return r->big ? __builtin_bswap16(v) : v;
}

static inline uint32_t rd_u32(struct reader *r)
{
	const uint8_t *p = rd_bytes(r, 4);
	uint32_t v;

	if (!p)
		return 0;
	memcpy(&v, p, 4);
	return r->big ? __builtin_bswap32(v) : v;
}

static inline uint64_t rd_u64(struct reader *r)
{
	const uint8_t *p = rd_bytes(r, 8);
	uint64_t v;

	if (!p)
		return 0;
	memcpy(&v, p, 8);
	return r->big ? __builtin_bswap64(v) : v;
}

/* Moves to an absolute offset inside the data. */
static inline bool rd_seek(struct reader *r, uint64_t off)
{
	if (r->failed || off > r->n) {
		r->failed = true;
		return false;
	}
	r->off = (size_t)off;
	return true;
}
