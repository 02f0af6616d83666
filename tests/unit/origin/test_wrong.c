/* Answers that are wrong on demand, to the byte, over HTTP/1.1. */
#include "child.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAD(length, more)                                                                         \
	"HTTP/1.1 200 OK\r\nServer: whet-origin\r\n"                                               \
	"Content-Type: application/octet-stream\r\nETag: \"bytes-20\"\r\n"                         \
	"Accept-Ranges: bytes\r\nContent-Length: " length "\r\n" more "\r\n"
#define BODY "000000000000000\n0000"

/* The answers to one path, asked n times by one connection each; the caller frees. */
static char *ask(const char *path, const char *version, bool *reset)
{
	char request[200];
	int fd = raw_open(&child), k;
	size_t n;
	char *text;

	k = snprintf(request, sizeof(request),
		"GET %s HTTP/1.%s\r\nHost: x\r\nConnection: close\r\n\r\n", path, version);
	raw_send(fd, request, (size_t)k);
	text = raw_read(fd, NULL, &n, reset);
	close(fd);
	return text;
}

static void test_kinds(void **state)
{
	static const struct {
		const char *path, *answer;
		bool reset;
	} t[] = {
		{"/wrong/status/1/bytes/20",
			"HTTP/1.1 500 Internal Server Error\r\nServer: whet-origin\r\n"
			"Content-Type: application/octet-stream\r\nETag: \"bytes-20\"\r\n"
			"Accept-Ranges: bytes\r\nContent-Length: 20\r\nConnection: "
			"close\r\n\r\n" BODY,
			false},
		{"/wrong/short/1/bytes/20",
			HEAD("19", "Connection: close\r\n") "000000000000000\n000", false},
		{"/wrong/cut/1/bytes/20",
			HEAD("20", "Connection: close\r\n") "000000000000000\n000", false},
		{"/wrong/byte/1/bytes/20",
			HEAD("20", "Connection: close\r\n") "000000000010000\n0000", false},
		{"/wrong/header/1/header/A/b/bytes/20",
			"HTTP/1.1 200 OK\r\nServer: whet-origin\r\nContent-Length: 20\r\n"
			"Connection: close\r\n\r\n" BODY,
			false},
		{"/wrong/half/1/bytes/20", HEAD("20", "Connection: close\r\n") "0000000000", false},
		{"/wrong/goaway/1/bytes/20", HEAD("20", "Connection: close\r\n") "0000000000",
			false},
		{"/wrong/close/1/bytes/20", "", false},
		{"/wrong/reset/1/bytes/20", "", true},
		{"/header/X-Y/a%20b/bytes/20", HEAD("20", "X-Y: a b\r\nConnection: close\r\n") BODY,
			false},
		{"/wrong/byte/2/bytes/20",
			HEAD("20", "Connection: close\r\n") "000000000010000\n0000",
			false}, /* the second of its kind */
		{"/wrong/cut/1/chunked/5",
			"HTTP/1.1 200 OK\r\nServer: whet-origin\r\n"
			"Content-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n"
			"Connection: close\r\n\r\n4\r\n0000\r\n",
			false},
		{"/header/Content-Type/text%2Fcss/chunked/3",
			"HTTP/1.1 200 OK\r\nServer: whet-origin\r\nTransfer-Encoding: chunked\r\n"
			"Content-Type: text/css\r\nConnection: close\r\n\r\n3\r\n000\r\n0\r\n\r\n",
			false},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		bool reset;
		char *text = ask(t[i].path, "1", &reset);

		if (strcmp(text, t[i].answer) != 0 || reset != t[i].reset)
			fail_msg("%s: got %s%s", t[i].path, text, reset ? " and a reset" : "");
		free(text);
	}
}

/* An alert without TLS is a reset; its half of the body may be lost by it. */
static void test_alert_in_cleartext(void **state)
{
	bool reset;

	free(ask("/wrong/alert/1/bytes/20", "1", &reset));
	assert_true(reset);
}

/* The head and half of the body, then nothing, until the client goes. */
static void test_stall(void **state)
{
	static const char request[] = "GET /wrong/stall/1/bytes/20 HTTP/1.1\r\nHost: x\r\n\r\n";
	int fd = raw_open(&child);
	size_t n;
	char *text;

	raw_send(fd, request, sizeof(request) - 1);
	text = raw_read(fd, NULL, &n, NULL); /* two seconds without a byte */
	assert_string_equal(text, HEAD("20", "") "0000000000");
	free(text);
	close(fd);
}

/* One in three, whatever connection a request comes by; the body is the request's own. */
static void test_every(void **state)
{
	static const char request[] = "POST /wrong/short/3/echo HTTP/1.1\r\nHost: x\r\n"
				      "Content-Length: 6\r\n\r\nabcdef";
	char lengths[10] = "";

	/* Others of the kind may have been there before: three in a row hold one. */
	for (int i = 0; i < 9; i++) {
		int fd = raw_open(&child);
		size_t n;
		char *text;

		raw_send(fd, request, sizeof(request) - 1);
		text = raw_read(fd, "abcde", &n, NULL);
		lengths[i] = strstr(text, "Content-Length: 5\r\n") ? '5' : '6';
		assert_non_null(
			strstr(text, lengths[i] == '5' ? "\r\n\r\nabcde" : "Content-Length: 6"));
		free(text);
		close(fd);
	}
	for (int i = 0; i < 9; i += 3)
		assert_int_equal(
			(lengths[i] == '5') + (lengths[i + 1] == '5') + (lengths[i + 2] == '5'), 1);
}

static void test_keep(void **state)
{
	static const char one[] = "GET /keep/3/health HTTP/1.1\r\nHost: x\r\n\r\n";
	size_t size = sizeof(one) - 1;
	char all[5 * sizeof(one)];
	int fd = raw_open(&child), seen = 0;
	size_t n;
	char *text;

	for (int i = 0; i < 5; i++)
		memcpy(all + (size_t)i * size, one, size);
	raw_send(fd, all, 5 * size);
	text = raw_read(fd, NULL, &n, NULL);
	for (char *p = text; (p = strstr(p, "HTTP/1.1 200 OK")); p++)
		seen++;
	assert_int_equal(seen, 3);
	assert_non_null(strstr(text, "Content-Length: 3\r\nConnection: close\r\n\r\nok\n"));
	assert_string_equal(strstr(text, "Connection: close"), "Connection: close\r\n\r\nok\n");
	free(text);
	close(fd);
}

static int try_port(uint16_t port, bool to_bind)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, r;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	r = to_bind ? bind(fd, (struct sockaddr *)&a, sizeof(a))
		    : connect(fd, (struct sockaddr *)&a, sizeof(a));
	r = r < 0 ? errno : 0;
	close(fd);
	return r;
}

/* Refuses, and cannot be taken by somebody else. */
static void test_dead(void **state)
{
	assert_int_equal(try_port(child.dead, false), ECONNREFUSED);
	assert_int_equal(try_port(child.dead, true), EADDRINUSE);
	assert_int_equal(try_port(child.dead, false), ECONNREFUSED);
}

const struct CMUnitTest wrong_tests[] = {
	cmocka_unit_test(test_kinds),
	cmocka_unit_test(test_alert_in_cleartext),
	cmocka_unit_test(test_stall),
	cmocka_unit_test(test_every),
	cmocka_unit_test(test_keep),
	cmocka_unit_test(test_dead),
};
const size_t n_wrong_tests = sizeof(wrong_tests) / sizeof(wrong_tests[0]);
