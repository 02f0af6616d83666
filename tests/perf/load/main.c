/* One run of the driver for tests/perf/load/compare: prints requests, CPU nanoseconds, connections
 * and how many of them resumed a TLS session. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "load/load.h"
#include "origin/origin.h"

static const char usage[] =
	"usage: %s PORT PATH REQUESTS BODY [PROTOCOL [CONNECTIONS [STREAMS [REUSE [full]]]]]\n"
	"BODY: -1 (not checked), a number (so many bytes of the origin's pattern), or @FILE\n";

static int expected_body(const char *text, struct buf *body, struct load_request *q)
{
	struct error err = ERROR_INIT;
	size_t n;

	q->expect_bytes = -1;
	if (text[0] == '-')
		return 0;
	if (text[0] == '@') {
		if (file_read(text + 1, 0, body, &err) < 0) {
			fprintf(stderr, "%s\n", err.msg);
			return -1;
		}
	} else {
		n = strtoull(text, NULL, 10);
		if (!buf_reserve(body, n))
			return -1;
		origin_pattern(0, body->p, n);
		body->n = n;
	}
	q->expect_body = buf_str(body);
	q->expect_body_n = body->n;
	return 0;
}

static int protocol_of(const char *text, enum load_protocol *ret)
{
	static const char *const names[] = {"h1", "h1+tls", "h2", "h2+tls"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], text) == 0) {
			*ret = (enum load_protocol)i;
			return 0;
		}
	}
	return -1;
}

int main(int argc, char **argv)
{
	struct load_request q = {.method = "GET", .weight = 1};
	struct load_plan p = {.host = "127.0.0.1",
		.connections = argc > 6 ? (uint32_t)atoi(argv[6]) : 32,
		.streams = argc > 7 ? (uint32_t)atoi(argv[7]) : 1,
		.reuse = argc > 8 ? (uint64_t)atoll(argv[8]) : 0,
		.no_resume = argc > 9,
		.mix = &q,
		.n_mix = 1,
		.timeout_ns = 60 * NS_PER_S};
	struct error err = ERROR_INIT;
	auto_buf struct buf body = BUF_INIT;
	struct load_result r;

	if (argc < 5 || (argc > 5 && protocol_of(argv[5], &p.protocol) < 0)) {
		fprintf(stderr, usage, argv[0]);
		return 2;
	}
	p.port = (uint16_t)strtoul(argv[1], NULL, 10);
	q.path = argv[2];
	p.requests = strtoull(argv[3], NULL, 10);
	if (expected_body(argv[4], &body, &q) < 0)
		return 3;
	if (load_run(&p, &r, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		return 3;
	}
	if (r.problem || r.timed_out) {
		fprintf(stderr, "%s\n", r.problem ? r.problem : r.sockets);
		return 1;
	}
	printf("%llu %llu %llu %llu\n", (unsigned long long)r.done, (unsigned long long)r.cpu_ns,
		(unsigned long long)r.connects, (unsigned long long)r.resumed);
	load_result_release(&r);
	return 0;
}
