/* One run of the driver for tests/perf/load/compare: prints requests and CPU nanoseconds. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "load/load.h"
#include "origin/origin.h"

int main(int argc, char **argv)
{
	struct load_request q = {.method = "GET", .weight = 1, .expect_bytes = -1};
	struct load_plan p = {.host = "127.0.0.1",
		.connections = 32,
		.mix = &q,
		.n_mix = 1,
		.timeout_ns = 60 * NS_PER_S};
	struct error err = ERROR_INIT;
	struct load_result r;
	char *body = NULL;

	if (argc != 5) {
		fprintf(stderr, "usage: %s PORT PATH REQUESTS PATTERN-BYTES|-1\n", argv[0]);
		return 2;
	}
	p.port = (uint16_t)strtoul(argv[1], NULL, 10);
	q.path = argv[2];
	p.requests = strtoull(argv[3], NULL, 10);
	if (argv[4][0] != '-') {
		q.expect_body_n = strtoull(argv[4], NULL, 10);
		body = malloc(q.expect_body_n + 1);
		if (!body)
			return 3;
		origin_pattern(0, body, q.expect_body_n);
		q.expect_body = body;
	}
	if (load_run(&p, &r, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		return 3;
	}
	if (r.problem || r.timed_out) {
		fprintf(stderr, "%s\n", r.problem ? r.problem : r.sockets);
		return 1;
	}
	printf("%llu %llu\n", (unsigned long long)r.done, (unsigned long long)r.cpu_ns);
	load_result_release(&r);
	free(body);
	return 0;
}
