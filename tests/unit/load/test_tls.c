/* HTTP/1.1 over TLS: handshakes, sessions, ends without order, alerts, and hostile servers with and
 * without TLS. */
#include "script.h"

#include <stdio.h>

#include <openssl/ssl.h>

#include "base/clock.h"

#define PREFIX "GET /x, request 1 of 1: "

static const struct load_request hello = {.method = "GET",
	.path = "/x",
	.expect_bytes = 5,
	.expect_body = "hello",
	.expect_body_n = 5};

static struct load_plan plan_of(uint64_t requests)
{
	return (struct load_plan){.host = "127.0.0.1",
		.protocol = LOAD_H1_TLS,
		.connections = 1,
		.requests = requests,
		.mix = &hello,
		.n_mix = 1,
		.timeout_ns = 10 * NS_PER_S};
}

static void run(struct load_plan *p, script_fn *fn, void *ctx, SSL_CTX *tls, struct load_result *r)
{
	struct error err = ERROR_INIT;
	struct script *s = script_start_tls(fn, ctx, tls, &p->port);

	if (load_run(p, r, &err) < 0)
		fail_msg("%s", err.msg);
	script_stop(s);
}

static void good(void *ctx, const struct script_request *q, struct script_reply *r)
{
	reply_text(r, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
	if (strstr(q->head, "\r\nConnection: close\r\n"))
		r->after = AFTER_CLOSE;
}

static void test_sessions(void **state)
{
	SSL_CTX *tls = wire_context(TLS_ALPN_BOTH, true, 0);
	struct load_plan p = plan_of(20);
	struct load_result r;

	run(&p, good, NULL, tls, &r);
	assert_null(r.problem);
	assert_int_equal(r.done, 20);
	assert_int_equal(r.connects, 1);
	assert_int_equal(r.resumed, 0);
	load_result_release(&r);

	p.reuse = 1;
	run(&p, good, NULL, tls, &r);
	assert_null(r.problem);
	assert_int_equal(r.connects, 20);
	assert_int_equal(r.resumed, 19);
	load_result_release(&r);

	p.no_resume = true;
	run(&p, good, NULL, tls, &r);
	assert_null(r.problem);
	assert_int_equal(r.connects, 20);
	assert_int_equal(r.resumed, 0);
	load_result_release(&r);
	SSL_CTX_free(tls);
}

/* A server that knows no ALPN speaks HTTP/1.1; one that only speaks HTTP/2 refuses. */
static void test_alpn(void **state)
{
	SSL_CTX *none = wire_context(TLS_ALPN_NONE, true, 0),
		*h2 = wire_context(TLS_ALPN_H2, true, 0);
	struct load_plan p = plan_of(3);
	struct load_result r;
	char want[200];

	run(&p, good, NULL, none, &r);
	assert_null(r.problem);
	assert_int_equal(r.done, 3);
	load_result_release(&r);
	run(&p, good, NULL, h2, &r);
	snprintf(want, sizeof(want),
		"GET /x, request 1 of 3: cannot begin with TLS on 127.0.0.1:%u: the peer sent the "
		"TLS alert no application protocol",
		p.port);
	assert_string_equal(r.problem, want);
	load_result_release(&r);
	SSL_CTX_free(none);
	SSL_CTX_free(h2);
}

static void fixed(void *ctx, const struct script_request *q, struct script_reply *r)
{
	const struct script_reply *x = ctx;

	memcpy(r, x, sizeof(*r));
}

static void test_ends(void **state)
{
	static const struct {
		const char *reply;
		enum after after;
		const char *problem; /* NULL: it is right */
	} t[] = {
		{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", AFTER_CUT, NULL},
		{"HTTP/1.0 200 OK\r\n\r\nhello", AFTER_CLOSE, NULL},
		{"HTTP/1.0 200 OK\r\n\r\nhello", AFTER_CUT,
			"expected a whole body, got 5 bytes: the connection ended without TLS's "
			"close_notify"},
		{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", AFTER_CLOSE,
			"expected a body of 5 bytes, got 2: the server closed the connection"},
		{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe", AFTER_ALERT,
			"expected a body of 5 bytes, got 2: the peer sent the TLS alert bad record "
			"mac"},
		{"", AFTER_ALERT,
			"expected an answer, got none: the peer sent the TLS alert bad record mac "
			"(after 0 answers on it)"},
	};
	SSL_CTX *tls = wire_context(TLS_ALPN_BOTH, true, 0);

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct script_reply x = {.after = t[i].after};
		struct load_plan p = plan_of(1);
		struct load_result r;

		reply_text(&x, "%s", t[i].reply);
		run(&p, fixed, &x, tls, &r);
		if (!t[i].problem != !r.problem ||
			(r.problem && strcmp(r.problem + strlen(PREFIX), t[i].problem) != 0))
			fail_msg("%zu: %s", i, r.problem ? r.problem : "no problem");
		load_result_release(&r);
	}
	SSL_CTX_free(tls);
}

/* In clear where TLS is due, and a chain of certificates of more than 64 KiB. */
static void test_hostile_handshakes(void **state)
{
	SSL_CTX *tls = wire_context(TLS_ALPN_BOTH, true, 300);
	struct script_reply x = {.after = AFTER_CLOSE};
	struct load_plan p = plan_of(1);
	struct load_result r;

	run(&p, good, NULL, tls, &r);
	assert_non_null(strstr(r.problem, "cannot begin with TLS on 127.0.0.1:"));
	assert_non_null(strstr(r.problem, ": excessive message size"));
	load_result_release(&r);
	SSL_CTX_free(tls);

	run(&p, fixed, &x, NULL, &r);
	assert_non_null(strstr(r.problem, "cannot begin with TLS on 127.0.0.1:"));
	load_result_release(&r);
}

/* What is no data and has no end must not keep the driver from seeing the time. */
static void test_endless_records(void **state)
{
	static const enum after kinds[] = {AFTER_TICKETS, AFTER_KEYS};
	SSL_CTX *tls = wire_context(TLS_ALPN_BOTH, true, 0);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct script_reply x = {.after = kinds[i]};
		struct load_plan p = plan_of(1);
		struct load_result r;
		long before = memory_reset();

		p.timeout_ns = NS_PER_S / 2;
		run(&p, fixed, &x, tls, &r);
		assert_true(r.timed_out);
		assert_in_range(r.wall_ns, NS_PER_S / 2, 5 * NS_PER_S);
		assert_true(memory_grown(before) < 8 << 10);
		load_result_release(&r);
	}
	SSL_CTX_free(tls);
}

/* What has no end, and numbers that overflow: a problem at once, in little memory. */
static void test_hostile_answers(void **state)
{
	static const struct {
		const char *name, *once, *again;
		const char *problem;
	} t[] = {
		{"endless fields", "HTTP/1.1 200 OK\r\n", "X: y\r\n",
			"expected an HTTP/1.1 answer, but there are too many fields: "},
		{"an endless field",
			"HTTP/1.1 200 OK\r\nX: ", "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
			"expected an HTTP/1.1 answer, but "},
		{"an endless status line", "HTTP/1.1 200 ",
			"yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy",
			"expected an HTTP/1.1 answer, but "},
		{"2^63 bytes", "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\n",
			"y",
			"expected an HTTP/1.1 answer, but the Content-Length is not a plain "
			"number: "},
		{"2^64 bytes", "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n",
			"y", "expected an HTTP/1.1 answer, but "},
		{"chunk size above 2^64",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: "
			"chunked\r\n\r\n10000000000000005\r\n",
			"y", "expected a body in chunks, but a chunk size is too large"},
		{"endless chunk size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
			"00000000000", "expected a body in chunks, but a chunk size is too large"},
		{"endless chunk extension",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;",
			"a=bbbbbbbbbbbbbbbbbbbbbbbbbbbb",
			"expected a body in chunks, but a chunk extension is too long"},
		{"endless trailers",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
			"X: yyyyyyyyyyyyyyyy\r\n",
			"expected a body in chunks, but the trailer section is too long"},
		{"an endless body", "HTTP/1.0 200 OK\r\n\r\n", "hellohellohellohellohellohello",
			"expected a body of 5 bytes, got at least "},
		{"endless interim answers", "HTTP/1.1 100 Continue\r\n\r\n",
			"HTTP/1.1 100 C\r\n\r\n",
			"expected status 200, got too many interim answers"},
	};
	SSL_CTX *tls = wire_context(TLS_ALPN_BOTH, true, 0);

	for (size_t i = 0; i < 2 * sizeof(t) / sizeof(t[0]); i++) {
		struct script_reply x = {.times = 1000000, .after = AFTER_CLOSE};
		struct load_plan p = plan_of(1);
		struct load_result r;
		long before = memory_reset();

		p.protocol = i % 2 ? LOAD_H1_TLS : LOAD_H1;
		reply_text(&x, "%s", t[i / 2].once);
		x.again = x.n;
		while (x.n + strlen(t[i / 2].again) < sizeof(x.bytes))
			reply_text(&x, "%s", t[i / 2].again);
		run(&p, fixed, &x, i % 2 ? tls : NULL, &r);
		if (!r.problem || strncmp(r.problem + strlen(PREFIX), t[i / 2].problem,
					  strlen(t[i / 2].problem)) != 0)
			fail_msg("%s: %s", t[i / 2].name, r.problem ? r.problem : "no problem");
		assert_false(r.timed_out);
		if (memory_grown(before) > 8 << 10)
			fail_msg("%s took %ld KiB", t[i / 2].name, memory_grown(before));
		load_result_release(&r);
	}
	SSL_CTX_free(tls);
}

const struct CMUnitTest tls_tests[] = {
	cmocka_unit_test(test_sessions),
	cmocka_unit_test(test_alpn),
	cmocka_unit_test(test_ends),
	cmocka_unit_test(test_hostile_handshakes),
	cmocka_unit_test(test_endless_records),
	cmocka_unit_test(test_hostile_answers),
};
const size_t n_tls_tests = sizeof(tls_tests) / sizeof(tls_tests[0]);
