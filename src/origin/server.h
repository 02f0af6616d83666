/* Inside the origin only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "http/http.h"
#include "origin/origin.h"
#include "origin/route.h"

#define ORIGIN_RX_SIZE ((size_t)64 << 10)
#define ORIGIN_TABLE_SIZE ((size_t)1 << 20) /* of the pattern, kept ready */
#define ORIGIN_RUN_MAX ((size_t)256 << 10)  /* pattern bytes sent by one call */
#define ORIGIN_CHUNK_SIZE ((size_t)4096)
#define ORIGIN_BODY_MAX ((uint64_t)16 << 20)  /* of one request */
#define ORIGIN_ECHO_MAX ((uint64_t)512 << 20) /* of all requests held at once */
#define ORIGIN_IDLE_NS (60 * NS_PER_S)        /* without a byte in either direction */
#define ORIGIN_HEAD_NS (30 * NS_PER_S)        /* for a whole request head */
#define ORIGIN_TYPE_MAX 200
#define ORIGIN_LINGER_NS (2 * NS_PER_S)

enum client_state {
	CLIENT_HEAD,   /* waiting for a request's head, or inside it */
	CLIENT_BODY,   /* inside a request's body */
	CLIENT_DELAY,  /* the answer waits for its time */
	CLIENT_SEND,   /* the answer is being sent */
	CLIENT_LINGER, /* all is sent and our side shut; reads away what still comes */
};

enum answer_source {
	SOURCE_NONE,
	SOURCE_PATTERN, /* the pattern from off to end */
	SOURCE_MEMORY,  /* client.kept from off to end */
};

struct answer {
	enum answer_source source;
	uint64_t off, end;
	bool chunked;
	uint64_t pause_ns;  /* between bytes; 0: none */
	bool head;          /* to HEAD: no body */
	bool cut;           /* the connection closes after what is sent, without lingering */
	bool reset, silent; /* no answer at all: RST, or FIN */
};

struct client {
	int fd;
	uint8_t state;
	bool keep, echo, last_chunk_sent;
	uint32_t events;            /* asked for */
	uint64_t moved_ns, head_ns; /* last byte moved; since when a head is awaited */
	uint64_t lingered;          /* bytes read away */
	uint64_t due_ns;            /* timer; 0: none */
	size_t heap_at;             /* its place in the heap */
	struct client *prev, *next;
	struct buf in;  /* bytes received and not yet used */
	struct buf out; /* head and framing to be sent, from out_off on */
	size_t out_off;
	struct buf kept;            /* request body for /echo, or a short text */
	uint64_t delay_ns;          /* before the answer starts */
	char type[ORIGIN_TYPE_MAX]; /* Content-Type to echo */
	size_t type_n;
	struct answer answer;
	struct http_head head;
	struct http_body body;
};

struct timers {
	struct client **v;
	size_t n, cap;
};

struct origin {
	int epfd, listen_fd, signal_fd;
	bool listening, stopping;
	uint64_t now, stop_at;
	uint64_t echo_bytes; /* held in all clients' kept */
	struct client *clients;
	size_t n_clients;
	struct timers timers;
	char *rx, *table, *scratch;
};

/* client.c */
struct client *client_new(struct origin *o, int fd);
void client_free(struct origin *o, struct client *c);
void client_event(struct origin *o, struct client *c, uint32_t events);
void client_due(struct origin *o, struct client *c); /* its timer went off */

/* answer.c: decides the answer by the head and writes the answer's head into c->out. */
void answer_begin(struct client *c, const struct route *r, const char *head);
void answer_finish(struct client *c); /* the request's body is complete */
void answer_error(struct client *c, int status, const char *why); /* closes afterwards */

/* send.c: 1 all is sent, 0 the socket is full or a pause is due, -1 the client is gone. */
int answer_send(struct origin *o, struct client *c);

/* timer.c */
void timer_set(struct timers *t, struct client *c, uint64_t due_ns);
void timer_clear(struct timers *t, struct client *c);
struct client *timer_first(const struct timers *t); /* NULL: none */
