/* A server whose every answer is scripted by the test, byte for byte, and which counts. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "http/http.h"
#include "load/load.h"
#include "wire.h"

enum after {
	AFTER_KEEP,
	AFTER_CLOSE,
	AFTER_RESET,
	AFTER_HANG,
	AFTER_ALERT,   /* a fatal TLS alert */
	AFTER_CUT,     /* closes without the end of TLS */
	AFTER_TICKETS, /* TLS sessions without end, until the driver is gone */
	AFTER_KEYS,    /* the same with new keys */
};

struct script_request {
	const char *method, *target; /* NUL-terminated */
	const char *head;            /* the whole head, NUL-terminated */
	size_t body_n;
	uint64_t number;  /* of all requests, from 1 */
	uint64_t on_conn; /* of those on this connection, from 1 */
};

struct script_reply {
	char bytes[8192];
	size_t n;
	enum after after;
	bool bytewise; /* sent in single bytes */
	/* The bytes from again on are sent so many times more, or until the driver is gone. */
	size_t again, times;
	unsigned int pause_us; /* before the bytes from again on */
};

struct script;
typedef void script_fn(void *ctx, const struct script_request *q, struct script_reply *r);

/* Starts listening on 127.0.0.1; one thread per connection, fn is called under a lock. */
struct script *script_start(script_fn *fn, void *ctx, uint16_t *port);
/* The same with TLS; tls stays the caller's. */
struct script *script_start_tls(script_fn *fn, void *ctx, SSL_CTX *tls, uint16_t *port);
/* Requests read whole, and connections accepted, so far. */
uint64_t script_requests(struct script *s);
uint64_t script_connections(struct script *s);
/* Closes all connections that wait for a request. */
void script_close_idle(struct script *s);
void script_stop(struct script *s);

/* A load of HTTP/1.1 by one request on one connection, at most five seconds long. */
struct load_plan script_plan(const struct load_request *q, uint64_t requests);
/* The load of p on a script that lives as long; tls: NULL, in clear. */
void script_load(
	struct load_plan *p, script_fn *fn, void *ctx, SSL_CTX *tls, struct load_result *r);
/* Its first request ended so: problem is how the text begins that follows "GET /x, request 1 of 1:
 * ". NULL: without one. */
void script_problem(const char *name, const struct load_result *r, const char *problem);

void reply_text(struct script_reply *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The most memory in KiB that the process has had since memory_reset(), beyond what it had then. */
long memory_reset(void);
long memory_grown(long before);

extern const struct CMUnitTest fault_tests[], h2_tests[], learn_tests[], mix_tests[], pure_tests[],
	sockdiag_tests[], tls_tests[], websocket_tests[], event_tests[];
extern const size_t n_fault_tests, n_h2_tests, n_learn_tests, n_mix_tests, n_pure_tests,
	n_sockdiag_tests, n_tls_tests, n_websocket_tests, n_event_tests;
