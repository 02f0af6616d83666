/* WebSocket (RFC 6455) for the load driver and the origin: the values of the handshake, and frames,
 * which wslay reads and writes. Nothing here does input or output, and no message is kept: payloads
 * come out in pieces as they arrive, control frames whole. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "http/http.h"

#define WEBSOCKET_KEY 25    /* 24 characters and the NUL */
#define WEBSOCKET_ACCEPT 29 /* 28 characters and the NUL */
#define WEBSOCKET_CONTROL_MAX 125

enum websocket_opcode {
	WEBSOCKET_CONTINUATION = 0,
	WEBSOCKET_TEXT = 1,
	WEBSOCKET_BINARY = 2,
	WEBSOCKET_CLOSE = 8,
	WEBSOCKET_PING = 9,
	WEBSOCKET_PONG = 10,
};

/* A value for Sec-WebSocket-Key: the same for the same seed. */
void websocket_key(uint64_t seed, char key[WEBSOCKET_KEY]);
/* Whether a client may send it: 16 bytes in base64. */
bool websocket_key_ok(const char *p, size_t n);
/* What Sec-WebSocket-Accept must be for a key. */
void websocket_accept(const char *key, size_t n, char accept[WEBSOCKET_ACCEPT]);

struct websocket_frame {
	uint8_t opcode;
	bool fin;
	uint64_t length; /* of the payload */
};

/* A run of a frame's payload. */
struct websocket_piece {
	struct websocket_frame frame;
	uint64_t off; /* where it stands in the payload */
	const char *p;
	size_t n;
};

struct websocket;

/* masks: what is sent is masked (clients do that), by keys that depend on the seed; wants_masked:
 * what is received must be (servers want that). */
struct websocket *websocket_new(bool masks, bool wants_masked, uint64_t seed);
void websocket_free(struct websocket *w); /* NULL is fine */

/* Received bytes: they stay the caller's until websocket_next() gives HTTP_MORE. */
void websocket_feed(struct websocket *w, const char *p, size_t n);
/* HTTP_DONE: *ret is the next piece (valid until the next call; an empty frame has one of no
 * bytes); HTTP_MORE: all is used up; HTTP_BAD: websocket_problem() says what is wrong, for good.
 * Checked are the frames' form, masks, reserved bits and opcodes, the order of fragments, the form
 * of Close, and that nothing follows it. Whether text is UTF-8 is not. */
enum http_progress websocket_next(struct websocket *w, struct websocket_piece *ret);
const char *websocket_problem(const struct websocket *w);
/* The status of a received Close; 1005: it has none. */
uint16_t websocket_close_status(const struct websocket_piece *close);

/* Writes to out, up to max bytes of content, the frame f whose payload goes on with the n bytes at
 * p. Returns how many of them were taken. The header comes with the first bytes; a frame is to be
 * written to its end before the next. */
size_t websocket_write(struct websocket *w, const struct websocket_frame *f, const void *p,
	size_t n, struct buf *out, size_t max);
/* A whole control frame; n at most WEBSOCKET_CONTROL_MAX. Not inside another frame. */
void websocket_control(struct websocket *w, enum websocket_opcode opcode, const void *p, size_t n,
	struct buf *out);
void websocket_close(struct websocket *w, uint16_t status, struct buf *out);
