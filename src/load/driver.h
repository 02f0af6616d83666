/* Inside the load driver only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "http/http.h"
#include "http/loopback.h"
#include "load/histogram.h"
#include "load/load.h"
#include "load/order.h"

#define LOAD_RX_SIZE ((size_t)128 << 10)
#define LOAD_INTERIM_MAX 16 /* interim (1xx) answers before the final one */

enum conn_state {
	CONN_CLOSED,
	CONN_CONNECTING,
	CONN_IDLE, /* open, no request under way */
	CONN_HEAD, /* request (being) sent, waiting for the answer's head */
	CONN_BODY, /* inside the answer's body */
};

struct conn {
	int fd; /* -1: closed */
	uint8_t state;
	bool want_out; /* EPOLLOUT is asked for */
	bool last;     /* the request says that the connection will be closed after it */
	bool retried;
	uint8_t interim;
	uint32_t class;                /* of the request under way, or of the last one */
	uint64_t seq;                  /* its number in the sequence, from 1 */
	size_t out_off;                /* bytes of it sent */
	uint64_t served;               /* answers complete on this connection */
	uint64_t started_ns, moved_ns; /* request begun; last byte in either direction */
	uint64_t answer_n;             /* bytes of the answer received so far */
	uint64_t bytes_in, bytes_out;
	struct buf part; /* the head so far when it did not come whole */
	struct http_head head;
	struct http_body body;
};

/* A class's request as bytes, for a connection that stays and for one that ends with it. */
struct request_bytes {
	char *p;
	size_t n;
};

struct load_class {
	const struct load_request *r;
	struct request_bytes keep, last;
	bool head;       /* HEAD */
	bool idempotent; /* may be sent again when nothing of an answer came */
	int status;
	int64_t bytes; /* expected length of the body or -1, from expect_bytes and expect_body_n */
};

struct load {
	struct load_plan plan;
	struct loopback addr;
	int epfd;
	struct conn *conns;
	struct load_class *classes;
	struct load_order order;
	char *rx;
	uint64_t now;
	/* of the current slice */
	uint64_t slice_requests, answered, under_way, connects, retries;
	uint64_t *by_class;
	struct histogram latency;
	char *problem;
	struct error *fatal; /* where a failure of the machine goes; set for the slice */
	bool failed;
};

/* conn.c */
void conn_next(struct load *l, struct conn *c);
void conn_event(struct load *l, struct conn *c, uint32_t events);
void conn_close(struct conn *c);

/* answer.c: judges what was received; false when the run has a problem now. */
bool answer_head_ok(struct load *l, struct conn *c, const char *p, size_t n);
bool answer_piece_ok(struct load *l, struct conn *c, struct http_piece piece);
bool answer_end_ok(struct load *l, struct conn *c);
/* Records the first deviation, with the class and request in front. */
void load_problem(struct load *l, const struct conn *c, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds at most max bytes in printable form, in double quotes. */
void load_quote(struct buf *b, const char *p, size_t n, size_t max);

/* request.c */
int classes_build(struct load *l, struct error *err);
void classes_release(struct load *l);

/* sockets.c: the state of every connection in words; the caller frees. */
char *sockets_describe(const struct load *l);

static inline const struct request_bytes *conn_request(const struct load *l, const struct conn *c)
{
	const struct load_class *k = &l->classes[c->class];

	return c->last ? &k->last : &k->keep;
}
