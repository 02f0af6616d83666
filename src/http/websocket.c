#include "http/websocket.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/evp.h>
#include <openssl/sha.h>
#include <wslay/wslay.h>

#include "base/mem.h"

#define GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
#define NO_STATUS 1005

struct websocket {
	wslay_frame_context_ptr frames;
	bool masks, wants_masked;
	uint64_t rng;
	const char *problem;
	/* In. taken: bytes that wslay has; used: those of them that belong to frames it gave. */
	const char *in;
	size_t in_n;
	uint64_t taken, used;
	struct wslay_frame_iocb now; /* the frame that pieces come of */
	uint64_t off;                /* of the next piece */
	bool inside;                 /* a frame has begun and has not ended */
	bool fragments;              /* a message has begun and has not ended */
	bool closed;
	char control[WEBSOCKET_CONTROL_MAX];
	/* Out: where the frame being written goes. */
	struct buf *out;
	size_t out_max;
};

/* ---- The handshake -------------------------------------------------------------------------- */

/* splitmix64: no secret is needed on loopback, but the same bytes in every training. */
static uint64_t rng_next(uint64_t *s)
{
	uint64_t z = (*s += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

void websocket_key(uint64_t seed, char key[WEBSOCKET_KEY])
{
	uint64_t random[2] = {rng_next(&seed), rng_next(&seed)};

	(void)EVP_EncodeBlock((unsigned char *)key, (const unsigned char *)random, sizeof(random));
}

bool websocket_key_ok(const char *p, size_t n)
{
	unsigned char bytes[WEBSOCKET_KEY];

	/* 16 bytes end in two fill characters. */
	return n == WEBSOCKET_KEY - 1 && p[n - 1] == '=' && p[n - 2] == '=' && p[n - 3] != '=' &&
	       EVP_DecodeBlock(bytes, (const unsigned char *)p, (int)n) == 18;
}

void websocket_accept(const char *key, size_t n, char accept[WEBSOCKET_ACCEPT])
{
	unsigned char digest[SHA_DIGEST_LENGTH];
	auto_buf struct buf b = BUF_INIT;

	buf_add(&b, key, n);
	buf_adds(&b, GUID);
	SHA1((const unsigned char *)b.p, b.n, digest);
	(void)EVP_EncodeBlock((unsigned char *)accept, digest, sizeof(digest));
}

/* ---- What wslay asks for -------------------------------------------------------------------- */

static ssize_t give_input(uint8_t *to, size_t n, int flags, void *ctx)
{
	struct websocket *w = ctx;

	if (n > w->in_n)
		n = w->in_n;
	if (n)
		memcpy(to, w->in, n);
	w->in += n;
	w->in_n -= n;
	w->taken += n;
	return (ssize_t)n;
}

static ssize_t take_output(const uint8_t *p, size_t n, int flags, void *ctx)
{
	struct websocket *w = ctx;
	size_t room = w->out->n < w->out_max ? w->out_max - w->out->n : 0;

	if (n > room)
		n = room;
	buf_add(w->out, p, n);
	return (ssize_t)n;
}

static int make_mask(uint8_t *to, size_t n, void *ctx)
{
	struct websocket *w = ctx;
	uint64_t r = rng_next(&w->rng);

	memcpy(to, &r, n < sizeof(r) ? n : sizeof(r));
	return 0;
}

struct websocket *websocket_new(bool masks, bool wants_masked, uint64_t seed)
{
	static const struct wslay_frame_callbacks callbacks = {take_output, give_input, make_mask};
	struct websocket *w = xcalloc(1, sizeof(*w));

	w->masks = masks;
	w->wants_masked = wants_masked;
	w->rng = seed;
	if (wslay_frame_context_init(&w->frames, &callbacks, w) != 0)
		mem_exhausted();
	return w;
}

void websocket_free(struct websocket *w)
{
	if (!w)
		return;
	wslay_frame_context_free(w->frames);
	free(w);
}

/* ---- Receiving ------------------------------------------------------------------------------ */

const char *websocket_problem(const struct websocket *w)
{
	return w->problem;
}

void websocket_feed(struct websocket *w, const char *p, size_t n)
{
	w->in = p;
	w->in_n = n;
}

static bool bad(struct websocket *w, const char *problem)
{
	w->problem = problem;
	return false;
}

static uint64_t header_size(const struct wslay_frame_iocb *f)
{
	return 2 +
	       (f->payload_length > 65535        ? 8
		       : f->payload_length > 125 ? 2
						 : 0) +
	       (f->mask ? 4 : 0);
}

/* What a frame's header alone says. */
static bool frame_ok(struct websocket *w)
{
	const struct wslay_frame_iocb *f = &w->now;
	bool control = wslay_is_ctrl_frame(f->opcode);

	if (f->rsv)
		return bad(w, "a frame has a reserved bit set, but no extension was agreed on");
	if (f->mask && !w->wants_masked)
		return bad(w, "a frame is masked, as those of clients alone are");
	if (!f->mask && w->wants_masked)
		return bad(w, "a frame is not masked");
	if (f->opcode > (control ? WEBSOCKET_PONG : WEBSOCKET_BINARY))
		return bad(w, "a frame has a reserved opcode");
	if (control)
		return true; /* wslay looks at its length, and that it is whole */
	if (f->opcode == WEBSOCKET_CONTINUATION && !w->fragments)
		return bad(w, "a frame continues a message, but none has begun");
	if (f->opcode != WEBSOCKET_CONTINUATION && w->fragments)
		return bad(w, "a message begins inside another");
	w->fragments = !f->fin;
	return true;
}

/* RFC 6455 section 7.4: what may stand in a Close. */
static bool status_ok(uint16_t status)
{
	return (status >= 1000 && status <= 1014 && status != 1004 && status != 1005 &&
		       status != 1006) ||
	       (status >= 3000 && status <= 4999);
}

uint16_t websocket_close_status(const struct websocket_piece *close)
{
	const unsigned char *p = (const unsigned char *)close->p;

	return close->n < 2 ? NO_STATUS : (uint16_t)(p[0] << 8 | p[1]);
}

/* Control frames are handed out whole. */
static enum http_progress control_done(struct websocket *w, struct websocket_piece *ret)
{
	ret->off = 0;
	ret->p = w->control;
	ret->n = (size_t)w->now.payload_length;
	if (w->now.opcode != WEBSOCKET_CLOSE)
		return HTTP_DONE;
	w->closed = true;
	if (ret->n == 1 || (ret->n > 1 && !status_ok(websocket_close_status(ret)))) {
		w->problem = "a Close frame has no valid status";
		return HTTP_BAD;
	}
	return HTTP_DONE;
}

/* The piece that wslay gave. HTTP_MORE: it is a part of a control frame. */
static enum http_progress piece_of(
	struct websocket *w, const struct wslay_frame_iocb *f, struct websocket_piece *ret)
{
	bool first = !w->inside, control = wslay_is_ctrl_frame(f->opcode);

	if (first) {
		w->now = *f;
		w->off = 0;
		w->used += header_size(f);
		if (!frame_ok(w))
			return HTTP_BAD;
	}
	*ret = (struct websocket_piece){
		.frame = {w->now.opcode, w->now.fin, w->now.payload_length},
		.off = w->off,
		.p = (const char *)f->data,
		.n = f->data_length,
	};
	if (control && f->data_length)
		memcpy(w->control + w->off, f->data, f->data_length);
	w->off += f->data_length;
	w->used += f->data_length;
	w->inside = w->off < w->now.payload_length;
	if (!control)
		return HTTP_DONE;
	return w->inside ? HTTP_MORE : control_done(w, ret);
}

enum http_progress websocket_next(struct websocket *w, struct websocket_piece *ret)
{
	while (!w->problem) {
		struct wslay_frame_iocb f = {0};
		enum http_progress p;
		ssize_t r;

		if (w->closed) {
			if (w->in_n == 0 && w->taken == w->used)
				return HTTP_MORE;
			w->problem = "something follows a Close frame";
			break;
		}
		r = wslay_frame_recv(w->frames, &f);
		if (r == WSLAY_ERR_WANT_READ) {
			if (w->in_n == 0)
				return HTTP_MORE;
			continue;
		}
		if (r < 0) {
			w->problem =
				"a frame's header is malformed: a length above 2^63 or not in "
				"its shortest form, or a control frame in fragments or of more "
				"than 125 bytes";
			break;
		}
		p = piece_of(w, &f, ret);
		if (p != HTTP_MORE)
			return p;
	}
	return HTTP_BAD;
}

/* ---- Sending -------------------------------------------------------------------------------- */

size_t websocket_write(struct websocket *w, const struct websocket_frame *f, const void *p,
	size_t n, struct buf *out, size_t max)
{
	struct wslay_frame_iocb io = {.fin = f->fin,
		.opcode = f->opcode,
		.payload_length = f->length,
		.mask = w->masks,
		.data = p,
		.data_length = n};
	ssize_t r;

	w->out = out;
	w->out_max = max;
	r = wslay_frame_send(w->frames, &io);
	return r > 0 ? (size_t)r : 0;
}

void websocket_control(
	struct websocket *w, enum websocket_opcode opcode, const void *p, size_t n, struct buf *out)
{
	struct websocket_frame f = {(uint8_t)opcode, true, n};

	(void)websocket_write(w, &f, p, n, out, SIZE_MAX);
}

void websocket_close(struct websocket *w, uint16_t status, struct buf *out)
{
	unsigned char code[2] = {(unsigned char)(status >> 8), (unsigned char)status};

	websocket_control(w, WEBSOCKET_CLOSE, code, sizeof(code), out);
}
