/* HTTP/2: right answers, wrong ones, requests that are sent again, and servers that mean harm. */
#include "h2script.h"

#include <stdio.h>

#include <openssl/ssl.h>

#include "base/clock.h"

#define PREFIX "GET /x, request 1 of 1: "
#define LONG_NAME "\x7f\xa1\x1e" /* HPACK: a length of 4000 */

static const struct load_request hello = {.method = "GET",
	.path = "/x",
	.expect_bytes = 5,
	.expect_body = "hello",
	.expect_body_n = 5};

static struct load_plan plan_of(const struct load_request *q, uint64_t requests, uint32_t streams)
{
	return (struct load_plan){.host = "127.0.0.1",
		.protocol = LOAD_H2,
		.connections = 1,
		.streams = streams,
		.requests = requests,
		.mix = q,
		.n_mix = 1,
		.timeout_ns = 10 * NS_PER_S};
}

static void run(struct load_plan *p, h2_fn *fn, void *ctx, SSL_CTX *tls, struct load_result *r)
{
	struct error err = ERROR_INIT;
	struct h2script *s = h2script_start(fn, ctx, tls, &p->port);

	if (load_run(p, r, &err) < 0)
		fail_msg("%s", err.msg);
	h2script_stop(s);
}

static void right(const struct load_result *r)
{
	if (r->problem || r->timed_out)
		fail_msg("%s", r->problem ? r->problem : r->sockets);
}

/* ---- One answer that is wrong in one way ----------------------------------------------------- */

static void status(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	h2_answer(r, q->stream, 0x8e, NULL, "why");
}

static void short_body(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	h2_answer(r, q->stream, 0x88, NULL, "hell");
}

static void shorter_than_said(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	h2_answer(r, q->stream, 0x88, "5", "hell");
}

static void other_length(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	h2_answer(r, q->stream, 0x88, "4", "hell");
}

static void other_byte(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	h2_answer(r, q->stream, 0x88, "5", "heLlo");
}

static void surplus(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	h2_answer(r, q->stream, 0x88, NULL, "hello!");
}

static void no_header(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	h2_answer(r, q->stream, 0x88, "5", "hello");
}

static void half(struct h2_reply *r, uint32_t stream)
{
	h2_frame(r, H2_HEADERS, H2_END_HEADERS, stream, "\x88\x0f\x0d\x01\x35", 5);
	h2_frame(r, H2_DATA, 0, stream, "he", 2);
}

static void reset(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	half(r, q->stream);
	h2_number(r, H2_RST_STREAM, q->stream, 2);
}

static void reset_at_once(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	h2_number(r, H2_RST_STREAM, q->stream, 2);
}

static void goaway(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	half(r, q->stream);
	h2_goaway(r, q->stream, 2);
	r->after = AFTER_CLOSE;
}

static void closed(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	half(r, q->stream);
	r->after = AFTER_CLOSE;
}

static void no_status(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	h2_frame(r, H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, q->stream, "\x0f\x0d\x01\x35", 4);
}

static void upper_case(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	h2_frame(r, H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, q->stream, "\x88\x00\x01X\x01y", 6);
}

static void push(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	h2_frame(r, H2_PUSH_PROMISE, H2_END_HEADERS, q->stream, "\0\0\0\x02\x82", 5);
}

static void huge_length(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	h2_answer(r, q->stream, 0x88, "9223372036854775808", "hello");
}

static void always_refused(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	h2_number(r, H2_RST_STREAM, q->stream, H2_REFUSED);
}

static const struct load_header want_etag = {"etag", "\"a\""};

static const struct {
	const char *name;
	h2_fn *fn;
	const char *problem; /* its beginning */
	bool any_length, etag;
} faults[] = {
	{"status", status, PREFIX "expected status 200, got 500"},
	{"a byte short", short_body, PREFIX "expected a body of 5 bytes, got 4"},
	{"a byte short of what it says", shorter_than_said,
		PREFIX "expected a body of 5 bytes, got 4: the stream was reset (PROTOCOL_ERROR)"},
	{"other length", other_length,
		PREFIX "expected a body of 5 bytes, got 'Content-Length: 4'"},
	{"a byte changed", other_byte,
		PREFIX "the body differs first at byte 2 of 5: expected 0x6c 'l', got 0x4c 'L'"},
	{"a byte more", surplus, PREFIX "expected a body of 5 bytes, got at least 6"},
	{"no header", no_header, PREFIX "expected a header 'etag: \"a\"', got none of that name",
		.etag = true},
	{"reset", reset,
		PREFIX "expected a body of 5 bytes, got 2: the stream was reset (INTERNAL_ERROR)"},
	{"reset at once", reset_at_once,
		PREFIX "expected an answer, got none: the stream was reset (INTERNAL_ERROR)"},
	{"GOAWAY in the middle", goaway,
		PREFIX "expected a body of 5 bytes, got 2: the server ended the connection by "
		       "GOAWAY (INTERNAL_ERROR)"},
	{"closed", closed,
		PREFIX "expected a body of 5 bytes, got 2: the server closed the connection"},
	{"no status", no_status, PREFIX "expected an HTTP/2 answer, but "},
	{"upper case", upper_case, PREFIX "expected "},
	{"push", push, PREFIX "expected an answer, got none: HTTP/2 fails: "},
	{"2^63 bytes", huge_length, PREFIX "expected ", .any_length = true},
	{"always refused", always_refused,
		PREFIX "expected an answer, but the server refused it 9 times (REFUSED_STREAM)"},
};

static void test_faults(void **state)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct load_request q = hello;
		struct load_plan p = plan_of(&q, 1, 1);
		struct load_result r;

		if (faults[i].any_length) {
			q.expect_bytes = -1;
			q.expect_body = NULL;
		}
		if (faults[i].etag) {
			q.expect_headers = &want_etag;
			q.n_expect_headers = 1;
		}
		run(&p, faults[i].fn, NULL, NULL, &r);
		if (!r.problem || strncmp(r.problem, faults[i].problem, strlen(faults[i].problem)))
			fail_msg("%s: %s", faults[i].name, r.problem ? r.problem : "no problem");
		assert_int_equal(r.done, 0);
		assert_false(r.timed_out);
		load_result_release(&r);
	}
}

static void stalled(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	half(r, q->stream);
}

static void test_stall(void **state)
{
	struct load_plan p = plan_of(&hello, 4, 4);
	struct load_result r;

	p.timeout_ns = 150 * NS_PER_MS;
	run(&p, stalled, NULL, NULL, &r);
	assert_true(r.timed_out);
	assert_null(r.problem);
	assert_non_null(strstr(r.sockets, "0 of 4 requests answered, 4 under way on 1 "));
	assert_non_null(strstr(r.sockets, "inside the answer's body of GET /x (request 4)"));
	assert_non_null(strstr(r.sockets, "(2 of 5 of the body)"));
	load_result_release(&r);
}

/* ---- Right answers, and requests that are sent again ----------------------------------------- */

static void good(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	h2_answer(r, q->stream, 0x88, "5", "hello");
}

static void test_good(void **state)
{
	struct load_plan p = plan_of(&hello, 1000, 10);
	struct load_result r;

	run(&p, good, NULL, NULL, &r);
	right(&r);
	assert_int_equal(r.done, 1000);
	assert_int_equal(r.connects, 1);
	assert_int_equal(r.retries, 0);
	load_result_release(&r);
	p.reuse = 7;
	run(&p, good, NULL, NULL, &r);
	right(&r);
	assert_int_equal(r.done, 1000);
	assert_int_equal(r.connects, 143); /* of 7 each */
	load_result_release(&r);
}

/* After five answers of a connection: GOAWAY, and later streams are not looked at. */
static void goaway_after_five(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	if (q->on_conn <= 5)
		h2_answer(r, q->stream, 0x88, "5", "hello");
	if (q->on_conn == 5)
		h2_goaway(r, q->stream, 0);
}

static void test_goaway_goes_on(void **state)
{
	struct load_request q = hello;
	struct load_plan p = plan_of(&q, 100, 8);
	struct load_result r;

	q.method = "POST"; /* not idempotent, but the server says that it did not begin */
	run(&p, goaway_after_five, NULL, NULL, &r);
	right(&r);
	assert_int_equal(r.done, 100);
	assert_int_equal(r.connects, 20);
	assert_true(r.retries > 0);
	load_result_release(&r);
}

static void refused_twice(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	if (q->number % 3)
		h2_number(r, H2_RST_STREAM, q->stream, H2_REFUSED);
	else
		h2_answer(r, q->stream, 0x88, "5", "hello");
}

static void test_refused_goes_on(void **state)
{
	struct load_plan p = plan_of(&hello, 50, 1);
	struct load_result r;

	run(&p, refused_twice, NULL, NULL, &r);
	right(&r);
	assert_int_equal(r.done, 50);
	assert_int_equal(r.retries, 100);
	assert_int_equal(r.connects, 1);
	load_result_release(&r);
}

/* Closed under a request whose fate nobody knows: a GET goes out again, a POST does not. */
static void closed_on_second(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	if (q->on_conn == 1)
		h2_answer(r, q->stream, 0x88, "5", "hello");
	else
		r->after = AFTER_CLOSE;
}

static void test_closed_goes_on(void **state)
{
	struct load_request q = hello;
	struct load_plan p = plan_of(&q, 10, 1);
	struct load_result r;

	run(&p, closed_on_second, NULL, NULL, &r);
	right(&r);
	assert_int_equal(r.done, 10);
	assert_int_equal(r.retries, 9);
	load_result_release(&r);
	q.method = "POST";
	run(&p, closed_on_second, NULL, NULL, &r);
	assert_int_equal(r.done, 1);
	assert_string_equal(r.problem,
		"POST /x, request 2 of 10: expected an answer, got none: the server closed the "
		"connection (after 1 answers on it)");
	load_result_release(&r);
}

/* 103 and trailers are no deviation. */
static void interim(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	h2_frame(r, H2_HEADERS, H2_END_HEADERS, q->stream,
		"\x08\x03"
		"103",
		5);
	h2_frame(r, H2_HEADERS, H2_END_HEADERS, q->stream, "\x88", 1);
	h2_frame(r, H2_DATA, 0, q->stream, "hello", 5);
	h2_frame(r, H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, q->stream, "\x00\x01t\x01v", 5);
}

static void test_interim_and_trailers(void **state)
{
	struct load_plan p = plan_of(&hello, 20, 4);
	struct load_result r;

	run(&p, interim, NULL, NULL, &r);
	right(&r);
	assert_int_equal(r.done, 20);
	load_result_release(&r);
}

static void test_over_tls(void **state)
{
	SSL_CTX *both = wire_context(TLS_ALPN_BOTH, true, 0),
		*h1 = wire_context(TLS_ALPN_H1, true, 0),
		*none = wire_context(TLS_ALPN_NONE, true, 0);
	struct load_plan p = plan_of(&hello, 200, 8);
	struct load_result r;

	p.protocol = LOAD_H2_TLS;
	p.reuse = 20;
	run(&p, good, NULL, both, &r);
	right(&r);
	assert_int_equal(r.done, 200);
	assert_int_equal(r.connects, 10);
	assert_int_equal(r.resumed, 9);
	load_result_release(&r);
	run(&p, good, NULL, h1, &r);
	assert_non_null(strstr(r.problem, "the peer sent the TLS alert no application protocol"));
	load_result_release(&r);
	run(&p, good, NULL, none, &r);
	assert_non_null(
		strstr(r.problem, "expected the server to agree to h2 (ALPN), got no protocol"));
	load_result_release(&r);
	SSL_CTX_free(both);
	SSL_CTX_free(h1);
	SSL_CTX_free(none);
}

static void alert(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	half(r, q->stream);
	r->after = AFTER_ALERT;
}

static void test_alert(void **state)
{
	SSL_CTX *tls = wire_context(TLS_ALPN_H2, true, 0);
	struct load_plan p = plan_of(&hello, 1, 1);
	struct load_result r;

	p.protocol = LOAD_H2_TLS;
	run(&p, alert, NULL, tls, &r);
	assert_string_equal(r.problem,
		PREFIX "expected a body of 5 bytes, got 2: the peer sent the "
		       "TLS alert bad record mac");
	load_result_release(&r);
	SSL_CTX_free(tls);
}

/* ---- Floods ---------------------------------------------------------------------------------- */

/* A head that never ends, in frames of nothing. */
static void empty_continuations(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	h2_frame(r, H2_HEADERS, 0, q->stream, "\x88", 1);
	r->again = r->n;
	for (int i = 0; i < 1000; i++)
		h2_frame(r, H2_CONTINUATION, 0, q->stream, NULL, 0);
	r->times = 10000;
}

/* The same with fields in it. */
static void endless_head(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	uint8_t field[4 + 100] = {0x00, 1, 'x', 100};

	memset(field + 4, 'a', 100);
	h2_frame(r, H2_HEADERS, 0, q->stream, "\x88", 1);
	r->again = r->n;
	for (int i = 0; i < 500; i++)
		h2_frame(r, H2_CONTINUATION, 0, q->stream, field, sizeof(field));
	r->times = 10000;
}

/* One field of 4000 bytes put into the table, then named 10000 times by a byte each: 40 MB. */
static void hpack_bomb(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	uint8_t block[16000] = "\x88\x40\x01x" LONG_NAME;
	size_t n = 4 + 3;

	memset(block + n, 'a', 4000);
	memset(block + n + 4000, 0xbe, 10000);
	h2_frame(r, H2_HEADERS, H2_END_HEADERS | H2_END_STREAM, q->stream, block, n + 14000);
}

/* Answers to what nobody asked. */
static void ping_flood(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	r->again = 0;
	for (int i = 0; i < 5000; i++)
		h2_frame(r, H2_PING, 0, 0, "12345678", 8);
	half(r, q->stream);
	r->after = AFTER_CLOSE;
}

static void endless_body(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	char some[16000];

	for (size_t i = 0; i < sizeof(some); i += 5)
		memcpy(some + i, "hello", 5);
	h2_frame(r, H2_HEADERS, H2_END_HEADERS, q->stream, "\x88", 1);
	r->again = r->n;
	h2_frame(r, H2_DATA, 0, q->stream, some, sizeof(some));
	r->times = 100000;
}

static void test_floods(void **state)
{
	static const struct {
		const char *name;
		h2_fn *fn;
		const char *problem;
	} t[] = {
		{"empty CONTINUATIONs", empty_continuations, ""},
		{"endless head", endless_head, ""},
		{"HPACK bomb", hpack_bomb,
			PREFIX "expected an HTTP/2 answer, but its head is too long"},
		{"pings", ping_flood,
			PREFIX "expected an answer, got none: HTTP/2 fails: Flooding was detected"},
		{"endless body", endless_body, PREFIX "expected a body of 5 bytes, got at least "},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct load_plan p = plan_of(&hello, 1, 1);
		struct load_result r;
		long before = memory_reset();

		run(&p, t[i].fn, NULL, NULL, &r);
		if (!r.problem || strncmp(r.problem, t[i].problem, strlen(t[i].problem)) != 0)
			fail_msg("%s: %s", t[i].name, r.problem ? r.problem : "no problem");
		if (memory_grown(before) > 8 << 10)
			fail_msg("%s took %ld KiB", t[i].name, memory_grown(before));
		load_result_release(&r);
	}
}

const struct CMUnitTest h2_tests[] = {
	cmocka_unit_test(test_faults),
	cmocka_unit_test(test_stall),
	cmocka_unit_test(test_good),
	cmocka_unit_test(test_goaway_goes_on),
	cmocka_unit_test(test_refused_goes_on),
	cmocka_unit_test(test_closed_goes_on),
	cmocka_unit_test(test_interim_and_trailers),
	cmocka_unit_test(test_over_tls),
	cmocka_unit_test(test_alert),
	cmocka_unit_test(test_floods),
};
const size_t n_h2_tests = sizeof(h2_tests) / sizeof(h2_tests[0]);
