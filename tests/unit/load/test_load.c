/* The driver against a scripted server: counts, order, connections, time limits, slices. */
#include "script.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

#define OK_TEXT "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

struct tally {
	uint64_t a, b, c, other;
	char order[4096];
	size_t n;
	uint64_t close_after; /* the server closes the connection after so many; 0: never */
	uint64_t silent_at;   /* closes without an answer on this request of a connection */
	enum after silent_how;
	bool announce;     /* "Connection: close" on the last answer */
	uint64_t wrong_at; /* 500 to this request; 0: never */
	uint64_t with_body, announced_close;
};

static void count_reply(void *ctx, const struct script_request *q, struct script_reply *r)
{
	struct tally *t = ctx;
	bool last = t->close_after && q->on_conn >= t->close_after;

	if (t->silent_at && q->on_conn >= t->silent_at) {
		r->after = t->silent_how;
		return;
	}
	if (strcmp(q->target, "/a") == 0)
		t->a++;
	else if (strcmp(q->target, "/b") == 0)
		t->b++;
	else if (strcmp(q->target, "/c") == 0)
		t->c++;
	else
		t->other++;
	if (t->n < sizeof(t->order))
		t->order[t->n++] = q->target[1];
	t->with_body += q->body_n > 0;
	t->announced_close += strstr(q->head, "\r\nConnection: close\r\n") != NULL;
	if (t->wrong_at == q->number)
		reply_text(r, "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n");
	else
		reply_text(r, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n%s\r\n%s",
			last && t->announce ? "Connection: close\r\n" : "",
			strcmp(q->method, "HEAD") == 0 ? "" : "ok");
	if (last)
		r->after = AFTER_CLOSE;
}

static const struct load_request mix[] = {
	{.method = "GET",
		.path = "/a",
		.weight = 3,
		.expect_bytes = 2,
		.expect_body = "ok",
		.expect_body_n = 2},
	{.method = "HEAD", .path = "/b", .weight = 2, .expect_bytes = 2},
	{.method = "POST",
		.path = "/c",
		.weight = 1,
		.body = "12345",
		.body_n = 5,
		.expect_bytes = 2},
};

static struct load_plan plan_of(uint32_t connections, uint64_t requests)
{
	return (struct load_plan){.host = "127.0.0.1",
		.connections = connections,
		.requests = requests,
		.mix = mix,
		.n_mix = 3,
		.seed = 1,
		.timeout_ns = 20 * NS_PER_S};
}

static void run(struct load_plan *p, struct tally *t, struct load_result *r)
{
	struct error err = ERROR_INIT;
	struct script *s = script_start(count_reply, t, &p->port);

	if (load_run(p, r, &err) < 0)
		fail_msg("%s", err.msg);
	script_stop(s);
}

static void test_exact_counts(void **state)
{
	struct load_plan p = plan_of(7, 600);
	struct tally t = {0};
	struct load_result r;

	run(&p, &t, &r);
	assert_null(r.problem);
	assert_false(r.timed_out);
	assert_int_equal(r.done, 600);
	assert_int_equal(r.by_class[0], 300);
	assert_int_equal(r.by_class[1], 200);
	assert_int_equal(r.by_class[2], 100);
	assert_int_equal(t.a, 300);
	assert_int_equal(t.b, 200);
	assert_int_equal(t.c, 100);
	assert_int_equal(t.other, 0);
	assert_int_equal(t.with_body, 100);
	assert_int_equal(r.connects, 7);
	assert_int_equal(r.retries, 0);
	assert_true(r.wall_ns > 0 && r.cpu_ns > 0 && r.cpu_ns <= r.wall_ns + NS_PER_MS);
	assert_true(r.latency_p50_ns > 0 && r.latency_p50_ns <= r.latency_p99_ns &&
		    r.latency_p99_ns <= r.latency_max_ns);
	load_result_release(&r);
}

static void test_fewer_requests_than_connections(void **state)
{
	struct load_plan p = plan_of(50, 3);
	struct tally t = {0};
	struct load_result r;

	run(&p, &t, &r);
	assert_int_equal(r.done, 3);
	assert_int_equal(r.connects, 3);
	load_result_release(&r);
	p = plan_of(5, 0);
	run(&p, &t, &r);
	assert_int_equal(r.done, 0);
	assert_null(r.problem);
	load_result_release(&r);
}

static void test_order(void **state)
{
	struct load_plan p = plan_of(1, 120);
	struct tally one = {0}, again = {0}, other = {0};
	struct load_result r;

	run(&p, &one, &r);
	load_result_release(&r);
	run(&p, &again, &r);
	load_result_release(&r);
	p.seed = 2;
	run(&p, &other, &r);
	load_result_release(&r);
	assert_int_equal(one.n, 120);
	assert_memory_equal(one.order, again.order, 120);
	assert_memory_not_equal(one.order, other.order, 120);
}

static void test_reuse(void **state)
{
	struct load_plan p = plan_of(2, 20);
	struct tally t = {0};
	struct load_result r;

	p.reuse = 1;
	run(&p, &t, &r);
	assert_null(r.problem);
	assert_int_equal(r.done, 20);
	assert_int_equal(r.connects, 20);
	assert_int_equal(t.announced_close, 20);
	load_result_release(&r);

	p.reuse = 5;
	p.connections = 1;
	t = (struct tally){0};
	run(&p, &t, &r);
	assert_int_equal(r.done, 20);
	assert_int_equal(r.connects, 4);
	assert_int_equal(t.announced_close, 4);
	load_result_release(&r);
}

/* "Connection: close" from the server is obeyed and is no fault. */
static void test_server_announces_close(void **state)
{
	struct load_plan p = plan_of(1, 20);
	struct tally t = {.close_after = 4, .announce = true};
	struct load_result r;

	run(&p, &t, &r);
	assert_null(r.problem);
	assert_int_equal(r.done, 20);
	assert_int_equal(r.connects, 5);
	assert_int_equal(r.retries, 0);
	load_result_release(&r);
}

/* A kept connection closed without a word before an answer: sent again, once. */
static void test_retry(void **state)
{
	struct load_plan p = plan_of(1, 20);
	struct tally t = {.silent_at = 5, .silent_how = AFTER_CLOSE};
	struct load_result r;

	p.n_mix = 1;
	run(&p, &t, &r);
	assert_null(r.problem);
	assert_int_equal(r.done, 20);
	assert_int_equal(t.a, 20);
	assert_int_equal(r.connects, 5);
	assert_int_equal(r.retries, 4);
	load_result_release(&r);

	t = (struct tally){.silent_at = 5, .silent_how = AFTER_RESET};
	run(&p, &t, &r);
	assert_null(r.problem);
	assert_int_equal(r.done, 20);
	assert_int_equal(r.retries, 4);
	load_result_release(&r);
}

static void test_no_retry_for_post(void **state)
{
	struct load_plan p = plan_of(1, 20);
	struct tally t = {.silent_at = 5, .silent_how = AFTER_CLOSE};
	struct load_result r;

	p.mix = &mix[2];
	p.n_mix = 1;
	run(&p, &t, &r);
	assert_int_equal(r.done, 4);
	assert_int_equal(r.retries, 0);
	assert_string_equal(r.problem,
		"POST /c, request 5 of 20: expected an answer, got none: the "
		"server closed the connection (after 4 answers on it)");
	load_result_release(&r);
}

/* A fresh connection that dies is a fault at once: a crashing server must not look well. */
static void test_no_second_retry(void **state)
{
	struct load_plan p = plan_of(1, 20);
	struct tally t = {.silent_at = 1, .silent_how = AFTER_CLOSE};
	struct load_result r;

	run(&p, &t, &r);
	assert_int_equal(r.done, 0);
	assert_int_equal(r.connects, 1);
	assert_non_null(r.problem);
	load_result_release(&r);
}

static void test_first_deviation_stops(void **state)
{
	struct load_plan p = plan_of(1, 600);
	struct tally t = {.wrong_at = 17};
	struct load_result r;

	run(&p, &t, &r);
	assert_int_equal(r.done, 16);
	assert_int_equal(t.n, 17);
	assert_non_null(strstr(r.problem, "(mix entry "));
	assert_non_null(
		strstr(r.problem, "of 3), request 17 of 600: expected status 200, got 500"));
	load_result_release(&r);
}

static void test_refused(void **state)
{
	struct load_plan p = plan_of(3, 10);
	struct tally t = {0};
	struct error err = ERROR_INIT;
	struct load_result r;
	char want[200];

	script_stop(script_start(count_reply, &t, &p.port)); /* a port that nobody listens on now */
	assert_int_equal(load_run(&p, &r, &err), 0);
	assert_int_equal(r.done, 0);
	snprintf(want, sizeof(want), "cannot connect to 127.0.0.1:%u: Connection refused", p.port);
	assert_non_null(strstr(r.problem, want));
	assert_true(r.wall_ns < NS_PER_S);
	load_result_release(&r);
}

static void hang_reply(void *ctx, const struct script_request *q, struct script_reply *r)
{
	reply_text(r, "%s", (const char *)ctx);
	r->after = AFTER_HANG;
}

static void test_time_out(void **state)
{
	static const struct {
		const char *reply, *wait;
	} t[] = {
		{"", "waiting for the answer of GET /a"},
		{"HTTP/1.1 2", "inside the answer's head of GET /a"},
		{"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no",
			"inside the answer's body of GET /a"},
		{"HTTP/1.1 100 Continue\r\n\r\n", "inside the answer's head of GET /a"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n",
			"inside the answer's body of GET /a"},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		char text[128];
		struct load_plan p = plan_of(2, 10);
		struct error err = ERROR_INIT;
		struct load_result r;
		struct script *s;

		snprintf(text, sizeof(text), "%s", t[i].reply);
		s = script_start(hang_reply, text, &p.port);
		p.n_mix = 1;
		p.timeout_ns = 150 * NS_PER_MS;
		assert_int_equal(load_run(&p, &r, &err), 0);
		assert_true(r.timed_out);
		assert_null(r.problem);
		assert_in_range(r.wall_ns, 150 * NS_PER_MS, 5 * NS_PER_S);
		assert_non_null(r.sockets);
		assert_non_null(strstr(r.sockets, "0 of 10 requests answered, 2 under way on 2 "));
		if (!strstr(r.sockets, t[i].wait))
			fail_msg("%s", r.sockets);
		assert_non_null(strstr(r.sockets, "tcp ESTABLISHED, rtt "));
		assert_non_null(strstr(r.sockets, "; server's end established, unread 0 bytes"));
		load_result_release(&r);
		script_stop(s);
	}
}

/* A server that never reads: the request does not fit into the sockets. */
static void test_time_out_sending(void **state)
{
	size_t n = 32 << 20;
	char *body = calloc(1, n);
	struct load_request q = {
		.method = "POST", .path = "/big", .body = body, .body_n = n, .expect_bytes = -1};
	struct load_plan p = plan_of(1, 1);
	struct error err = ERROR_INIT;
	struct tally t = {0};
	struct load_result r;
	struct script *s = script_start(count_reply, &t, &p.port);

	/* The scripted server's buffer ends at 64 KiB: it gives up; before that it reads slowly. */
	p.mix = &q;
	p.n_mix = 1;
	p.timeout_ns = 300 * NS_PER_MS;
	assert_int_equal(load_run(&p, &r, &err), 0);
	assert_int_equal(r.done, 0);
	assert_true(r.timed_out || r.problem);
	load_result_release(&r);
	script_stop(s);
	free(body);
}

static int stop_tick(void *ctx, uint64_t done)
{
	(*(int *)ctx)++;
	return *(int *)ctx >= 2;
}

static void test_tick_stops(void **state)
{
	char text[] = "";
	int ticks = 0;
	struct load_plan p = plan_of(2, 10);
	struct error err = ERROR_INIT;
	struct load_result r = {.done = 77};
	struct script *s = script_start(hang_reply, text, &p.port);

	p.tick = stop_tick;
	p.tick_ctx = &ticks;
	assert_int_equal(load_run(&p, &r, &err), -1);
	assert_int_equal(err.code, ERR_INTERRUPTED);
	assert_int_equal(ticks, 2);
	assert_int_equal(r.done, 77); /* untouched */
	error_release(&err);
	script_stop(s);
}

static void test_slices(void **state)
{
	struct load_plan p = plan_of(3, 0);
	struct tally t = {0};
	struct error err = ERROR_INIT;
	struct script *s = script_start(count_reply, &t, &p.port);
	struct load *l = NULL;
	struct load_result r;

	assert_int_equal(load_open(&p, &l, &err), 0);
	for (int i = 1; i <= 60; i++) {
		assert_int_equal(load_slice(l, 7, &r, &err), 0);
		if (r.problem)
			fail_msg("%s", r.problem);
		assert_int_equal(r.done, 7);
		assert_int_equal(script_requests(s), 7 * i); /* drained */
		if (i > 1 && i != 31)
			assert_int_equal(r.connects, 0);
		load_result_release(&r);
		if (i == 30) {
			/* Closed while nothing is under way: no fault, not even for POST. */
			script_close_idle(s);
			usleep(20000);
		}
	}
	/* 420 requests in all: the shares are exact over the slices together. */
	assert_int_equal(t.a, 210);
	assert_int_equal(t.b, 140);
	assert_int_equal(t.c, 70);
	assert_int_equal(script_connections(s), 6);
	load_close(l);
	script_stop(s);
}

/* After a problem the next slice starts afresh. */
static void test_slice_after_problem(void **state)
{
	struct load_plan p = plan_of(3, 0);
	struct tally t = {.wrong_at = 10};
	struct error err = ERROR_INIT;
	struct script *s = script_start(count_reply, &t, &p.port);
	struct load *l = NULL;
	struct load_result r;

	assert_int_equal(load_open(&p, &l, &err), 0);
	assert_int_equal(load_slice(l, 60, &r, &err), 0);
	assert_non_null(r.problem);
	load_result_release(&r);
	assert_int_equal(load_slice(l, 60, &r, &err), 0);
	assert_null(r.problem);
	assert_int_equal(r.done, 60);
	assert_int_equal(r.by_class[0], 30);
	load_result_release(&r);
	load_close(l);
	script_stop(s);
}

static void test_bad_plans(void **state)
{
	static const struct load_header injected = {"A", "b\r\nC: d"}, bad_name = {"A b", "c"},
					long_length = {"Content-Length", "5"};
	static const struct load_request bad[] = {
		{.method = "GET", .path = "/a b"},
		{.method = "GET", .path = "/a\r\nX: y"},
		{.method = "G T", .path = "/"},
		{.method = "GET", .path = ""},
		{.method = "GET", .path = "/", .headers = &injected, .n_headers = 1},
		{.method = "GET", .path = "/", .headers = &bad_name, .n_headers = 1},
		{.method = "POST",
			.path = "/",
			.headers = &long_length,
			.n_headers = 1,
			.body = "abc",
			.body_n = 3},
		{.method = "GET",
			.path = "/",
			.expect_bytes = 3,
			.expect_body = "ab",
			.expect_body_n = 2},
	};
	struct error err = ERROR_INIT;
	struct load *l = NULL;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct load_plan p = plan_of(1, 1);

		p.port = 1;
		p.mix = &bad[i];
		p.n_mix = 1;
		assert_int_equal(load_open(&p, &l, &err), -1);
		assert_int_equal(err.code, ERR_USAGE);
		assert_null(l);
	}
	for (int i = 0; i < 4; i++) {
		struct load_plan p = plan_of(1, 1);

		p.port = i == 0 ? 0 : 1;
		p.host = i == 1 ? "192.0.2.1" : p.host;
		p.connections = i == 2 ? 0 : 1;
		p.n_mix = i == 3 ? 0 : 3;
		assert_int_equal(load_open(&p, &l, &err), -1);
		assert_int_equal(err.code, ERR_USAGE);
	}
	error_release(&err);
}

int main(void)
{
	const struct CMUnitTest own[] = {
		cmocka_unit_test(test_exact_counts),
		cmocka_unit_test(test_fewer_requests_than_connections),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_reuse),
		cmocka_unit_test(test_server_announces_close),
		cmocka_unit_test(test_retry),
		cmocka_unit_test(test_no_retry_for_post),
		cmocka_unit_test(test_no_second_retry),
		cmocka_unit_test(test_first_deviation_stops),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_time_out),
		cmocka_unit_test(test_time_out_sending),
		cmocka_unit_test(test_tick_stops),
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_slice_after_problem),
		cmocka_unit_test(test_bad_plans),
	};
	static const struct {
		const struct CMUnitTest *t;
		const size_t *n;
	} others[] = {{fault_tests, &n_fault_tests}, {h2_tests, &n_h2_tests},
		{learn_tests, &n_learn_tests}, {mix_tests, &n_mix_tests},
		{pure_tests, &n_pure_tests}, {sockdiag_tests, &n_sockdiag_tests},
		{event_tests, &n_event_tests}, {websocket_tests, &n_websocket_tests},
		{tls_tests, &n_tls_tests}};
	struct CMUnitTest all[128];
	size_t n = 0;

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		all[n++] = own[i];
	for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++) {
		for (size_t i = 0; i < *others[k].n; i++)
			all[n++] = others[k].t[i];
	}
	return _cmocka_run_group_tests("load", all, n, NULL, NULL);
}
