/* Answers that are wrong in one way each, and what the driver says. */
#include "script.h"

#include <stdio.h>

#include "base/clock.h"

struct fault {
	const char *name, *reply;
	size_t n; /* of reply when it holds NUL; 0: strlen */
	enum after after;
	const char *problem;   /* the whole text */
	struct load_request r; /* defaults: GET /x, status 200, length not checked */
};

#define PREFIX "GET /x, request 1 of 1: "

static const struct load_header want_etag = {"etag", "\"a\""};

static const struct fault faults[] = {
	{"status", "HTTP/1.1 500 Oops\r\nContent-Length: 5\r\n\r\nwhy\n\x01", .after = AFTER_KEEP,
		.problem = PREFIX
		"expected status 200, got 500; its body starts with \"why\\n\\x01\""},
	{"status of redirect", "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n",
		.problem = PREFIX "expected status 200, got 302"},
	{"wrong length", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabcd",
		.problem = PREFIX "expected a body of 5 bytes, got 'Content-Length: 4'",
		.r = {.expect_bytes = 5}},
	{"wrong body of the right length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nheLlo",
		.problem = PREFIX
		"the body differs first at byte 2 of 5: expected 0x6c 'l', got 0x4c 'L'",
		.r = {.expect_bytes = -1, .expect_body = "hello", .expect_body_n = 5}},
	{"wrong last byte in a chunk",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: "
		"chunked\r\n\r\n3\r\nhel\r\n2\r\nl\n\r\n0\r\n\r\n",
		.problem =
			PREFIX "the body differs first at byte 4 of 5: expected 0x6f 'o', got 0x0a",
		.r = {.expect_bytes = -1, .expect_body = "hello", .expect_body_n = 5}},
	{"short in chunks",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n0\r\n\r\n",
		.problem = PREFIX "expected a body of 5 bytes, got 3",
		.r = {.expect_bytes = -1, .expect_body = "hello", .expect_body_n = 5}},
	{"long in chunks",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nhello!\r\n0\r\n\r\n",
		.problem = PREFIX "expected a body of 5 bytes, got at least 6",
		.r = {.expect_bytes = 5}},
	{"bad chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhell\r\n0\r\n\r\n",
		.problem = PREFIX "expected a body in chunks, but a chunk is not followed by CR LF "
				  "(after 3 bytes of it)"},
	{"half", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", .after = AFTER_CLOSE,
		.problem = PREFIX
		"expected a body of 10 bytes, got 5: the server closed the connection"},
	{"half in chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhello",
		.after = AFTER_CLOSE,
		.problem = PREFIX
		"expected a whole body, got 5 bytes: the server closed the connection"},
	{"half a head", "HTTP/1.1 200 OK\r\nContent-", .after = AFTER_CLOSE,
		.problem = PREFIX "expected a whole answer, got 25 bytes of its head: the server "
				  "closed the connection"},
	{"close", "", .after = AFTER_CLOSE,
		.problem = PREFIX "expected an answer, got none: the server closed the connection "
				  "(after 0 answers on it)"},
	{"reset", "", .after = AFTER_RESET,
		.problem = PREFIX
		"expected an answer, got none: Connection reset by peer (after 0 answers on it)"},
	{"surplus", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello, world",
		.problem = PREFIX
		"expected the answer to end after its body, got 7 more bytes: \", world\""},
	{"other byte in too long a body",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nhexlo!\r\n0\r\n\r\n",
		.problem = PREFIX "the body differs first at byte 2 of 5: expected 0x6c 'l', got "
				  "0x78 'x'",
		.r = {.expect_bytes = 5, .expect_body = "hello", .expect_body_n = 5}},
	{"body to HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
		.problem =
			"HEAD /x, request 1 of 1: expected the answer to end after its body, got 5 "
			"more bytes: \"hello\"",
		.r = {.method = "HEAD", .expect_bytes = 5}},
	{"length to HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n",
		.problem = "HEAD /x, request 1 of 1: expected a body of 5 bytes, got "
			   "'Content-Length: 4'",
		.r = {.method = "HEAD", .expect_bytes = 5}},
	{"no length to HEAD", "HTTP/1.1 200 OK\r\n\r\n",
		.problem = "HEAD /x, request 1 of 1: expected 'Content-Length: 5', got no "
			   "Content-Length",
		.r = {.method = "HEAD", .expect_bytes = 5}},
	{"body to 304", "HTTP/1.1 304 Not Modified\r\n\r\nhello",
		.problem = PREFIX
		"expected the answer to end after its body, got 5 more bytes: \"hello\"",
		.r = {.expect_status = 304, .expect_bytes = -1}},
	{"204 where a body is due", "HTTP/1.1 204 No Content\r\n\r\n",
		.problem = PREFIX "expected a body of 5 bytes, got 0",
		.r = {.expect_status = 204, .expect_bytes = 5}},
	{"no header", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
		.problem = PREFIX "expected a header 'etag: \"a\"', got none of that name",
		.r = {.expect_bytes = -1, .expect_headers = &want_etag, .n_expect_headers = 1}},
	{"other header", "HTTP/1.1 200 OK\r\nETag: \"b\"\r\nContent-Length: 0\r\n\r\n",
		.problem = PREFIX "expected header 'etag' to be \"\"a\"\", got \"\\\"b\\\"\"",
		.r = {.expect_bytes = -1, .expect_headers = &want_etag, .n_expect_headers = 1}},
	{"no HTTP", "SSH-2.0-x", .after = AFTER_HANG,
		.problem = PREFIX
		"expected an HTTP/1.1 answer, but it does not start with 'HTTP/1.': \"SSH-2.0-x\""},
	{"two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
		.problem = PREFIX "expected an HTTP/1.1 answer, but there is more than one "
				  "Content-Length: \"Content-Length: 6\\r\\n\\r\\nhello\""},
	{"101", "HTTP/1.1 101 Switching Protocols\r\n\r\n", .after = AFTER_HANG,
		.problem = PREFIX "expected status 200, got 101"},
};

struct fixed {
	const struct fault *f;
	bool bytewise;
};

static void fixed_reply(void *ctx, const struct script_request *q, struct script_reply *r)
{
	const struct fixed *x = ctx;

	r->n = x->f->n ? x->f->n : strlen(x->f->reply);
	memcpy(r->bytes, x->f->reply, r->n);
	r->after = x->f->after;
	r->bytewise = x->bytewise;
}

static void run_one(const struct fault *f, bool bytewise, struct load_result *ret)
{
	struct fixed x = {f, bytewise};
	struct load_request q = f->r;
	struct load_plan p = {.host = "127.0.0.1",
		.connections = 1,
		.requests = 1,
		.mix = &q,
		.n_mix = 1,
		.timeout_ns = 10 * NS_PER_S};
	struct error err = ERROR_INIT;
	struct script *s = script_start(fixed_reply, &x, &p.port);

	q.method = q.method ? q.method : "GET";
	q.path = "/x";
	if (!q.expect_bytes && !q.expect_status && !q.n_expect_headers)
		q.expect_bytes = -1;
	assert_int_equal(load_run(&p, ret, &err), 0);
	script_stop(s);
}

static void test_faults(void **state)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct load_result r;

		run_one(&faults[i], false, &r);
		if (!r.problem || strcmp(r.problem, faults[i].problem) != 0)
			fail_msg("%s: %s", faults[i].name, r.problem ? r.problem : "no problem");
		assert_int_equal(r.done, 0);
		assert_false(r.timed_out);
		load_result_release(&r);
	}
}

/* The same faults arriving byte by byte: always a problem; the text may know fewer bytes. */
static void test_faults_bytewise(void **state)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		/* What follows a complete answer comes after the run's end here. */
		bool late = strstr(faults[i].problem, "more bytes") != NULL;
		struct load_result r;

		run_one(&faults[i], true, &r);
		if (!late && (!r.problem || r.done || r.timed_out))
			fail_msg("%s: no problem", faults[i].name);
		load_result_release(&r);
	}
}

/* The right answers in all shapes, whole and byte by byte. */
static void test_good_shapes(void **state)
{
	static const struct load_header any = {"x-any", NULL};
	static const struct fault good[] = {
		{"length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Any: 1\r\n\r\nhello",
			.r = {.expect_bytes = 5,
				.expect_body = "hello",
				.expect_body_n = 5,
				.expect_headers = &any,
				.n_expect_headers = 1}},
		{"chunks",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: "
			"chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n"
			"X: y\r\n\r\n",
			.r = {.expect_bytes = -1, .expect_body = "hello", .expect_body_n = 5}},
		{"until close", "HTTP/1.0 200 OK\r\n\r\nhello", .after = AFTER_CLOSE,
			.r = {.expect_bytes = -1, .expect_body = "hello", .expect_body_n = 5}},
		{"interim",
			"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
			"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
			.r = {.expect_bytes = -1, .expect_body = "hello", .expect_body_n = 5}},
		{"head", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
			.r = {.method = "HEAD",
				.expect_bytes = 5,
				.expect_body = "hello",
				.expect_body_n = 5}},
		{"head without a length", "HTTP/1.1 200 OK\r\n\r\n",
			.r = {.method = "HEAD", .expect_bytes = 0}},
		{"head in chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
			.r = {.method = "HEAD", .expect_bytes = -1, .expect_status = 200}},
		{"304", "HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n",
			.r = {.expect_status = 304, .expect_bytes = 0}},
		{"204", "HTTP/1.1 204 No Content\r\n\r\n",
			.r = {.expect_status = 204, .expect_bytes = -1}},
		{"empty", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
			.r = {.expect_status = 200, .expect_body = "", .expect_body_n = 0}},
	};

	for (size_t i = 0; i < 2 * sizeof(good) / sizeof(good[0]); i++) {
		struct load_result r;

		run_one(&good[i / 2], i % 2, &r);
		if (r.problem || r.done != 1 || r.timed_out)
			fail_msg("%s: %s", good[i / 2].name, r.problem ? r.problem : "time-out");
		load_result_release(&r);
	}
}

static void endless_interim(void *ctx, const struct script_request *q, struct script_reply *r)
{
	for (int i = 0; i < 17; i++)
		reply_text(r, "HTTP/1.1 100 Continue\r\n\r\n");
}

static void test_endless_interim(void **state)
{
	struct load_request q = {.method = "GET", .path = "/x", .expect_bytes = -1};
	struct load_plan p = {.host = "127.0.0.1",
		.connections = 1,
		.requests = 1,
		.mix = &q,
		.n_mix = 1,
		.timeout_ns = 10 * NS_PER_S};
	struct error err = ERROR_INIT;
	struct script *s = script_start(endless_interim, NULL, &p.port);
	struct load_result r;

	assert_int_equal(load_run(&p, &r, &err), 0);
	assert_string_equal(r.problem, PREFIX "expected status 200, got too many interim answers");
	load_result_release(&r);
	script_stop(s);
}

const struct CMUnitTest fault_tests[] = {
	cmocka_unit_test(test_faults),
	cmocka_unit_test(test_faults_bytewise),
	cmocka_unit_test(test_good_shapes),
	cmocka_unit_test(test_endless_interim),
};
const size_t n_fault_tests = sizeof(fault_tests) / sizeof(fault_tests[0]);
