/* An HTTP/2 server whose every frame is written by the test, one connection at a time. */
#pragma once

#include "script.h"

enum {
	H2_DATA = 0,
	H2_HEADERS = 1,
	H2_RST_STREAM = 3,
	H2_SETTINGS = 4,
	H2_PUSH_PROMISE = 5,
	H2_PING = 6,
	H2_GOAWAY = 7,
	H2_CONTINUATION = 9,
	H2_END_STREAM = 1,
	H2_ACK = 1,
	H2_END_HEADERS = 4,
	H2_REFUSED = 7,
};

struct h2_reply {
	uint8_t bytes[1 << 17];
	size_t n;
	enum after after;
	size_t again, times; /* the bytes from again on are sent so many times more */
};

void h2_frame(
	struct h2_reply *r, uint8_t type, uint8_t flags, uint32_t stream, const void *p, size_t n);
/* A frame whose payload is one number of four bytes, or two. */
void h2_number(struct h2_reply *r, uint8_t type, uint32_t stream, uint32_t a);
void h2_goaway(struct h2_reply *r, uint32_t last, uint32_t code);
/* HEADERS with :status as a byte of HPACK's static table (0x88: 200, 0x8e: 500) and, unless it is
 * NULL, a Content-Length; then the body in one DATA frame that ends the stream. */
void h2_answer(
	struct h2_reply *r, uint32_t stream, uint8_t status, const char *length, const char *body);

struct h2_request {
	uint32_t stream;
	uint64_t number;  /* of all requests, from 1 */
	uint64_t on_conn; /* of those on this connection, from 1 */
};
typedef void h2_fn(void *ctx, const struct h2_request *q, struct h2_reply *r);

struct h2script;
struct h2script *h2script_start(h2_fn *fn, void *ctx, SSL_CTX *tls, uint16_t *port);
void h2script_stop(struct h2script *s);
