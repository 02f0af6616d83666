/* Inside the origin only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include <openssl/types.h>

#include "base/buf.h"
#include "http/http.h"
#include "origin/origin.h"
#include "origin/route.h"

#define ORIGIN_RX_SIZE ((size_t)64 << 10)
#define ORIGIN_RECORD_SIZE ((size_t)16 << 10) /* the most that one TLS record holds */
#define ORIGIN_TABLE_SIZE ((size_t)1 << 20)   /* of the pattern, kept ready */
#define ORIGIN_RUN_MAX ((size_t)256 << 10)    /* bytes sent by one call */
#define ORIGIN_CHUNK_SIZE ((size_t)4096)
#define ORIGIN_BODY_MAX ((uint64_t)16 << 20)  /* of one request */
#define ORIGIN_ECHO_MAX ((uint64_t)512 << 20) /* of all requests held at once */
#define ORIGIN_IDLE_NS (60 * NS_PER_S)        /* without a byte in either direction */
#define ORIGIN_HEAD_NS (30 * NS_PER_S)        /* for a whole request head, or a handshake */
#define ORIGIN_STALL_NS (600 * NS_PER_S)
#define ORIGIN_TYPE_MAX 200
#define ORIGIN_LINGER_NS (2 * NS_PER_S)

enum client_state {
	CLIENT_HANDSHAKE, /* of TLS */
	CLIENT_HEAD,      /* waiting for a request's head, or inside it */
	CLIENT_BODY,      /* inside a request's body */
	CLIENT_DELAY,     /* the answer waits for its time */
	CLIENT_SEND,      /* the answer is being sent */
	CLIENT_STALL,     /* the answer does not go on */
	/* What is received in these is no request of HTTP/1.1. */
	CLIENT_H2,     /* HTTP/2: streams have states of their own */
	CLIENT_SOCKET, /* WebSocket */
	CLIENT_LINGER, /* all is sent and our side shut; reads away what still comes */
};

enum answer_source {
	SOURCE_NONE,
	SOURCE_PATTERN, /* the pattern from off to end */
	SOURCE_MEMORY,  /* kept from off to end */
	SOURCE_EVENTS,  /* the stream of events from off to end */
};

/* What follows when the body has been sent as far as end. */
enum answer_after {
	AFTER_DONE,
	AFTER_CUT,   /* an end that looks like one; HTTP/1.1: closed */
	AFTER_CLOSE, /* closed; HTTP/2: the stream is reset */
	AFTER_GONE,  /* closed, the whole connection */
	AFTER_RESET, /* reset; HTTP/2: the stream */
	AFTER_STALL,
	AFTER_GOAWAY,
	AFTER_ALERT,
	AFTER_SOCKET, /* the connection becomes a WebSocket, which says that itself */
};

struct answer {
	uint8_t source, after;
	bool chunked; /* the length is not said */
	bool head;    /* to HEAD: no body */
	bool nothing; /* not even a head */
	bool flip;    /* the byte at flip_at is sent changed */
	uint64_t off, end;
	uint64_t pause_ns; /* between bytes; 0: none */
	uint64_t flip_at;
};

struct range {
	uint64_t off, end, total;
};

/* An answer's head, in no protocol yet. */
struct reply {
	int status;
	bool etag;        /* of the route's number */
	bool ranged;      /* a Content-Range is given */
	const char *type; /* NULL: no Content-Type */
	size_t type_n;
	uint64_t length;
	uint64_t etag_n;
	struct range range;
};

/* A request and its answer. */
struct exchange {
	struct client *client;
	uint64_t due_ns; /* timer; 0: none */
	size_t heap_at;  /* its place in the heap */
	bool echo, last_chunk_sent;
	uint8_t fault;
	uint64_t delay_ns;          /* before the answer starts */
	struct buf kept;            /* request body for /echo, or a short text */
	struct buf extra;           /* fields of /header: name, NUL, value, NUL */
	char type[ORIGIN_TYPE_MAX]; /* Content-Type to echo */
	size_t type_n;
	struct answer answer;
	struct reply reply;
};

struct client {
	int fd;
	uint8_t state;
	bool keep, dead, read_wants_out;
	uint32_t events;            /* asked for */
	uint64_t moved_ns, head_ns; /* last byte moved; since when a head is awaited */
	uint64_t served;            /* answers sent */
	uint64_t lingered;          /* bytes read away */
	struct client *prev, *next;
	SSL *ssl;              /* NULL: cleartext */
	struct h2 *h2;         /* NULL: HTTP/1.1 */
	struct socket *socket; /* NULL: no WebSocket */
	struct buf in;         /* bytes received and not yet used */
	struct buf out;        /* head and framing to be sent, from out_off on */
	size_t out_off;
	struct exchange x; /* HTTP/1.1: one at a time */
	struct http_head head;
	struct http_body body;
};

struct timers {
	struct exchange **v;
	size_t n, cap;
};

struct listener {
	int fd;
	bool watched;
	SSL_CTX *tls; /* NULL: cleartext */
};

#define LISTENERS 2

struct origin {
	int epfd, signal_fd, dead_fd;
	bool stopping;
	uint64_t now, stop_at;
	uint64_t echo_bytes; /* held in kept of all exchanges */
	uint64_t fault_count[FAULTS];
	struct listener listeners[LISTENERS];
	struct client *clients, *dead; /* dead: freed when no event can name them any more */
	size_t n_clients;
	struct timers timers;
	char *rx, *table, *scratch;
	struct buf frames; /* HTTP/2 on its way out */
};

/* client.c */
struct client *client_new(struct origin *o, int fd, SSL_CTX *tls);
void client_free(struct origin *o, struct client *c); /* it stays readable until clients_reap() */
void clients_reap(struct origin *o);
void client_event(struct origin *o, struct client *c, uint32_t events);
void exchange_due(struct origin *o, struct exchange *x);               /* its timer went off */
bool client_want(struct origin *o, struct client *c, uint32_t events); /* false: it is gone */
void client_linger(struct origin *o, struct client *c);
void client_reset(struct origin *o, struct client *c);
/* As the answer's `after` says. */
void client_end_badly(struct origin *o, struct client *c);

/* exchange.c */
void exchange_clear(struct origin *o, struct exchange *x); /* its request and answer are done */
void exchange_release(struct origin *o, struct exchange *x);
/* Keeps a piece of the request's body where the route wants it; got: all of it so far. Returns a
 * status when it is refused, else 0. */
int exchange_keep(struct origin *o, struct exchange *x, const void *p, size_t n, uint64_t got);

/* transport.c: with TLS or without. */
enum { TRANSPORT_AGAIN = -1, TRANSPORT_GONE = -2 };
/* Bytes, 0 at the end, or one of the above. */
ssize_t transport_read(struct origin *o, struct client *c, void *to, size_t n);
/* Bytes taken from both pieces, or one of the above; never 0. */
ssize_t transport_write(struct origin *o, struct client *c, const struct iovec v[2]);
bool transport_pending(const struct client *c); /* bytes wait inside, the socket does not tell */
void transport_alert(struct client *c);         /* a fatal alert; cleartext: nothing */
void transport_end(struct client *c);           /* nothing more is sent */

/* What an answer depends on, from either protocol. */
enum ask_field { ASK_CONTENT_TYPE, ASK_IF_NONE_MATCH, ASK_IF_RANGE, ASK_RANGE, ASK_FIELDS };
struct ask {
	struct text method;
	const struct http_head *head; /* HTTP/1.1, with its bytes */
	const char *bytes;
	const struct text *fields; /* HTTP/2: by enum ask_field */
};
struct text ask_field(const struct ask *q, enum ask_field f);

/* answer.c: decides the answer. */
void answer_begin(struct origin *o, struct exchange *x, const struct route *r, const struct ask *q);
void answer_finish(struct exchange *x); /* the request's body is complete */
void answer_error(struct exchange *x, int status, const char *why);
bool status_without_body(int status);

/* condition.c */
enum range_result { RANGE_NONE, RANGE_PART, RANGE_UNSATISFIABLE };
/* If-None-Match: "*" or a list. */
bool none_match_hit(struct text v, const char *etag);
/* ret->total is set before; the others when the result is RANGE_PART. */
enum range_result range_of(const struct ask *q, const char *etag, struct range *ret);

/* fault.c: whether this request's answer is a wrong one; and spoils what has been decided. */
enum fault fault_of(struct origin *o, const struct route *r);
void answer_spoil(struct exchange *x);

/* head.c: the reply as HTTP/1.1, into c->out. */
void head_write(struct client *c);
/* The fields of /header. */
void head_extra(struct buf *b, const struct buf *extra);

/* body.c: the next run of body bytes as they lie in memory, at most max; empty at the end. */
struct iovec body_run(struct origin *o, const struct exchange *x, size_t max);

/* events.c */
uint64_t events_bytes(uint64_t n); /* that n events take */
/* n bytes of the stream, from off on. */
void events_text(uint64_t off, char *to, size_t n);

/* socket.c */
void socket_answer(struct exchange *x, const struct ask *q);
void socket_begin(struct origin *o, struct client *c);
void socket_receive(struct origin *o, struct client *c, const char *p, size_t n);
void socket_event(struct origin *o, struct client *c); /* the socket takes bytes again */
void socket_stop(struct origin *o, struct client *c);  /* says good-bye */
void socket_free(struct client *c);

/* send.c: 1 all is sent, 0 the socket is full or a pause is due, -1 the client is gone. */
int answer_send(struct origin *o, struct client *c);

/* h2.c */
bool h2_begin(struct origin *o, struct client *c); /* false: the client is gone */
void h2_receive(struct origin *o, struct client *c, const char *p, size_t n);
void h2_event(struct origin *o, struct client *c); /* the socket takes bytes again */
void h2_due(struct origin *o, struct exchange *x);
void h2_stop(struct client *c);        /* no new streams; ends with the last one */
bool h2_idle(const struct client *c);  /* nothing is under way */
bool h2_waits(const struct client *c); /* a stream waits for its time */
void h2_free(struct origin *o, struct client *c);

/* timer.c */
void timer_set(struct timers *t, struct exchange *x, uint64_t due_ns);
void timer_clear(struct timers *t, struct exchange *x);
struct exchange *timer_first(const struct timers *t); /* NULL: none */
