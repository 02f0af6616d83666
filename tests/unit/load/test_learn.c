/* What the plan's keys do beside the protocol: learned headers, chunks, digests, several statuses,
 * a rate, and what is said of a run's figures. */
#include "script.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"

struct seen {
	uint64_t plain, conditional, wrong;
	uint64_t slow_us;
	bool no_tag, flip;
	char first[64];
	char chunked[256];
};

static void run(struct load_plan *p, script_fn *fn, void *ctx, struct load_result *r)
{
	struct error err = ERROR_INIT;
	struct script *s = script_start(fn, ctx, &p->port);

	p->host = "127.0.0.1";
	p->timeout_ns = 10 * NS_PER_S;
	if (load_run(p, r, &err) < 0)
		fail_msg("%s", err.msg);
	script_stop(s);
}

/* ---- Learned headers ------------------------------------------------------------------------- */

static void tagged(void *ctx, const struct script_request *q, struct script_reply *r)
{
	struct seen *t = ctx;
	bool tag = strstr(q->head, "\r\nIf-None-Match: \"v7\"\r\n");
	bool date = strstr(q->head, "\r\nIf-Modified-Since: Mon, 30 Nov 2026 08:00:00 GMT\r\n");
	bool cookie = strstr(q->head, "\r\nCookie: a=1; b=2\r\n");

	if (!t->first[0])
		snprintf(t->first, sizeof(t->first), "%s", q->target);
	if (strcmp(q->target, "/b") == 0) {
		t->conditional++;
		t->wrong += !tag || !date || !cookie;
		reply_text(r, "HTTP/1.1 304 Not Modified\r\n\r\n");
		return;
	}
	t->plain++;
	t->wrong += tag || date || cookie;
	reply_text(r,
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n%s"
		"Last-Modified: Mon, 30 Nov 2026 08:00:00 GMT\r\n"
		"Set-Cookie: a=1; Path=/\r\nSet-Cookie: b=2\r\n\r\nok",
		t->no_tag ? "" : "ETag: \"v7\"\r\n");
}

static const struct load_learned learned[] = {
	{"If-None-Match", 1}, {"If-Modified-Since", 1}, {"Cookie", 1}};
static const struct load_request learning[] = {
	{.method = "GET",
		.path = "/b",
		.weight = 9,
		.learned = learned,
		.n_learned = 3,
		.expect_status = 304,
		.expect_bytes = -1},
	{.method = "GET", .path = "/a", .weight = 1, .expect_bytes = 2},
};

static void test_learned(void **state)
{
	struct load_plan p = {.connections = 5, .requests = 100, .mix = learning, .n_mix = 2};
	struct seen t = {0};
	struct load_result r;

	run(&p, tagged, &t, &r);
	assert_null(r.problem);
	assert_int_equal(r.done, 100);
	assert_int_equal(t.plain, 10);
	assert_int_equal(t.conditional, 90);
	assert_int_equal(t.wrong, 0);
	assert_string_equal(t.first, "/a");
	load_result_release(&r);

	t = (struct seen){.no_tag = true};
	run(&p, tagged, &t, &r);
	assert_string_equal(r.problem,
		"GET /a (mix entry 2 of 2), request 1 of 100: expected a header 'ETag', from which "
		"'If-None-Match' of 'GET /b' is learned, got none");
	load_result_release(&r);
}

/* In a slice that is too short for the teacher's share it is asked all the same, once. */
static void test_learned_in_slices(void **state)
{
	struct load_plan p = {.host = "127.0.0.1", .connections = 2, .mix = learning, .n_mix = 2};
	struct error err = ERROR_INIT;
	struct seen t = {0};
	struct script *s = script_start(tagged, &t, &p.port);
	struct load *l = NULL;

	assert_int_equal(load_open(&p, &l, &err), 0);
	for (int i = 0; i < 50; i++) {
		struct load_result r;

		assert_int_equal(load_slice(l, 2, &r, &err), 0);
		assert_null(r.problem);
		assert_int_equal(r.done, 2);
		load_result_release(&r);
	}
	load_close(l);
	script_stop(s);
	assert_int_equal(t.plain, 10);
	assert_int_equal(t.conditional, 90);
	assert_int_equal(t.wrong, 0);
}

struct cookies {
	const char *sent, *expected; /* expected: the field as it is learned */
	bool right;
};

static void baked(void *ctx, const struct script_request *q, struct script_reply *r)
{
	struct cookies *c = ctx;

	if (strcmp(q->target, "/b") == 0)
		c->right = strstr(q->head, c->expected) != NULL;
	reply_text(r, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n%s\r\n", c->sent);
}

/* Blanks in front of ';' are not of the cookie, and a cookie may be empty. */
static void test_cookies(void **state)
{
	static const struct load_learned from[] = {{"Cookie", 0}};
	static const struct load_request mix[] = {
		{.method = "GET", .path = "/a", .expect_bytes = -1},
		{.method = "GET",
			.path = "/b",
			.learned = from,
			.n_learned = 1,
			.expect_bytes = -1},
	};
	static const char *const t[][2] = {
		{"Set-Cookie: a=b \t; Path=/\r\nSet-Cookie: c=d;e\r\n", "\r\nCookie: a=b; c=d\r\n"},
		{"Set-Cookie: a=b\r\nSet-Cookie: ; Path=/\r\nSet-Cookie:\r\n",
			"\r\nCookie: a=b\r\n"},
		{"Set-Cookie: ;\r\nSet-Cookie: c=d\r\n", "\r\nCookie: c=d\r\n"},
		{"Set-Cookie: \t; a\r\n", NULL},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct load_plan p = {.connections = 1, .requests = 2, .mix = mix, .n_mix = 2};
		struct cookies c = {.sent = t[i][0], .expected = t[i][1]};
		struct load_result r;

		run(&p, baked, &c, &r);
		if (!r.problem != (t[i][1] != NULL) || c.right != (t[i][1] != NULL))
			fail_msg("%zu: %s", i, r.problem ? r.problem : "another cookie");
		load_result_release(&r);
	}
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

static void chunks(void *ctx, const struct script_request *q, struct script_reply *r)
{
	struct seen *t = ctx;

	t->wrong += !strstr(q->head, "\r\nTransfer-Encoding: chunked\r\n") ||
		    strstr(q->head, "Content-Length") || q->body_n;
	reply_text(r, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
	r->after = AFTER_CLOSE;
}

static void test_chunks(void **state)
{
	struct load_request q = {.method = "POST",
		.path = "/x",
		.body = "hello, world",
		.body_n = 12,
		.chunk = 5,
		.expect_bytes = 0};
	struct load_plan p = {.connections = 1, .requests = 1, .mix = &q, .n_mix = 1};
	struct seen t = {0};
	struct load_result r;

	run(&p, chunks, &t, &r);
	assert_null(r.problem);
	assert_int_equal(t.wrong, 0);
	load_result_release(&r);
}

static void hashed(void *ctx, const struct script_request *q, struct script_reply *r)
{
	struct seen *t = ctx;

	if (strcmp(q->method, "HEAD") != 0 && q->number % 4 == 2 && !t->flip)
		reply_text(r, "HTTP/1.1 304 Not Modified\r\n\r\n");
	else
		reply_text(r,
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
			"3\r\nhel\r\n2\r\nl%c\r\n0\r\n\r\n",
			t->flip && q->number == 30 ? 'O' : 'o');
}

static void test_digest_and_statuses(void **state)
{
	static const int any[] = {304, 200};
	char hex[SHA256_HEX];
	struct load_request q = {.method = "GET",
		.path = "/x",
		.expect_bytes = -1,
		.expect_any = any,
		.n_expect_any = 2,
		.expect_sha256 = hex};
	struct load_plan p = {.connections = 3, .requests = 60, .mix = &q, .n_mix = 1};
	struct seen t = {0};
	struct load_result r;

	sha256_of("hello", 5, hex);
	run(&p, hashed, &t, &r);
	assert_null(r.problem);
	assert_int_equal(r.done, 60);
	load_result_release(&r);

	t.flip = true; /* a later body differs: found by its bytes */
	p.connections = 1;
	run(&p, hashed, &t, &r);
	assert_string_equal(r.problem, "GET /x, request 30 of 60: the body differs first at byte 4 "
				       "of 5: expected 0x6f 'o', got 0x4f 'O'");
	assert_int_equal(r.done, 29);
	load_result_release(&r);

	hex[0] = hex[0] == '0' ? '1' : '0';
	run(&p, hashed, &t, &r);
	assert_non_null(strstr(r.problem, "request 1 of 60: expected a body with the SHA-256 "));
	assert_non_null(strstr(r.problem, ", got 5 bytes with "));
	load_result_release(&r);

	sha256_of("hello", 5, hex);
	q.n_expect_any = 1; /* 304 alone */
	run(&p, hashed, &t, &r);
	assert_non_null(strstr(r.problem, "expected status 304, got 200"));
	load_result_release(&r);
}

/* ---- A rate ---------------------------------------------------------------------------------- */

static void paced(void *ctx, const struct script_request *q, struct script_reply *r)
{
	const struct seen *t = ctx;

	if (q->number == 1)
		usleep((unsigned int)t->slow_us);
	reply_text(r, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
}

static void test_rate(void **state)
{
	struct load_request q = {.method = "GET", .path = "/x", .expect_bytes = 2};
	struct load_plan p = {
		.connections = 1, .requests = 100, .rate = 500, .mix = &q, .n_mix = 1};
	struct seen t = {0};
	struct load_result r;

	run(&p, paced, &t, &r);
	assert_null(r.problem);
	assert_int_equal(r.done, 100);
	/* The last one begins after 99/500 s, never before. */
	assert_in_range(r.wall_ns, 198 * NS_PER_MS, 2 * NS_PER_S);
	load_result_release(&r);

	/* While the first one takes 150 ms, 75 others should have begun: all of them are late. */
	t.slow_us = 150000;
	run(&p, paced, &t, &r);
	assert_int_equal(r.done, 100);
	assert_true(r.latency_max_ns >= 150 * NS_PER_MS);
	assert_true(r.latency_p50_ns >= 30 * NS_PER_MS);
	load_result_release(&r);
}

/* ---- What the figures say -------------------------------------------------------------------- */

static void in_two_parts(void *ctx, const struct script_request *q, struct script_reply *r)
{
	reply_text(r, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
	r->again = r->n;
	r->pause_us = 40000;
	reply_text(r, "ok");
}

static void test_delayed_ack(void **state)
{
	struct load_request q = {.method = "GET", .path = "/x", .expect_bytes = 2};
	struct load_plan p = {.connections = 1, .requests = 9, .mix = &q, .n_mix = 1};
	struct load_result r;
	char *text;

	run(&p, in_two_parts, NULL, &r);
	assert_null(r.problem);
	text = load_remark(&r, 0);
	assert_non_null(text);
	assert_non_null(strstr(text, "a delayed-ACK stall"));
	assert_non_null(strstr(text, "TCP_NODELAY"));
	free(text);
	assert_null(load_remark(&r, r.wall_ns / 5)); /* a busy server: something else */
	load_result_release(&r);
}

static void test_bottleneck(void **state)
{
	struct load_result r = {.wall_ns = 1000 * NS_PER_MS, .cpu_ns = 990 * NS_PER_MS};
	char *text = load_remark(&r, 400 * NS_PER_MS);

	assert_string_equal(text, "the load driver is the bottleneck: it used 99 % of its "
				  "processor, the server 40 % of one");
	free(text);
	assert_null(load_remark(&r, 980 * NS_PER_MS));
	r.cpu_ns = 700 * NS_PER_MS;
	assert_null(load_remark(&r, 400 * NS_PER_MS));
}

const struct CMUnitTest learn_tests[] = {
	cmocka_unit_test(test_learned),
	cmocka_unit_test(test_learned_in_slices),
	cmocka_unit_test(test_cookies),
	cmocka_unit_test(test_chunks),
	cmocka_unit_test(test_digest_and_statuses),
	cmocka_unit_test(test_rate),
	cmocka_unit_test(test_delayed_ack),
	cmocka_unit_test(test_bottleneck),
};
const size_t n_learn_tests = sizeof(learn_tests) / sizeof(learn_tests[0]);
