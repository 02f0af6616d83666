/* Clients that mean harm, or die. Afterwards the origin must serve as before. */
#include "child.h"

#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

static const char health[] = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";

static void still_well(void)
{
	size_t n;
	char *text = raw_ask(&child, health, &n);

	assert_non_null(strstr(text, "\r\n\r\nok\n"));
	free(text);
}

/* What is refused is answered with this status, and the connection ends. */
static void refused(const char *request, size_t n, const char *status)
{
	int fd = raw_open(&child);
	size_t got;
	char *text;

	raw_send(fd, request, n);
	text = raw_read(fd, NULL, &got, NULL);
	if (strncmp(text, "HTTP/1.1 ", 9) != 0 || strncmp(text + 9, status, 3) != 0)
		fail_msg("to %s: got %s", request, text);
	assert_non_null(strstr(text, "\r\nConnection: close\r\n"));
	assert_null(strstr(text + 9, "HTTP/1.1"));
	free(text);
	close(fd);
}

static void test_smuggling(void **state)
{
	/* Behind each stands a request that must not be seen. */
	static const char *const t[][2] = {
		{"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n"
		 "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /health HTTP/1.1\r\nHost: "
		 "x\r\n\r\n",
			"400"},
		{"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 33\r\n\r\n"
		 "GET /health HTTP/1.1\r\nHost: x\r\n\r\n",
			"400"},
		{"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n"
		 "GET /health HTTP/1.1\r\nHost: x\r\n\r\n",
			"400"},
		{"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
		 "0\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n",
			"400"},
		{"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, "
		 "identity\r\n\r\n0\r\n\r\n",
			"501"},
		{"GET /health HTTP/1.1\nHost: x\n\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
		{"GET /health HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n"
		 "GET /health HTTP/1.1\r\nHost: x\r\n\r\n",
			"400"},
		{"\x16\x03\x01\x02\x00\x01\n", "400"},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++)
		refused(t[i][0], strlen(t[i][0]) + (t[i][0][0] == 0x16 ? 3 : 0), t[i][1]);
	still_well();
}

static void test_too_large(void **state)
{
	static const char chunked[] = "POST /status/200 HTTP/1.1\r\nHost: x\r\n"
				      "Transfer-Encoding: chunked\r\n\r\nfffffff\r\n";
	size_t n = 100000;
	char *s = malloc(n);

	memset(s, 'a', n);
	memcpy(s, "GET /", 5);
	refused(s, n, "431");
	n = (size_t)snprintf(
		s, n, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 16777217\r\n\r\n");
	refused(s, n, "413");
	free(s);

	/* In chunks it is noticed only on the way. */
	n = 17 << 20;
	s = malloc(n);
	memset(s, 'b', n);
	memcpy(s, chunked, strlen(chunked));
	refused(s, n, "413");
	free(s);
	still_well();
}

static void test_pipelined(void **state)
{
	size_t count = 3000, n = 0, got, one = strlen(health), seen = 0;
	char *s = malloc(count * one + 200), *text;
	int fd = raw_open(&child);

	for (size_t i = 0; i < count; i++, n += one)
		memcpy(s + n, health, one);
	n += (size_t)snprintf(s + n, 200,
		"GET /status/418 HTTP/1.1\r\nHost: x\r\n"
		"Connection: close\r\n\r\n");
	raw_send(fd, s, n);
	text = raw_read(fd, NULL, &got, NULL);
	for (char *p = text; (p = strstr(p, "\r\n\r\nok\n")); p++)
		seen++;
	assert_int_equal(seen, count);
	assert_non_null(strstr(text, "status 418\n"));
	free(text);
	free(s);
	close(fd);
}

static void test_bytewise(void **state)
{
	static const char text[] =
		"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
		"3\r\nabc\r\n2;x\r\nde\r\n0\r\nA: b\r\n\r\n"
		"GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
	int fd = raw_open(&child);
	size_t n;
	char *got;

	for (size_t i = 0; i < sizeof(text) - 1; i++) {
		raw_send(fd, text + i, 1);
		usleep(200);
	}
	got = raw_read(fd, "ok\n", &n, NULL);
	assert_non_null(strstr(got, "\r\n\r\nabcdeHTTP/1.1 200 OK\r\n"));
	free(got);
	close(fd);
}

/* Asks for much, reads nothing, goes away. */
static void test_leaving(void **state)
{
	static const char big[] = "GET /bytes/1000000000 HTTP/1.1\r\nHost: x\r\n\r\n";
	static const char *const starts[] = {big, "", "GET", "POST /echo HTTP/1.1\r\nHost: x\r\n",
		"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc",
		"GET /delay/30/health HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /slow/1000 HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /chunked/1000000000 HTTP/1.1\r\nHost: x\r\n\r\n"};

	for (int round = 0; round < 10; round++) {
		int fds[8];

		for (int i = 0; i < 8; i++) {
			fds[i] = raw_open(&child);
			raw_send(fds[i], starts[i], strlen(starts[i]));
		}
		if (round % 2)
			usleep(20000);
		still_well();
		for (int i = 0; i < 8; i++) {
			struct linger now = {.l_onoff = 1, .l_linger = round % 3 ? 0 : 1};

			setsockopt(fds[i], SOL_SOCKET, SO_LINGER, &now, sizeof(now));
			close(fds[i]);
		}
	}
	still_well();
}

static void test_many(void **state)
{
	enum { N = 800 };
	int fds[N];

	for (int i = 0; i < N; i++) {
		fds[i] = raw_open(&child);
		raw_send(fds[i], health, strlen(health));
	}
	for (int i = 0; i < N; i++) {
		size_t n;
		char *text = raw_read(fds[i], "ok\n", &n, NULL);

		assert_non_null(strstr(text, "ok\n"));
		free(text);
		close(fds[i]);
	}
}

static void test_noise(void **state)
{
	static const char seed_text[] =
		"POST /delay/1/echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
		"3\r\nabc\r\n0\r\n\r\nGET /bytes/30 HTTP/1.1\r\nHost: x\r\nRange: "
		"bytes=1-2\r\n\r\n";
	uint32_t rng = 7;

	for (int i = 0; i < 500; i++) {
		char s[sizeof(seed_text)];
		int fd = raw_open(&child);

		memcpy(s, seed_text, sizeof(s));
		for (int k = 0; k < 1 + i % 4; k++) {
			rng = rng * 1664525u + 1013904223u;
			s[(rng >> 8) % (sizeof(s) - 1)] = (char)(rng >> 24);
		}
		raw_send(fd, s, sizeof(s) - 1);
		close(fd);
	}
	still_well();
}

const struct CMUnitTest hostile_tests[] = {
	cmocka_unit_test(test_smuggling),
	cmocka_unit_test(test_too_large),
	cmocka_unit_test(test_pipelined),
	cmocka_unit_test(test_bytewise),
	cmocka_unit_test(test_leaving),
	cmocka_unit_test(test_many),
	cmocka_unit_test(test_noise),
};
const size_t n_hostile_tests = sizeof(hostile_tests) / sizeof(hostile_tests[0]);
