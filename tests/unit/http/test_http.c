/* Heads: tables of what is read and what is refused, fed whole and byte by byte. */
#include "tests.h"

#include <stdio.h>

#include "http/loopback.h"

struct fed {
	enum http_progress r;
	struct http_head h;
};

/* The bytes come from an exactly sized allocation, so that reading past them is seen. */
static void feed(struct fed *f, const char *s, size_t n, bool request, bool bytewise)
{
	f->r = HTTP_MORE;
	if (request)
		http_request_begin(&f->h);
	else
		http_response_begin(&f->h);
	for (size_t k = bytewise ? 1 : n; k <= n && f->r == HTTP_MORE; k++) {
		char *p = malloc(k);

		memcpy(p, s, k);
		f->r = http_head_parse(&f->h, p, k);
		free(p);
	}
}

static void feed_both(struct fed *whole, const char *s, size_t n, bool request)
{
	struct fed bytes;

	feed(whole, s, n, request, false);
	feed(&bytes, s, n, request, true);
	assert_int_equal(whole->r, bytes.r);
	assert_int_equal(whole->h.size, bytes.h.size);
	assert_int_equal(whole->h.status, bytes.h.status);
	assert_int_equal(whole->h.n_fields, bytes.h.n_fields);
	assert_int_equal(whole->h.length, bytes.h.length);
	assert_int_equal(whole->h.keep, bytes.h.keep);
	assert_int_equal(whole->h.chunked, bytes.h.chunked);
	assert_int_equal(whole->h.problem_at, bytes.h.problem_at);
	assert_ptr_equal(whole->h.problem, bytes.h.problem);
	assert_memory_equal(
		whole->h.fields, bytes.h.fields, whole->h.n_fields * sizeof(whole->h.fields[0]));
}

static void test_good_responses(void **state)
{
	static const struct {
		const char *text;
		int status, minor;
		bool has_length, chunked, keep;
		uint64_t length;
	} t[] = {
		{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", 200, 1, true, false, true, 5},
		{"HTTP/1.1 200 OK\r\ncontent-LENGTH:5 \t\r\n\r\n", 200, 1, true, false, true, 5},
		{"HTTP/1.1 204\r\n\r\n", 204, 1, false, false, true, 0},
		{"HTTP/1.1 204 \r\n\r\n", 204, 1, false, false, true, 0},
		{"HTTP/1.0 200 OK\r\n\r\n", 200, 0, false, false, false, 0},
		{"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n\r\n", 200, 0, false, false, true,
			0},
		{"HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n", 404, 1, false, false, false,
			0},
		{"HTTP/1.1 200 OK\r\nConnection: foo , Close\r\n\r\n", 200, 1, false, false, false,
			0},
		{"HTTP/1.1 200 OK\r\nConnection: closed\r\n\r\n", 200, 1, false, false, true, 0},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n", 200, 1, false, true, true,
			0},
		{"HTTP/1.1 299 \xc3\xa4\r\nX:\r\nY: a b\tc\r\n\r\n", 299, 1, false, false, true, 0},
		{"HTTP/1.1 200 OK\r\nContent-Length: 999999999999999999\r\n\r\n", 200, 1, true,
			false, true, 999999999999999999ULL},
		{"HTTP/1.1 999 Odd\r\n\r\n", 999, 1, false, false, true, 0},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct fed f;

		feed_both(&f, t[i].text, strlen(t[i].text), false);
		if (f.r != HTTP_DONE)
			fail_msg("%zu: %s", i, f.h.problem);
		assert_int_equal(f.h.size, strlen(t[i].text));
		assert_int_equal(f.h.status, t[i].status);
		assert_int_equal(f.h.minor, t[i].minor);
		assert_int_equal(f.h.has_length, t[i].has_length);
		assert_int_equal(f.h.length, t[i].length);
		assert_int_equal(f.h.chunked, t[i].chunked);
		assert_int_equal(f.h.keep, t[i].keep);
	}
}

static const struct {
	const char *text, *problem;
} bad_responses[] = {
	{"SSH-2.0-OpenSSH", "does not start with 'HTTP/1.'"},
	{"HTTP/2 200\r\n\r\n", "does not start with 'HTTP/1.'"},
	{"H\0", "does not start with 'HTTP/1.'"},
	{"HTTP/1.2 200 OK\r\n\r\n", "neither 1.0 nor 1.1"},
	{"HTTP/1.1  200 OK\r\n\r\n", "status line is malformed"},
	{"HTTP/1.1 20 OK\r\n\r\n", "status line is malformed"},
	{"HTTP/1.1 2000 OK\r\n\r\n", "malformed after the status"},
	{"HTTP/1.1 099 OK\r\n\r\n", "below 100"},
	{"HTTP/1.1 200 O\x01K\r\n\r\n", "malformed after the status"},
	{"HTTP/1.1 200 OK\n\n", "bare line feed"},
	{"HTTP/1.1 200 OK\r\nA: b\n\r\n", "bare line feed"},
	{"HTTP/1.1 200 OK\r\n\n", "bare line feed"},
	{"HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "folded"},
	{"HTTP/1.1 200 OK\r\n A: b\r\n\r\n", "folded"},
	{"HTTP/1.1 200 OK\r\nA : b\r\n\r\n", "field name is malformed"},
	{"HTTP/1.1 200 OK\r\n: b\r\n\r\n", "field name is malformed"},
	{"HTTP/1.1 200 OK\r\nAb\r\n\r\n", "field name is malformed"},
	{"HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n", "control character"},
	{"HTTP/1.1 200 OK\r\nA: 0123456789\x7f\r\n\r\n", "control character"},
	{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n",
		"more than one Content"},
	{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
		"more than one Content"},
	{"HTTP/1.1 200 OK\r\nContent-Length: 5, 5\r\n\r\n", "not a plain number"},
	{"HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n", "not a plain number"},
	{"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "not a plain number"},
	{"HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n\r\n", "not a plain number"},
	{"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n", "not a plain number"},
	{"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000000000\r\n\r\n", "not a plain number"},
	{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
		"both Content-Length and Transfer-Encoding"},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
		"both Content-Length and Transfer-Encoding"},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "not 'chunked'"},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\n\r\n", "not 'chunked'"},
	{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
		"more than one Transfer-Encoding"},
	{"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.0 has no"},
};

static void test_bad_responses(void **state)
{
	for (size_t i = 0; i < sizeof(bad_responses) / sizeof(bad_responses[0]); i++) {
		const char *text = bad_responses[i].text;
		struct fed f;

		feed_both(&f, text, strlen(text) + (text[1] == 0), false);
		if (f.r != HTTP_BAD || !strstr(f.h.problem, bad_responses[i].problem))
			fail_msg("%zu: %d %s", i, f.r, f.h.problem ? f.h.problem : "");
		/* It stays bad. */
		assert_int_equal(http_head_parse(&f.h, text, strlen(text)), HTTP_BAD);
	}
}

static void test_requests(void **state)
{
	static const struct {
		const char *text;
		int status; /* 0: good */
	} t[] = {
		{"GET / HTTP/1.1\r\nHost: a\r\n\r\n", 0},
		{"GET / HTTP/1.0\r\n\r\n", 0},
		{"M-SEARCH * HTTP/1.1\r\nHost:\r\n\r\n", 0},
		{"GET http://a/b?c=d HTTP/1.1\r\nhost: a\r\n\r\n", 0},
		{"POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\nContent-Length: 1\r\n\r\n",
			0},
		{"GET / HTTP/1.1\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400},
		{"GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", 400},
		{"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
		{"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400},
		{"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"GET /\x80 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"GET /\r\n\r\n", 400},
		{"G@T / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{" GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
		{"GET / HTTP/1.1\nHost: a\n\n", 400},
		{"GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n\tc\r\n\r\n", 400},
		{"GET / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n", 417},
		{"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
		{"GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: "
		 "0\r\n\r\n",
			400},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct fed f;

		feed_both(&f, t[i].text, strlen(t[i].text), true);
		if (f.r != (t[i].status ? HTTP_BAD : HTTP_DONE))
			fail_msg("%zu: %d %s", i, f.r, f.h.problem ? f.h.problem : "");
		assert_int_equal(f.h.problem_status, t[i].status);
	}
}

static void test_request_parts(void **state)
{
	static const char text[] =
		"POST /a?b HTTP/1.1\r\nHost: h\r\nX-Y:  v w \r\nx-y: 2\r\n\r\nrest";
	const struct http_field *f;
	struct fed fed;

	feed(&fed, text, strlen(text), true, false);
	assert_int_equal(fed.r, HTTP_DONE);
	assert_int_equal(fed.h.size, strlen(text) - 4);
	assert_true(http_span_is(fed.h.method, text, "POST"));
	assert_true(http_span_is(fed.h.target, text, "/a?b"));
	f = http_field_find(&fed.h, text, "x-Y");
	assert_non_null(f);
	assert_int_equal(f->value.n, 3);
	assert_memory_equal(text + f->value.off, "v w", 3);
	assert_null(http_field_find(&fed.h, text, "X-"));
	assert_null(http_field_find(&fed.h, text, "X-YZ"));
}

static void test_limits(void **state)
{
	size_t n = 0, size = 2 * HTTP_HEAD_MAX;
	char *s = malloc(size);
	struct fed f;

	/* One field more than there is room for. */
	n += (size_t)snprintf(s, size, "HTTP/1.1 200 OK\r\n");
	for (int i = 0; i < HTTP_FIELDS_MAX; i++)
		n += (size_t)snprintf(s + n, size - n, "F%d: x\r\n", i);
	memcpy(s + n, "\r\n", 2);
	feed(&f, s, n + 2, false, false);
	assert_int_equal(f.r, HTTP_DONE);
	assert_int_equal(f.h.n_fields, 128);
	memcpy(s + n, "G: x\r\n\r\n", 8);
	feed(&f, s, n + 8, false, false);
	assert_int_equal(f.r, HTTP_BAD);
	assert_string_equal(f.h.problem, "there are too many fields");

	/* A head of exactly 65536 bytes is read; one byte more is not, and no end is not waited
	 * for. */
	memset(s, 'x', size);
	memcpy(s, "HTTP/1.1 200 OK\r\nA: ", 20);
	memcpy(s + HTTP_HEAD_MAX - 4, "\r\n\r\n", 4);
	feed(&f, s, size, false, false);
	assert_int_equal(f.r, HTTP_DONE);
	assert_int_equal(f.h.size, 65536);
	memset(s + HTTP_HEAD_MAX - 4, 'x', 4);
	memcpy(s + HTTP_HEAD_MAX - 3, "\r\n\r\n", 4);
	feed(&f, s, size, false, false);
	assert_int_equal(f.r, HTTP_BAD);
	assert_string_equal(f.h.problem, "the head is too long");
	assert_int_equal(f.h.problem_status, 431);
	feed(&f, s, HTTP_HEAD_MAX - 1, false, false);
	assert_int_equal(f.r, HTTP_MORE);
	free(s);
}

/* Whatever bytes come: no crash, and the same verdict for both ways of feeding. */
static void test_mutations(void **state)
{
	static const char seed_text[] =
		"HTTP/1.1 200 OK\r\nContent-Length: 12\r\nConnection: keep-alive\r\nA: b\r\n\r\n";
	static const char bytes[] = {'\r', '\n', ' ', '\t', ':', ',', '0', 0, 'A', (char)0x80};
	uint32_t rng = 1;

	for (int i = 0; i < 20000; i++) {
		char s[sizeof(seed_text)];
		struct fed f;

		memcpy(s, seed_text, sizeof(s));
		for (int k = 0; k < 1 + i % 3; k++) {
			rng = rng * 1664525u + 1013904223u;
			s[(rng >> 8) % (sizeof(s) - 1)] = bytes[(rng >> 24) % sizeof(bytes)];
		}
		feed_both(&f, s, sizeof(s) - 1, false);
		feed_both(&f, s, sizeof(s) - 1, true);
	}
}

static void test_loopback(void **state)
{
	static const char *const bad[] = {
		"192.0.2.1", "0.0.0.0", "::", "::2", "localhost", "", NULL};
	struct error err = ERROR_INIT;
	struct loopback a;

	assert_int_equal(loopback_set(&a, "127.1.2.3", 80, &err), 0);
	assert_string_equal(a.text, "127.1.2.3:80");
	assert_int_equal(loopback_port(&a), 80);
	assert_int_equal(loopback_set(&a, "::1", 65535, &err), 0);
	assert_string_equal(a.text, "[::1]:65535");
	assert_int_equal(loopback_port(&a), 65535);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(loopback_set(&a, bad[i], 1, &err), -1);
		assert_int_equal(err.code, ERR_USAGE);
	}
	assert_string_equal(a.text, "[::1]:65535"); /* untouched */
	error_release(&err);
}

int main(void)
{
	struct CMUnitTest tests[64] = {
		cmocka_unit_test(test_good_responses),
		cmocka_unit_test(test_bad_responses),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_request_parts),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_loopback),
	};
	size_t n = 7;

	for (size_t i = 0; i < n_body_tests; i++)
		tests[n++] = body_tests[i];
	for (size_t i = 0; i < n_tls_tests; i++)
		tests[n++] = tls_tests[i];
	for (size_t i = 0; i < n_websocket_tests; i++)
		tests[n++] = websocket_tests[i];
	return _cmocka_run_group_tests("http", tests, n, NULL, NULL);
}
