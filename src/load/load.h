/* The load driver: a fixed number of HTTP requests, every answer checked. Knows nothing of PGO. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct load_header {
	const char *name, *value; /* value NULL in an expectation: any value */
};

enum load_protocol {
	LOAD_H1,
	LOAD_H1_TLS,
	LOAD_H2,
	LOAD_H2_TLS
}; /* h2 in clear: prior knowledge */

/* A header whose value an earlier answer of the same run said. */
struct load_learned {
	/* If-None-Match, If-Match, If-Range: its ETag; If-Modified-Since, If-Unmodified-Since: its
	 * Last-Modified; Cookie: the names and values of its Set-Cookie. */
	const char *name;
	size_t from; /* mix entry that teaches it: its first request comes before any other */
};

/* The request becomes a WebSocket: status 101 is to be expected, then each message is sent and must
 * come back as it was, then both sides close. HTTP/1.1 alone. */
struct load_websocket {
	uint64_t messages; /* 0: no WebSocket */
	size_t size;       /* of each message */
	size_t frame;      /* of each frame; 0: a message is one frame */
	bool binary;       /* else text */
};

/* The answer is a stream of server-sent events. */
struct load_events {
	uint64_t count; /* 0: it is not */
	bool end;       /* it ends with the last of them; else the driver goes then */
};

/* One class of requests with what its answer must be. Strings are borrowed until the run ends, or
 * until load_close(). Host, Content-Length and (on the last request of a connection) Connection are
 * added unless the class's own headers hold them. */
struct load_request {
	const char *method, *path; /* path: the request target as sent */
	uint32_t weight;
	const struct load_header *headers;
	size_t n_headers;
	const void *body;
	size_t body_n;
	size_t chunk; /* 0: with its length; else in chunks of this size, without */
	const struct load_learned *learned;
	size_t n_learned;
	int expect_status; /* 0: 200, when expect_any is empty */
	/* Any of these in place of it. Then 204 and 304, which have no body, may come beside
	 * others whose body is checked. */
	const int *expect_any;
	size_t n_expect_any;
	/* Length of the body; -1: not checked. An answer to HEAD has no body: there the announced
	 * Content-Length must be this (0 is always right). The same holds for expect_body_n. */
	int64_t expect_bytes;
	const void *expect_body; /* exact bytes; NULL: not checked */
	size_t expect_body_n;
	/* SHA-256 of the body, 64 hexadecimal digits; NULL: not checked. The first right body is
	 * kept and later ones are compared with it; bodies of more than 64 MiB are always hashed.
	 */
	const char *expect_sha256;
	const struct load_header *expect_headers;
	size_t n_expect_headers;
	struct load_websocket websocket;
	struct load_events events;
};

struct load_plan {
	const char *host; /* address, loopback only: "127.0.0.1" or "::1" */
	uint16_t port;
	enum load_protocol protocol;
	uint32_t connections;
	uint32_t streams; /* requests at a time on each connection, HTTP/2 only; 0: 1 */
	bool no_resume;   /* TLS: every handshake is a full one; else sessions are resumed */
	/* Requests begun per second, whether or not earlier ones are answered, as long as a place
	 * is free: latencies count from when a request should have begun. 0: the next one begins
	 * when an answer is there. */
	uint64_t rate;
	uint64_t requests;
	uint64_t reuse; /* requests per connection before it is closed and opened again; 0: keep */
	const struct load_request *mix;
	size_t n_mix;
	uint64_t seed;       /* of the order: same seed, same sequence */
	uint64_t timeout_ns; /* of the run, or of each slice; 0: 300 s */
	/* Called about every 100 ms with the number of answered requests; non-zero stops the run
	 * (ERR_INTERRUPTED). May be NULL. */
	int (*tick)(void *ctx, uint64_t done);
	void *tick_ctx;
};

struct load_result {
	uint64_t done;      /* answered exactly as expected */
	uint64_t *by_class; /* the same per mix entry */
	uint64_t connects;
	uint64_t resumed; /* of them, TLS sessions resumed */
	/* Requests sent again because the server had closed a kept connection before it answered
	 * anything (only for idempotent methods, and once per request), or because it said by
	 * REFUSED_STREAM or GOAWAY that it had not begun with them. */
	uint64_t retries;
	uint64_t wall_ns, cpu_ns; /* of the driver's thread */
	uint64_t latency_p50_ns, latency_p99_ns, latency_max_ns;
	bool timed_out;
	char *problem; /* the first deviation in words: class, expected, got; NULL: none */
	char *sockets; /* on a time-out: state of every connection; else NULL */
};
/* Frees what the result owns and empties it. */
void load_result_release(struct load_result *r);

/* What held a run up, when its figures show it: the driver itself, or a stall by delayed
 * acknowledgements. server_cpu_ns: of all processes of the server in that time. NULL: nothing to
 * say. The caller frees. */
char *load_remark(const struct load_result *r, uint64_t server_cpu_ns);

/* Runs to the end, the first deviation or the time limit. Returns 0 when it ran (look at problem
 * and timed_out; a server that refuses the connection is a problem), -1 when it could not: a plan
 * that makes no sense, no file descriptors, or tick() said stop. ret is written only on 0; release
 * it. */
int load_run(const struct load_plan *p, struct load_result *ret, struct error *err);

/* The same driver kept alive over many short slices (bench): connections stay open between them,
 * and the mix goes on where it stopped, so that shares stay exact over all slices together. A slice
 * ends when its last answer is there: nothing is under way between slices. After a problem or a
 * time-out all connections are closed; the next slice opens them again. plan->requests does not
 * matter here. One thread at a time; a file descriptor and a receive buffer per struct load. */
struct load;
int load_open(const struct load_plan *p, struct load **ret, struct error *err);
int load_slice(struct load *l, uint64_t requests, struct load_result *ret, struct error *err);
void load_close(struct load *l);
