/* An independent reading of one side of an HTTP/2 connection: frames by their lengths, heads by
 * nghttp2's HPACK alone, what belongs to a stream put together. It knows no flow control and
 * refuses little; what it finds is what a reader may have taken at most. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define H2_REFERENCE_STREAMS 64
#define H2_REFERENCE_BODY ((size_t)64 << 10)

struct h2_reference_stream {
	uint32_t id;
	struct buf fields; /* of all heads: "name: value\n" each */
	size_t heads;      /* of which none is one of an interim answer */
	struct buf body;   /* H2_REFERENCE_BODY at most */
	uint64_t body_n;
	bool ended, reset, after_end; /* after_end: a frame of it follows its end */
};

struct h2_reference {
	struct h2_reference_stream streams[H2_REFERENCE_STREAMS];
	size_t n;
	size_t frames;
	bool more_streams; /* than there is room for */
	bool whole;        /* the bytes end where a frame ends, and all of them could be read */
	bool goaway;
};

/* preface: they begin with a client's. */
void h2_reference_read(const char *p, size_t n, bool preface, struct h2_reference *ret);
void h2_reference_free(struct h2_reference *r);
/* Whether the stream's fields hold this line: "name: value". */
bool h2_reference_has(const struct h2_reference_stream *s, const char *line);
/* Whether this is nghttp2's error for too many CONTINUATION frames. It counts not only frames, but
 * also how often the head of one comes in part: that depends on how bytes are cut. */
bool h2_cut_counts(long error);
