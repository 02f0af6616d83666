/* Inside the load driver only. Three layers: transport.h moves bytes, h1.c and h2.c make requests
 * and answers of them, answer.c judges. exchange.c says which request comes next. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <nghttp2/nghttp2.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/strv.h"
#include "facts/quote.h"
#include "http/http.h"
#include "http/loopback.h"
#include "load/histogram.h"
#include "load/load.h"
#include "load/order.h"
#include "load/transport.h"

#define LOAD_RX_SIZE ((size_t)128 << 10)
#define LOAD_INTERIM_MAX 16 /* interim (1xx) answers before the final one */
#define LOAD_REFUSED_MAX 8  /* times that a server may refuse one request unprocessed */
/* A body with an expected digest is kept, to compare the next ones with, up to this size. */
#define LOAD_KEEP_MAX ((size_t)64 << 20)

enum exchange_state {
	EXCHANGE_IDLE,    /* no request under way */
	EXCHANGE_WAITING, /* has a request, but no connection that takes it yet */
	EXCHANGE_HEAD,    /* request (being) sent, waiting for the answer's head */
	EXCHANGE_BODY,    /* inside the answer's body */
	EXCHANGE_SOCKET,  /* inside a WebSocket */
	EXCHANGE_STATES,
};

/* A place for one request at a time with its answer: a connection of HTTP/1.1 has one, one of
 * HTTP/2 as many as it has streams. */
struct exchange {
	struct conn *c;
	struct exchange *next; /* in the queue of those that wait for their time */
	uint8_t state;
	uint8_t interim;
	uint8_t refused; /* times that the server said it did not process the request */
	bool queued;
	bool retried;
	uint32_t class;     /* of the request under way, or of the last one */
	int32_t stream;     /* HTTP/2 */
	bool ended;         /* HTTP/2: the server has ended the stream; a reset is no end */
	bool padded;        /* HTTP/2: frames of the body are */
	uint64_t announced; /* HTTP/2: of the body, with padding, by the heads of its frames */
	uint64_t seq;       /* its number in the sequence, from 1 */
	/* When it was begun; with a rate, when it should have been. */
	uint64_t started_ns;
	size_t out_off;    /* bytes of the request sent; HTTP/2: of its body */
	uint64_t answer_n; /* bytes of the answer received so far */
	uint64_t got;      /* of them bytes of the body */
	/* As the head announced them. */
	int status;
	bool has_length;
	uint64_t length;
	/* The body is not compared as it comes: it is hashed (and kept, to compare the next ones
	 * with), or its events are counted. */
	bool reading, keeping;
	struct sha256 hash;
};

enum conn_state {
	CONN_CLOSED,
	CONN_CONNECTING,
	CONN_HANDSHAKE, /* TLS */
	CONN_OPEN,
};

struct conn {
	struct transport t;
	uint8_t state;
	uint32_t events;   /* that epoll reports */
	bool last;         /* no request after those that are under way */
	bool left;         /* nothing that still comes is looked at */
	bool busy;         /* inside nghttp2, which may not be called again or released */
	uint32_t active;   /* exchanges that are being served on it */
	uint64_t taken;    /* requests sent on this connection */
	uint64_t served;   /* answers complete on it */
	uint64_t moved_ns; /* last byte in either direction */
	uint64_t bytes_in, bytes_out;
	struct exchange *x;    /* l->streams of them */
	struct buf part;       /* HTTP/1.1: the head so far when it did not come whole;
				* HTTP/2: names and values of the head */
	struct http_head head; /* heads never interleave on a connection, not even in HTTP/2 */
	struct http_body body; /* HTTP/1.1 */
	struct h2 *h2;
	struct ws *ws; /* the WebSocket that it has become */
};

/* A class's request as bytes, for a connection that stays and for one that ends with it. */
struct request_bytes {
	char *p;
	size_t n;
};

struct load_class {
	const struct load_request *r;
	struct request_bytes keep, last; /* HTTP/1.1 */
	nghttp2_nv *nv;                  /* HTTP/2 */
	size_t n_nv;
	struct strv h2_text; /* what nv points to */
	bool head;           /* HEAD */
	bool idempotent;     /* may be sent again when nothing of an answer came */
	int64_t bytes;       /* expected length of the body or -1, from expect_bytes and the body */
	/* Exact bytes: the caller's, or those of the first answer whose digest was right. */
	const char *body;
	struct buf kept;
	bool keeping; /* an exchange is filling kept */
	/* HTTP/1.1: the last head that was right, and what it said. Most are the same byte for byte
	 * until the date changes. */
	struct buf seen;
	struct http_head seen_head; /* without its fields */
	char **taught;              /* values of r->learned; NULL: not yet */
	bool fields;                /* those of the answer's head are looked at */
	bool reading;               /* its bodies are hashed or counted */
	struct ws_class *ws;
	bool teaches;
	bool asked; /* somebody learns from it, and its first request was begun */
};

struct load {
	struct load_plan plan;
	struct loopback addr;
	SSL_CTX *tls;       /* NULL: cleartext */
	struct h2_side *h2; /* NULL: HTTP/1.1 */
	uint32_t streams;   /* exchanges of a connection */
	int epfd;
	struct conn *conns;
	struct exchange *exchanges;
	struct event_count *events; /* one for each exchange; NULL when no class counts any */
	struct load_class *classes;
	struct load_order order;
	char *rx, *tx;
	uint64_t now;
	/* of the current slice */
	uint64_t begun;
	uint64_t slice_requests, answered, under_way, connects, resumed, retries;
	uint64_t *by_class;
	struct histogram latency;
	struct exchange *queue, **queue_end; /* wait for their time, first come first served */
	bool teaching;
	char *problem;
	struct error *fatal; /* where a failure of the machine goes; set for the slice */
	bool failed;
};

/* exchange.c */
/* Gives every exchange its first request of a slice. */
void exchange_begin_all(struct load *l);
/* The answer is there: judges its end, counts it, and goes on with the next request. */
void exchange_done(struct load *l, struct exchange *x);
/* The request goes out again on another connection; false when it may not. unprocessed: the server
 * said that it did not begin with it. */
bool exchange_again(struct load *l, struct exchange *x, bool unprocessed);
/* With a rate: begins what is due. */
void exchange_begin_due(struct load *l);
/* When the next request is due; UINT64_MAX when no exchange waits for that. */
uint64_t exchange_next_ns(const struct load *l);

/* conn.c */
/* Sends x's request on its connection, or opens that first. */
void conn_request(struct load *l, struct exchange *x);
void conn_event(struct load *l, struct conn *c, uint32_t events);
/* The connection ended: what was under way is begun again where HTTP allows it. */
void conn_lost(struct load *l, struct conn *c, const char *how);
/* gentle: says good-bye, where the protocol does. */
void conn_close(struct load *l, struct conn *c, bool gentle);
/* After requests were begun, or answers ended: sends what HTTP/2 collected, and closes a connection
 * that is done. */
void conn_flush(struct load *l, struct conn *c);
/* out: tell when there is room to send. */
void conn_interest(struct load *l, struct conn *c, bool out);

/* h1.c */
void load_h1_begin(struct load *l, struct exchange *x);
void load_h1_send(struct load *l, struct conn *c);
void load_h1_received(struct load *l, struct conn *c, const char *p, size_t n);
/* The server closed its side. true: that was the end of an answer. */
bool load_h1_eof(struct load *l, struct conn *c);
/* The rest of the answer is not wanted. */
void load_h1_leave(struct exchange *x);

/* h2.c */
int load_h2_side_make(struct load *l, struct error *err);
void load_h2_side_free(struct load *l);
int load_h2_open(struct load *l, struct conn *c);
void load_h2_close(struct load *l, struct conn *c, bool gentle);
void load_h2_begin(struct load *l, struct exchange *x);
void load_h2_send(struct load *l, struct conn *c);
void load_h2_received(struct load *l, struct conn *c, const char *p, size_t n);
void load_h2_leave(struct exchange *x);
/* What the server said when it ended the connection; "" when nothing. */
const char *load_h2_farewell(const struct conn *c);

/* answer.c: judges what was received; false when the run has a problem now. */
/* h: the answer's head with its fields at p. rest: what was received behind it. */
bool answer_head_ok(struct load *l, struct exchange *x, const struct http_head *h, const char *p,
	struct http_piece rest);
/* Takes over what a head says that is known to be right. */
void answer_head_known(struct exchange *x, const struct http_head *h);
bool answer_fields_ok(struct load *l, struct exchange *x, const struct http_head *h, const char *p);
bool answer_interim_ok(struct load *l, struct exchange *x, int status);
/* false without a problem: no more of the answer is wanted, see load_events_piece(). */
bool answer_piece_ok(struct load *l, struct exchange *x, struct http_piece piece);
bool answer_end_ok(struct load *l, struct exchange *x);
/* "differs first at byte 3 of 10: expected 0x61 'a', got 0x62 'b'"; at: where both begin. */
void answer_difference(struct buf *b, const char *want, const char *got, uint64_t at, uint64_t n);
/* Forgets what was received of an answer. */
void answer_drop(struct load *l, struct exchange *x);
/* Records the first deviation, with the class and request in front. */
void load_problem(struct load *l, const struct exchange *x, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* websocket.c: i is the class's number, from 0. */
int load_ws_class_make(const struct load *l, struct load_class *k, size_t i, struct error *err);
void load_ws_class_release(struct load_class *k);
/* The fields of the request that ask for it. */
void load_ws_fields(const struct load_class *k, struct buf *b);
#define LOAD_WS_FIELDS 4
/* Status 101 is there, its head at p. false: it is wrong. */
bool load_ws_begin(struct load *l, struct conn *c, const char *p);
void load_ws_received(struct load *l, struct conn *c, const char *p, size_t n);
void load_ws_send(struct load *l, struct conn *c);
/* The connection ended. true: the session was over, and is counted. */
bool load_ws_over(struct load *l, struct conn *c);
void load_ws_lost(struct load *l, struct exchange *x, const char *how);
void load_ws_close(struct conn *c);
void load_ws_describe(struct buf *b, const struct load *l, const struct exchange *x);

/* events.c */
int load_events_check(const struct load_request *r, size_t i, struct error *err);
/* Room for so many exchanges; NULL when no class needs it. */
struct event_count *load_events_new(const struct load *l, size_t n);
bool load_events_begin(
	struct load *l, struct exchange *x, const struct http_head *h, const char *p);
/* false: something is wrong, or the driver has left and the exchange has its next request. */
bool load_events_piece(struct load *l, struct exchange *x, struct http_piece piece);
bool load_events_end(struct load *l, struct exchange *x);
void load_events_describe(struct buf *b, const struct load *l, const struct exchange *x);

/* learn.c */
int learn_check(const struct load *l, size_t class, struct error *err);
/* A class whose answer others wait for and that was not asked yet; n_mix: none. */
size_t learn_next(const struct load *l);
/* Takes from an answer what others wait for; false when it is not there. */
bool learn_from(struct load *l, struct exchange *x, const struct http_head *h, const char *p);

/* request.c */
int classes_build(struct load *l, struct error *err);
void classes_release(struct load *l);
/* Again, because a header of it has a value now. */
void class_render(const struct load *l, struct load_class *k);
bool class_status_ok(const struct load_class *k, int status);
void class_statuses(const struct load_class *k, struct buf *b);

bool request_has_header(const struct load_request *r, const char *name);
bool request_needs_length(const struct load_request *r);

/* request_h2.c */
void class_render_h2(const struct load *l, struct load_class *k);
void class_release_h2(struct load_class *k);

/* sockets.c: the state of every connection in words; the caller frees. */
char *sockets_describe(const struct load *l);

static inline const struct request_bytes *conn_request_bytes(
	const struct load *l, const struct conn *c)
{
	const struct load_class *k = &l->classes[c->x->class];

	return c->last ? &k->last : &k->keep;
}
