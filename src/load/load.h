/* The load driver: a fixed number of HTTP requests, every answer checked. Knows nothing of PGO. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct load_header {
	const char *name, *value; /* value NULL in an expectation: any value */
};

/* One class of requests with what its answer must be. Strings are borrowed for the run. */
struct load_request {
	const char *method, *path;
	uint32_t weight;
	const struct load_header *headers;
	size_t n_headers;
	const void *body;
	size_t body_n;
	int expect_status;
	int64_t expect_bytes; /* -1: not checked */
	const void *expect_body; /* exact bytes; NULL: not checked */
	size_t expect_body_n;
	const struct load_header *expect_headers;
	size_t n_expect_headers;
};

struct load_plan {
	const char *host; /* address, loopback only: "127.0.0.1" or "::1" */
	uint16_t port;
	uint32_t connections;
	uint64_t requests;
	uint64_t reuse;   /* requests per connection before it is closed and opened again; 0: keep */
	const struct load_request *mix;
	size_t n_mix;
	uint64_t seed;    /* of the order: same seed, same sequence */
	uint64_t timeout_ns;
	/* Called about every 100 ms with the number of answered requests; non-zero stops the run
	 * (ERR_INTERRUPTED). May be NULL. */
	int (*tick)(void *ctx, uint64_t done);
	void *tick_ctx;
};

struct load_result {
	uint64_t done;       /* answered exactly as expected */
	uint64_t *by_class;  /* the same per mix entry */
	uint64_t connects;
	uint64_t wall_ns, cpu_ns; /* of the driver's thread */
	uint64_t latency_p50_ns, latency_p99_ns, latency_max_ns;
	bool timed_out;
	char *problem;       /* the first deviation in words: class, expected, got; NULL: none */
	char *sockets;       /* on a time-out: state of every connection; else NULL */
};
void load_result_release(struct load_result *r);

/* Runs to the end, the first deviation or the time limit. Returns 0 when it ran (look at problem and
 * timed_out), -1 when it could not. */
int load_run(const struct load_plan *p, struct load_result *ret, struct error *err);

/* The same driver kept alive over many short slices (bench): connections stay open between them. */
struct load;
int load_open(const struct load_plan *p, struct load **ret, struct error *err);
int load_slice(struct load *l, uint64_t requests, struct load_result *ret, struct error *err);
void load_close(struct load *l);
