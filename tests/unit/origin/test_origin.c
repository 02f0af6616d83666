/* What the paths of docs/origin.md answer, seen by the driver and by a raw client. */
#include "child.h"

#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "load/load.h"
#include "origin/origin.h"
#include "origin/route.h"

struct child child;

static void test_pattern(void **state)
{
	char a[40], b[40];

	origin_pattern(0, a, 33);
	assert_memory_equal(a, "000000000000000\n000000000000010\n0", 33);
	origin_pattern(0xabcdef0, a, 16);
	assert_memory_equal(a, "00000000abcdef0\n", 16);
	for (uint64_t off = 0; off < 40; off++) {
		origin_pattern(0, a, 40);
		origin_pattern(off, b, (size_t)(40 - off));
		assert_memory_equal(a + off, b, (size_t)(40 - off));
	}
}

static void test_routes(void **state)
{
	static const struct {
		const char *path;
		enum route_kind kind;
		uint64_t n;
		uint32_t delay;
	} t[] = {
		{"/health", ROUTE_HEALTH, 0, 0},
		{"/health?x=/bytes/1", ROUTE_HEALTH, 0, 0},
		{"/health/", ROUTE_UNKNOWN, 0, 0},
		{"/healthy", ROUTE_UNKNOWN, 0, 0},
		{"health", ROUTE_UNKNOWN, 0, 0},
		{"", ROUTE_UNKNOWN, 0, 0},
		{"/", ROUTE_UNKNOWN, 0, 0},
		{"*", ROUTE_UNKNOWN, 0, 0},
		{"http://h/bytes/7", ROUTE_BYTES, 7, 0},
		{"http://h", ROUTE_UNKNOWN, 0, 0},
		{"/bytes/0", ROUTE_BYTES, 0, 0},
		{"/bytes/1099511627776", ROUTE_BYTES, 1099511627776ULL, 0},
		{"/bytes/1099511627777", ROUTE_BAD, 1099511627777ULL, 0},
		{"/bytes", ROUTE_BAD, 0, 0},
		{"/bytes/", ROUTE_BAD, 0, 0},
		{"/bytes/-1", ROUTE_BAD, 0, 0},
		{"/bytes/9999999999999999999999", ROUTE_BAD, 0, 0},
		{"/bytes/1/2", ROUTE_UNKNOWN, 1, 0},
		{"/status/199", ROUTE_BAD, 199, 0},
		{"/status/599", ROUTE_STATUS, 599, 0},
		{"/delay/5/delay/6/echo", ROUTE_ECHO, 0, 11},
		{"/delay/5", ROUTE_UNKNOWN, 0, 5},
		{"/delay/60000/delay/1/echo", ROUTE_BAD, 0, 60000},
		{"/delay/x/echo", ROUTE_BAD, 0, 0},
		{"/half/0", ROUTE_BAD, 0, 0},
		{"/keep/2/bytes/7", ROUTE_BYTES, 7, 0},
		{"/keep/0/bytes/7", ROUTE_BAD, 0, 0},
		{"/keep/2", ROUTE_UNKNOWN, 0, 0},
		{"/wrong/byte/3/delay/4/bytes/7", ROUTE_BYTES, 7, 4},
		{"/wrong/bite/3/bytes/7", ROUTE_BAD, 0, 0},
		{"/wrong/byte/0/bytes/7", ROUTE_BAD, 0, 0},
		{"/wrong/byte/1/wrong/cut/1/bytes/7", ROUTE_BAD, 0, 0},
		{"/wrong/byte", ROUTE_BAD, 0, 0},
		{"/header/A/b/health", ROUTE_HEALTH, 0, 0},
		{"/header/A//health", ROUTE_HEALTH, 0, 0},
		{"/header/%41-b/a%20%2fb%C3%A9/health", ROUTE_HEALTH, 0, 0},
		{"/header/A/b%0d%0aC:%20d/health", ROUTE_BAD, 0, 0},
		{"/header/A/b%2/health", ROUTE_BAD, 0, 0},
		{"/header/A/b%zz/health", ROUTE_BAD, 0, 0},
		{"/header/A/%20b/health", ROUTE_BAD, 0, 0},
		{"/header//b/health", ROUTE_BAD, 0, 0},
		{"/header/A%20b/c/health", ROUTE_BAD, 0, 0},
		{"/header/Content-Length/5/health", ROUTE_BAD, 0, 0},
		{"/header/content-lengt%68/5/health", ROUTE_BAD, 0, 0},
		{"/header/TRANSFER-ENCODING/chunked/health", ROUTE_BAD, 0, 0},
		{"/header/a/1/header/b/2/header/c/3/header/d/4/health", ROUTE_HEALTH, 0, 0},
		{"/header/a/1/header/b/2/header/c/3/header/d/4/header/e/5/health", ROUTE_BAD, 0, 0},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct route r;

		route_parse(t[i].path, strlen(t[i].path), &r);
		if (r.kind != t[i].kind || r.n != t[i].n || r.delay_ms != t[i].delay)
			fail_msg("%s: %d %llu %u", t[i].path, r.kind, (unsigned long long)r.n,
				r.delay_ms);
	}
}

static void expect_answer(const char *request, const char *answer)
{
	size_t n;
	char *text = raw_ask(&child, request, &n);

	if (n != strlen(answer) || memcmp(text, answer, n) != 0)
		fail_msg("to %s\nexpected %s\ngot %s", request, answer, text);
	free(text);
}

#define REQ(what, more) what " HTTP/1.1\r\nHost: x\r\n" more "\r\n"
#define SERVER "Server: whet-origin\r\n"
#define BINARY "Content-Type: application/octet-stream\r\n"
#define TEXT "Content-Type: text/plain; charset=utf-8\r\n"
#define TAG10 "ETag: \"bytes-10\"\r\nAccept-Ranges: bytes\r\n"

static void test_exact_answers(void **state)
{
	static const char *const t[][2] = {
		{REQ("GET /health", ""),
			"HTTP/1.1 200 OK\r\n" SERVER TEXT "Content-Length: 3\r\n\r\nok\n"},
		{REQ("GET /bytes/10", ""), "HTTP/1.1 200 OK\r\n" SERVER BINARY TAG10
					   "Content-Length: 10\r\n\r\n0000000000"},
		{REQ("HEAD /bytes/10", ""),
			"HTTP/1.1 200 OK\r\n" SERVER BINARY TAG10 "Content-Length: 10\r\n\r\n"},
		{REQ("GET /bytes/0", ""),
			"HTTP/1.1 200 OK\r\n" SERVER BINARY
			"ETag: \"bytes-0\"\r\nAccept-Ranges: bytes\r\nContent-Length: 0\r\n\r\n"},
		{REQ("GET /bytes/10", "If-None-Match: \"x\", W/\"bytes-10\"\r\n"),
			"HTTP/1.1 304 Not Modified\r\n" SERVER TAG10 "\r\n"},
		{REQ("GET /bytes/10", "If-None-Match: *\r\n"),
			"HTTP/1.1 304 Not Modified\r\n" SERVER TAG10 "\r\n"},
		{REQ("GET /bytes/10",
			 "If-None-Match: \"bytes-1\", bytes-10\r\nRange: bytes=0-1\r\n"),
			"HTTP/1.1 206 Partial Content\r\n" SERVER BINARY TAG10
			"Content-Range: bytes 0-1/10\r\nContent-Length: 2\r\n\r\n00"},
		{REQ("GET /bytes/20", "Range: bytes=14-16\r\n"),
			"HTTP/1.1 206 Partial Content\r\n" SERVER BINARY
			"ETag: \"bytes-20\"\r\nAccept-Ranges: bytes\r\n"
			"Content-Range: bytes 14-16/20\r\nContent-Length: 3\r\n\r\n0\n0"},
		{REQ("GET /bytes/20", "Range: bytes=-5\r\n"),
			"HTTP/1.1 206 Partial Content\r\n" SERVER BINARY
			"ETag: \"bytes-20\"\r\nAccept-Ranges: bytes\r\n"
			"Content-Range: bytes 15-19/20\r\nContent-Length: 5\r\n\r\n\n0000"},
		{REQ("GET /bytes/10", "Range: bytes=9-99\r\nIf-Range: \"bytes-10\"\r\n"),
			"HTTP/1.1 206 Partial Content\r\n" SERVER BINARY TAG10
			"Content-Range: bytes 9-9/10\r\nContent-Length: 1\r\n\r\n0"},
		{REQ("GET /bytes/10", "Range: bytes=9-99\r\nIf-Range: \"bytes-11\"\r\n"),
			"HTTP/1.1 200 OK\r\n" SERVER BINARY TAG10
			"Content-Length: 10\r\n\r\n0000000000"},
		{REQ("GET /bytes/10", "Range: bytes=0-1,3-4\r\n"),
			"HTTP/1.1 200 OK\r\n" SERVER BINARY TAG10
			"Content-Length: 10\r\n\r\n0000000000"},
		{REQ("GET /bytes/10", "Range: bytes=10-\r\n"),
			"HTTP/1.1 416 Range Not Satisfiable\r\n" SERVER TEXT
			"Content-Range: bytes */10\r\nContent-Length: 23\r\n\r\nthe range lies "
			"outside\n"},
		{REQ("GET /chunked/3", ""),
			"HTTP/1.1 200 OK\r\n" SERVER BINARY
			"Transfer-Encoding: chunked\r\n\r\n3\r\n000\r\n0\r\n\r\n"},
		{REQ("GET /status/204", ""), "HTTP/1.1 204 No Content\r\n" SERVER "\r\n"},
		{REQ("GET /status/503", ""), "HTTP/1.1 503 Service Unavailable\r\n" SERVER TEXT
					     "Content-Length: 11\r\n\r\nstatus 503\n"},
		{REQ("POST /echo", "Content-Type: a/b\r\nContent-Length: 4\r\n") "ab\r\n",
			"HTTP/1.1 200 OK\r\n" SERVER
			"Content-Type: a/b\r\nContent-Length: 4\r\n\r\nab\r\n"},
		{REQ("POST /echo",
			 "Transfer-Encoding: chunked\r\n") "1\r\na\r\n2\r\nbc\r\n0\r\n\r\n",
			"HTTP/1.1 200 OK\r\n" SERVER BINARY "Content-Length: 3\r\n\r\nabc"},
		{REQ("POST /bytes/10", "Content-Length: 2\r\n") "ab",
			"HTTP/1.1 405 Method Not Allowed\r\n" SERVER TEXT
			"Content-Length: 18\r\n\r\nonly GET and HEAD\n"},
		{REQ("GET /no", "Connection: close\r\n"),
			"HTTP/1.1 404 Not Found\r\n" SERVER TEXT
			"Content-Length: 10\r\nConnection: close\r\n\r\nnot found\n"},
		{"GET /health HTTP/1.0\r\n\r\n",
			"HTTP/1.1 200 OK\r\n" SERVER TEXT
			"Content-Length: 3\r\nConnection: close\r\n\r\nok\n"},
		{REQ("GET /half/5", ""),
			"HTTP/1.1 200 OK\r\n" SERVER BINARY "Content-Length: 5\r\n\r\n00"},
		{REQ("GET /slow/3", ""),
			"HTTP/1.1 200 OK\r\n" SERVER BINARY "Content-Length: 3\r\n\r\n000"},
		{REQ("GET /close", ""), ""},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		expect_answer(t[i][0], t[i][1]);
}

static void test_reset_and_delay(void **state)
{
	int fd = raw_open(&child);
	uint64_t from = clock_mono_ns();
	bool reset;
	size_t n;

	raw_send(fd, REQ("GET /reset", ""), strlen(REQ("GET /reset", "")));
	free(raw_read(fd, NULL, &n, &reset));
	assert_int_equal(n, 0);
	assert_true(reset);
	close(fd);

	fd = raw_open(&child);
	raw_send(fd, REQ("GET /delay/60/health", ""), strlen(REQ("GET /delay/60/health", "")));
	free(raw_read(fd, "ok\n", &n, NULL));
	assert_true(n > 0);
	assert_in_range(clock_mono_ns() - from, 60 * NS_PER_MS, 10 * NS_PER_S);
	close(fd);
}

static void test_continue(void **state)
{
	static const char head[] =
		REQ("POST /echo", "Expect: 100-continue\r\nContent-Length: 2\r\n");
	int fd = raw_open(&child);
	size_t n;
	char *text;

	raw_send(fd, head, strlen(head));
	text = raw_read(fd, "\r\n\r\n", &n, NULL);
	assert_string_equal(text, "HTTP/1.1 100 Continue\r\n\r\n");
	free(text);
	raw_send(fd, "ab", 2);
	text = raw_read(fd, "\r\n\r\nab", &n, NULL);
	assert_memory_equal(text, "HTTP/1.1 200 OK\r\n", 17);
	free(text);
	close(fd);
}

/* The driver checks every byte of every answer. */
static void test_by_driver(void **state)
{
	static const struct load_header none_match = {"If-None-Match", "\"bytes-700\""};
	static const struct load_header range = {"Range", "bytes=1048570-1048585"};
	static const struct load_header content_range = {
		"Content-Range", "bytes 1048570-1048585/2000000"};
	size_t n = 2000000;
	char *body = malloc(n);
	struct load_request mix[] = {
		{"GET", "/bytes/5120", 5, .expect_body = body, .expect_body_n = 5120,
			.expect_bytes = -1},
		{"GET", "/chunked/100000", 2, .expect_body = body, .expect_body_n = 100000,
			.expect_bytes = -1},
		{"HEAD", "/bytes/99", 1, .expect_bytes = 99},
		{"GET", "/bytes/700", 1, &none_match, 1, .expect_status = 304, .expect_bytes = 0},
		{"GET", "/bytes/2000000", 1, &range, 1, .expect_status = 206,
			.expect_body = body + 1048570, .expect_body_n = 16, .expect_bytes = -1,
			.expect_headers = &content_range, .n_expect_headers = 1},
		{"GET", "/bytes/2000000", 1, .expect_body = body, .expect_body_n = n,
			.expect_bytes = -1},
		{"POST", "/echo", 2, .body = body, .body_n = 300000, .expect_body = body,
			.expect_body_n = 300000, .expect_bytes = -1},
		{"GET", "/delay/1/status/404", 1, .expect_status = 404, .expect_bytes = 11},
	};
	struct load_plan p = {.host = "127.0.0.1",
		.port = child.port,
		.connections = 16,
		.requests = 420,
		.reuse = 50,
		.mix = mix,
		.n_mix = 8,
		.seed = 5,
		.timeout_ns = 60 * NS_PER_S};
	struct error err = ERROR_INIT;
	struct load_result r;

	origin_pattern(0, body, n);
	assert_int_equal(load_run(&p, &r, &err), 0);
	if (r.problem)
		fail_msg("%s", r.problem);
	if (r.timed_out)
		fail_msg("%s", r.sockets);
	assert_int_equal(r.done, 420);
	assert_int_equal(r.by_class[0], 150);
	assert_int_equal(r.by_class[6], 60);
	load_result_release(&r);
	free(body);
}

static void test_stop(void **state)
{
	struct child c;
	int idle, busy;
	size_t n;
	char *text;

	child_start(&c);
	idle = raw_open(&c);
	busy = raw_open(&c);
	raw_send(busy, REQ("GET /delay/200/health", ""), strlen(REQ("GET /delay/200/health", "")));
	usleep(50000);
	kill(c.pid, SIGTERM);
	/* The answer under way still comes, whole. */
	text = raw_read(busy, NULL, &n, NULL);
	assert_non_null(strstr(text, "\r\n\r\nok\n"));
	free(text);
	free(raw_read(idle, NULL, &n, NULL));
	assert_int_equal(n, 0);
	close(idle);
	close(busy);
	assert_int_equal(child_stop(&c), 0);
}

static void test_bad_options(void **state)
{
	struct origin_options o = {.host = "127.0.0.1",
		.ports = {child.port, ORIGIN_NO_PORT, ORIGIN_NO_PORT},
		.ready_fd = -1};
	struct error err = ERROR_INIT;

	assert_int_equal(origin_serve(&o, &err), -1);
	assert_int_equal(err.code, ERR_ENVIRONMENT);
	assert_non_null(strstr(err.msg, "Address already in use"));
	o.host = "192.0.2.1";
	assert_int_equal(origin_serve(&o, &err), -1);
	assert_int_equal(err.code, ERR_USAGE);
	error_release(&err);
}

int main(void)
{
	struct CMUnitTest all[64] = {
		cmocka_unit_test(test_pattern),
		cmocka_unit_test(test_routes),
		cmocka_unit_test(test_exact_answers),
		cmocka_unit_test(test_reset_and_delay),
		cmocka_unit_test(test_continue),
		cmocka_unit_test(test_by_driver),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_bad_options),
	};
	size_t n = 8;
	int rc;

	for (size_t i = 0; i < n_hostile_tests; i++)
		all[n++] = hostile_tests[i];
	for (size_t i = 0; i < n_wrong_tests; i++)
		all[n++] = wrong_tests[i];
	for (size_t i = 0; i < n_h2_tests; i++)
		all[n++] = h2_tests[i];
	for (size_t i = 0; i < n_socket_tests; i++)
		all[n++] = socket_tests[i];
	child_start(&child);
	rc = _cmocka_run_group_tests("origin", all, n, NULL, NULL);
	/* The same process has served all of it, and ends well. */
	if (child_stop(&child) != 0) {
		fprintf(stderr, "the origin did not end with exit code 0\n");
		return 1;
	}
	return rc;
}
