/* Any bytes as WebSocket frames: what comes out is what an independent reading finds, however the
 * bytes come, and what it refuses is refused.
 *
 * byte 0: odd for the origin's end, which wants masks; rest: frames */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "http/websocket.h"
#include "http_script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum verdict { FINE, UNDECIDED, BAD };

/* What both readings say of a frame, then its payload follows. */
static void note(struct buf *log, unsigned int opcode, bool fin, uint64_t length)
{
	buf_addf(log, "<%u%s %llu>", opcode, fin ? "" : "-", (unsigned long long)length);
}

/* ---- The independent reading ----------------------------------------------------------------- */

struct header {
	unsigned int opcode, rsv;
	bool fin, masked;
	uint64_t length;
	const uint8_t *key;
	size_t n; /* bytes of it */
};

static uint64_t big_endian(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | *p++;
	return v;
}

/* UNDECIDED: not all of it is there. */
static enum verdict read_header(const uint8_t *p, size_t n, struct header *h)
{
	size_t more;

	if (n < 2)
		return UNDECIDED;
	*h = (struct header){.opcode = p[0] & 15,
		.rsv = p[0] >> 4 & 7,
		.fin = p[0] >> 7,
		.masked = p[1] >> 7,
		.length = p[1] & 127};
	more = h->length == 126 ? 2 : h->length == 127 ? 8 : 0;
	h->n = 2 + more + (h->masked ? 4 : 0);
	if (n < h->n)
		return UNDECIDED;
	h->key = p + 2 + more;
	if (more)
		h->length = big_endian(p + 2, more);
	if (h->length >> 63 || (more == 2 && h->length < 126) || (more == 8 && h->length < 65536))
		return BAD;
	return h->opcode >= 8 && (!h->fin || h->length > 125) ? BAD : FINE;
}

static bool allowed(const struct header *h, bool wants_masked, bool *inside)
{
	if (h->rsv || h->masked != wants_masked || (h->opcode > 2 && h->opcode < 8) ||
		h->opcode > 10)
		return false;
	if (h->opcode >= 8)
		return true;
	if ((h->opcode == 0) != *inside)
		return false;
	*inside = !h->fin;
	return true;
}

static bool close_ok(const char *p, uint64_t n)
{
	unsigned int status;

	if (n < 2)
		return n == 0;
	status = (unsigned int)(uint8_t)p[0] << 8 | (uint8_t)p[1];
	return (status >= 3000 && status < 5000) ||
	       (status >= 1000 && status < 1015 && (status < 1004 || status > 1006));
}

static enum verdict read_again(const uint8_t *p, size_t n, bool wants_masked, struct buf *log)
{
	bool inside = false;

	while (n) {
		struct header h;
		enum verdict v = read_header(p, n, &h);
		size_t got, before = log->n;

		if (v != FINE)
			return v;
		if (h.length && n == h.n)
			return UNDECIDED; /* judged with the first byte of the payload */
		if (!allowed(&h, wants_masked, &inside))
			return BAD;
		p += h.n;
		n -= h.n;
		got = h.length < n ? (size_t)h.length : n;
		if (h.opcode >= 8 && got < h.length)
			return FINE; /* comes out whole */
		note(log, h.opcode, h.fin, h.length);
		for (size_t i = 0; i < got; i++)
			buf_addc(log, (char)(h.masked ? p[i] ^ h.key[i % 4] : p[i]));
		p += got;
		n -= got;
		if (h.opcode != 8)
			continue;
		if (!close_ok(log->p + log->n - got, got)) {
			log->n = before;
			return BAD;
		}
		return n ? BAD : FINE;
	}
	return FINE;
}

/* ---- The reader ------------------------------------------------------------------------------ */

static enum verdict read_pieces(
	const struct script *s, enum cut how, bool wants_masked, struct buf *log)
{
	struct websocket *w = websocket_new(!wants_masked, wants_masked, 1);
	struct cuts cuts = cuts_of(s, how);
	enum http_progress r = HTTP_MORE;

	memory_begin();
	for (size_t at = 0, k; at < s->n && r != HTTP_BAD; at += k) {
		struct websocket_piece piece;
		char *copy;

		k = cuts_next(&cuts, s->n - at);
		copy = xmalloc(k);
		memcpy(copy, s->bytes + at, k);
		websocket_feed(w, copy, k);
		while ((r = websocket_next(w, &piece)) == HTTP_DONE) {
			if (piece.off == 0 && (piece.n || piece.frame.length == 0))
				note(log, piece.frame.opcode, piece.frame.fin, piece.frame.length);
			must(piece.off + piece.n <= piece.frame.length, "more than the payload");
			buf_add(log, piece.p, piece.n);
		}
		free(copy);
	}
	must((r == HTTP_BAD) == (websocket_problem(w) != NULL), "a refusal without a reason");
	if (telling() && how == CUT_NOT)
		printf("%zu bytes%s%s\n", log->n, r == HTTP_BAD ? ": " : "",
			r == HTTP_BAD ? websocket_problem(w) : "");
	memory_must(log->cap + 8192);
	websocket_free(w);
	return r == HTTP_BAD ? BAD : FINE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_buf struct buf want = BUF_INIT;
	enum verdict expected;
	struct script s;

	if (!script_read(&s, data, n))
		return -1;
	expected = read_again((const uint8_t *)s.bytes, s.n, s.settings & 1, &want);
	for (enum cut how = CUT_NOT; how < CUTS; how++) {
		auto_buf struct buf got = BUF_INIT;
		enum verdict v = read_pieces(&s, how, s.settings & 1, &got);

		must(expected == UNDECIDED || v == expected, "another verdict");
		must_equal(buf_str(&got), got.n, buf_str(&want), want.n, "other frames");
	}
	script_free(&s);
	return 0;
}
