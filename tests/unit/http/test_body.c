#include "tests.h"

struct decoded {
	enum http_progress r;
	size_t used, n;
	char data[256];
	const char *problem;
};

/* Feeds step bytes at a time (0: all at once) into a body of a response with this head. */
static struct decoded decode(const char *head, const char *s, size_t n, size_t step, bool to_head)
{
	struct decoded d = {.r = HTTP_MORE};
	struct http_head *h = malloc(sizeof(*h));
	struct http_body b;

	http_response_begin(h);
	assert_int_equal(http_head_parse(h, head, strlen(head)), HTTP_DONE);
	http_response_body(&b, h, to_head);
	free(h);
	if (n == 0) {
		struct http_piece piece;
		size_t used;

		d.r = http_body_feed(&b, s, 0, &used, &piece);
	}
	while (d.r == HTTP_MORE && d.used < n) {
		size_t k = step && step < n - d.used ? step : n - d.used, used;
		struct http_piece piece;
		char *p = malloc(k);

		memcpy(p, s + d.used, k);
		d.r = http_body_feed(&b, p, k, &used, &piece);
		assert_true(used <= k);
		assert_true(d.n + piece.n <= sizeof(d.data));
		if (piece.n)
			memcpy(d.data + d.n, piece.p, piece.n);
		d.n += piece.n;
		d.used += used;
		free(p);
	}
	assert_int_equal(b.got, d.n);
	d.problem = b.problem;
	return d;
}

static struct decoded decode_all_ways(const char *head, const char *s)
{
	struct decoded whole = decode(head, s, strlen(s), 0, false);

	for (size_t step = 1; step < 8; step++) {
		struct decoded d = decode(head, s, strlen(s), step, false);

		assert_int_equal(d.r, whole.r);
		assert_int_equal(d.used, whole.used);
		assert_int_equal(d.n, whole.n);
		assert_memory_equal(d.data, whole.data, whole.n);
		assert_ptr_equal(d.problem, whole.problem);
	}
	return whole;
}

static const char chunked[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
static const char plain[] = "HTTP/1.1 200 OK\r\n\r\n";
static const char five[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";

static void test_good_chunks(void **state)
{
	static const struct {
		const char *in, *out;
		size_t rest;
	} t[] = {
		{"0\r\n\r\n", "", 0},
		{"5\r\nhello\r\n0\r\n\r\nHTTP", "hello", 4},
		{"1\r\na\r\n00002\r\nbc\r\n000\r\n\r\n", "abc", 0},
		{"A;x=\"y\"\r\n0123456789\r\n0;z\r\n\r\n", "0123456789", 0},
		{"3\r\n\r\n\r\r\n0\r\nX-Sum: 1\r\nY:\r\n\r\n", "\r\n\r", 0},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct decoded d = decode_all_ways(chunked, t[i].in);

		if (d.r != HTTP_DONE)
			fail_msg("%zu: %s", i, d.problem ? d.problem : "more");
		assert_int_equal(d.n, strlen(t[i].out));
		assert_memory_equal(d.data, t[i].out, d.n);
		assert_int_equal(strlen(t[i].in) - d.used, t[i].rest);
	}
}

static void test_bad_chunks(void **state)
{
	static const struct {
		const char *in, *problem;
	} t[] = {
		{"\r\n", "a chunk size is not a hexadecimal number"},
		{"g\r\n", "a chunk size is not a hexadecimal number"},
		{"-1\r\n", "a chunk size is not a hexadecimal number"},
		{"0x5\r\nhello\r\n", "a chunk size is not a hexadecimal number"},
		{"5 \r\nhello\r\n", "a chunk size is not a hexadecimal number"},
		{"5\nhello\r\n", "a chunk size is not a hexadecimal number"},
		{"5\r5hello", "a chunk size line does not end in CR LF"},
		{"5;a\nb\r\nhello", "a chunk extension holds a control character"},
		{"5\r\nhello0\r\n\r\n", "a chunk is not followed by CR LF"},
		{"5\r\nhello\n0\r\n\r\n", "a chunk is not followed by CR LF"},
		{"5\r\nhello\r0\r\n", "a chunk is not followed by CR LF"},
		{"1000000000000000\r\n", "a chunk size is too large"},
		{"0\r\n\n", "a trailer field name is malformed"},
		{"0\r\nA b\r\n\r\n", "a trailer field name is malformed"},
		{"0\r\n a: b\r\n\r\n", "a trailer field name is malformed"},
		{"0\r\na: b\n\r\n", "a trailer field value holds a control character"},
		{"0\r\na: b\r\r\n", "a trailer line does not end in CR LF"},
		{"0\r\n\rx", "the trailer section does not end in CR LF"},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct decoded d = decode_all_ways(chunked, t[i].in);

		assert_int_equal(d.r, HTTP_BAD);
		assert_string_equal(d.problem, t[i].problem);
	}
}

static void test_chunk_limits(void **state)
{
	size_t n = 3 + HTTP_TRAILER_MAX + 2;
	char *s = malloc(n);
	struct decoded d;

	memset(s, 'x', n);
	memcpy(s, "5;", 2);
	d = decode(chunked, s, n, 0, false);
	assert_int_equal(d.r, HTTP_BAD);
	assert_string_equal(d.problem, "a chunk extension is too long");
	assert_int_equal(d.used, 2 + 1024);
	memcpy(s, "0\r\n", 3);
	s[4] = ':';
	d = decode(chunked, s, n, 0, false);
	assert_int_equal(d.r, HTTP_BAD);
	assert_string_equal(d.problem, "the trailer section is too long");
	free(s);
}

static void test_other_bodies(void **state)
{
	struct decoded d = decode_all_ways(five, "helloHTTP");

	assert_int_equal(d.r, HTTP_DONE);
	assert_int_equal(d.used, 5);
	assert_memory_equal(d.data, "hello", 5);
	d = decode_all_ways(five, "hell");
	assert_int_equal(d.r, HTTP_MORE);
	d = decode_all_ways(plain, "all of it");
	assert_int_equal(d.r, HTTP_MORE);
	assert_int_equal(d.n, 9);
	/* No body whatever the fields say. */
	d = decode(five, "x", 1, 0, true);
	assert_int_equal(d.r, HTTP_DONE);
	assert_int_equal(d.used, 0);
	d = decode("HTTP/1.1 304 x\r\nContent-Length: 5\r\n\r\n", "x", 1, 0, false);
	assert_int_equal(d.r, HTTP_DONE);
	assert_int_equal(d.used, 0);
	d = decode("HTTP/1.1 204 x\r\nTransfer-Encoding: chunked\r\n\r\n", "x", 1, 0, false);
	assert_int_equal(d.r, HTTP_DONE);
	d = decode("HTTP/1.1 200 x\r\nContent-Length: 0\r\n\r\n", "", 0, 0, false);
	assert_int_equal(d.r, HTTP_DONE);
}

static void test_eof(void **state)
{
	struct http_body b = {.kind = HTTP_BODY_LENGTH, .left = 1};

	assert_int_equal(http_body_eof(&b), HTTP_BAD);
	b = (struct http_body){.kind = HTTP_BODY_CHUNKED};
	assert_int_equal(http_body_eof(&b), HTTP_BAD);
	b = (struct http_body){.kind = HTTP_BODY_UNTIL_CLOSE};
	assert_int_equal(http_body_eof(&b), HTTP_DONE);
}

const struct CMUnitTest body_tests[] = {
	cmocka_unit_test(test_good_chunks),
	cmocka_unit_test(test_bad_chunks),
	cmocka_unit_test(test_chunk_limits),
	cmocka_unit_test(test_other_bodies),
	cmocka_unit_test(test_eof),
};
const size_t n_body_tests = sizeof(body_tests) / sizeof(body_tests[0]);
