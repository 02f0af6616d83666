/* WebSockets and streams of events of the origin: by hand-made frames, and as the driver sees them.
 */
#include "child.h"

#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "load/load.h"

#define ASK(more)                                                                                  \
	"HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"                     \
	"Sec-WebSocket-Version: 13\r\n" more "\r\n"
#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define OPENED                                                                                     \
	"HTTP/1.1 101 Switching Protocols\r\nServer: whet-origin\r\nUpgrade: websocket\r\n"        \
	"Connection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
#define BYTES(s) s, sizeof(s) - 1
#define MASK "\x01\x02\x03\x04"
#define HI "i\x6b"     /* "hi" under it */
#define BYE "\x02\xea" /* 1000 under it */

/* What comes back for the handshake and some frames, sent at once; the caller frees. */
static char *ask(const char *line, const char *frames, size_t n, size_t *got)
{
	int fd = raw_open(&child);
	char *text;

	raw_send(fd, line, strlen(line));
	raw_send(fd, frames, n);
	text = raw_read(fd, NULL, got, NULL);
	close(fd);
	return text;
}

static void test_frames(void **state)
{
	static const struct {
		const char *frames;
		size_t n;
		const char *back;
		size_t back_n;
	} t[] = {
		{BYTES("\x81\x82" MASK HI "\x88\x82" MASK BYE),
			BYTES("\x81\x02hi\x88\x02\x03\xe8")},
		{BYTES("\x02\x82" MASK HI "\x89\x82" MASK HI "\x80\x80" MASK "\x88\x80" MASK),
			BYTES("\x02\x02hi\x8a\x02hi\x80\x00\x88\x00")},
		{BYTES("\x8a\x80" MASK "\x88\x82" MASK BYE), BYTES("\x88\x02\x03\xe8")},
		/* What is not valid: 1002. */
		{BYTES("\x81\x02hi"), BYTES("\x88\x02\x03\xea")},
		{BYTES("\x83\x82" MASK HI), BYTES("\x88\x02\x03\xea")},
		{BYTES("\xc1\x82" MASK HI), BYTES("\x88\x02\x03\xea")},
		{BYTES("\x80\x82" MASK HI), BYTES("\x88\x02\x03\xea")},
		{BYTES("\x89\xfe\x00\x7e" MASK), BYTES("\x88\x02\x03\xea")},
		{BYTES("\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff" MASK), BYTES("\x88\x02\x03\xea")},
		{BYTES("\x81\x82" MASK HI "\x88\x81" MASK "x"),
			BYTES("\x81\x02hi\x88\x02\x03\xea")},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		size_t n, head = strlen(OPENED "\r\n");
		char *text = ask("GET /ws " ASK(KEY), t[i].frames, t[i].n, &n);

		if (n != head + t[i].back_n || memcmp(text, OPENED "\r\n", head) != 0 ||
			memcmp(text + head, t[i].back, t[i].back_n) != 0)
			fail_msg("%zu: got %zu bytes: %s", i, n, text);
		free(text);
	}
}

static void test_handshakes(void **state)
{
	static const char required[] =
		"HTTP/1.1 426 Upgrade Required\r\nServer: whet-origin\r\n"
		"Content-Type: text/plain; charset=utf-8\r\nContent-Length: 75\r\n"
		"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\r\n"
		"426 Upgrade Required: here is a WebSocket, of version 13 and over HTTP/1.1\n";
	static const char *const bad[] = {"GET /ws HTTP/1.1\r\nHost: x\r\n\r\n",
		"HEAD /health HTTP/1.1\r\nHost: x\r\n\r\nPOST /ws " ASK(KEY),
		"GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
		"Sec-WebSocket-Version: 8\r\n" KEY "\r\n",
		"GET /ws HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n"
		"Sec-WebSocket-Version: 13\r\n" KEY "\r\n"};
	size_t n;
	char *text;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		text = raw_ask(&child, bad[i], &n);
		if (!strstr(text, required))
			fail_msg("%s: %s", bad[i], text);
		free(text);
	}
	text = raw_ask(&child, "GET /ws " ASK("Sec-WebSocket-Key: short\r\n"), &n);
	assert_non_null(strstr(text, "HTTP/1.1 400 Bad Request\r\n"));
	free(text);
	text = raw_ask(&child, "GET /wrong/mask/1/health HTTP/1.1\r\nHost: x\r\n\r\n", &n);
	assert_non_null(strstr(text, "only a WebSocket can be wrong in this way"));
	free(text);
	text = ask("GET /header/X-Y/z/ws " ASK(KEY), BYTES("\x88\x80" MASK), &n);
	assert_string_equal(text, OPENED "X-Y: z\r\n\r\n\x88");
	free(text);
}

/* ---- By the driver -------------------------------------------------------------------------- */

static void run_for(uint64_t timeout_ns, const struct load_request *q, size_t n_mix,
	enum load_protocol protocol, uint64_t requests, struct load_result *r)
{
	bool tls = protocol == LOAD_H1_TLS || protocol == LOAD_H2_TLS;
	struct load_plan p = {.host = "127.0.0.1",
		.port = tls ? child.tls : child.port,
		.protocol = protocol,
		.connections = requests == 1 ? 1 : 4,
		.streams = 4,
		.requests = requests,
		.mix = q,
		.n_mix = n_mix,
		.timeout_ns = timeout_ns};
	struct error err = ERROR_INIT;

	if (load_run(&p, r, &err) < 0)
		fail_msg("%s", err.msg);
}

static void run(const struct load_request *q, size_t n_mix, enum load_protocol protocol,
	uint64_t requests, struct load_result *r)
{
	run_for(60 * NS_PER_S, q, n_mix, protocol, requests, r);
}

static struct load_request socket_of(const char *path, uint64_t messages, size_t size)
{
	return (struct load_request){.method = "GET",
		.path = path,
		.weight = 1,
		.expect_status = 101,
		.expect_bytes = -1,
		.websocket = {.messages = messages, .size = size}};
}

/* Among ordinary requests, whose connections they take over. */
static void test_mix(void **state)
{
	struct load_request mix[] = {
		{.method = "GET", .path = "/bytes/100", .weight = 4, .expect_bytes = 100},
		socket_of("/ws", 20, 100),
		socket_of("/ws", 3, 70000),
		socket_of("/delay/5/ws", 1, 0),
		{.method = "GET",
			.path = "/events/5",
			.weight = 1,
			.expect_bytes = -1,
			.events = {.count = 5, .end = true}},
		{.method = "GET",
			.path = "/events/5000",
			.weight = 1,
			.expect_bytes = -1,
			.events = {.count = 100}},
	};

	mix[2].websocket.frame = 1000;
	mix[2].websocket.binary = true;
	for (int i = 0; i < 2; i++) {
		struct load_result r;

		run(mix, 6, i ? LOAD_H1_TLS : LOAD_H1, 180, &r);
		if (r.problem || r.timed_out)
			fail_msg("%s", r.problem ? r.problem : r.sockets);
		assert_int_equal(r.done, 180);
		assert_int_equal(r.by_class[0], 80);
		for (int k = 1; k < 6; k++)
			assert_int_equal(r.by_class[k], 20);
		load_result_release(&r);
	}
}

static void test_large(void **state)
{
	struct load_request q = socket_of("/ws", 2, (size_t)16 << 20);
	struct load_result r;

	run(&q, 1, LOAD_H1, 4, &r);
	if (r.problem || r.timed_out)
		fail_msg("%s", r.problem ? r.problem : r.sockets);
	load_result_release(&r);
}

static void test_h2_events(void **state)
{
	struct load_request mix[] = {
		{.method = "GET", .path = "/bytes/100", .weight = 1, .expect_bytes = 100},
		{.method = "GET",
			.path = "/events/5",
			.weight = 1,
			.expect_bytes = -1,
			.events = {.count = 5, .end = true}},
		{.method = "GET",
			.path = "/events/5000",
			.weight = 1,
			.expect_bytes = -1,
			.events = {.count = 100}},
	};

	for (int i = 0; i < 2; i++) {
		struct load_result r;

		run(mix, 3, i ? LOAD_H2_TLS : LOAD_H2, 300, &r);
		if (r.problem || r.timed_out)
			fail_msg("%s", r.problem ? r.problem : r.sockets);
		assert_int_equal(r.done, 300);
		assert_int_equal(r.connects, 4);
		load_result_release(&r);
	}
}

/* Every kind of wrong answer, in clear and over TLS. */
static void test_wrong(void **state)
{
	static const struct {
		const char *path, *problem; /* NULL: a time-out */
		uint64_t events;
	} t[] = {
		{"/wrong/status/1/ws", "expected status 101, got 500", 0},
		{"/wrong/accept/1/ws", "expected the header 'Sec-WebSocket-Accept: ", 0},
		{"/wrong/header/1/ws", "expected the header 'Sec-WebSocket-Accept: ", 0},
		{"/wrong/mask/1/ws",
			"message 1 of 3: expected WebSocket frames, but a frame is masked, as "
			"those of clients alone are",
			0},
		{"/wrong/byte/1/ws", "message 1 of 3: its echo differs first at byte 500 of 1000",
			0},
		{"/wrong/short/1/ws",
			"message 1 of 3: expected an echo of 1000 bytes, got one of 999", 0},
		{"/wrong/cut/1/ws", "message 1 of 3: expected an echo of 1000 bytes, got 999: ", 0},
		{"/wrong/half/1/ws",
			"message 1 of 3: expected an echo of 1000 bytes, got 500: ", 0},
		{"/wrong/goaway/1/ws",
			"message 1 of 3: expected an echo of 1000 bytes, got 500: ", 0},
		{"/wrong/alert/1/ws", "message 1 of 3: expected an echo of 1000 bytes, got ", 0},
		{"/wrong/stall/1/ws", NULL, 0},
		{"/wrong/reset/1/ws", "expected an answer, got none: Connection reset by peer", 0},
		{"/wrong/close/1/ws", "expected an answer, got none: ", 0},
		{"/bytes/5", "expected status 101, got 200", 0},
		{"/wrong/short/1/events/4",
			"expected 4 events, the answer ended after 3 and the beginning of one more",
			4},
		{"/wrong/header/1/events/4",
			"expected the Content-Type text/event-stream, got none", 4},
		{"/wrong/half/1/events/4", "expected a whole body, got 74 bytes: ", 4},
		{"/events/3", "expected 4 events, the answer ended after 3", 4},
		{"/events/5", "expected 4 events, got at least 5", 4},
		{"/wrong/stall/1/events/4", NULL, 4},
	};

	for (size_t i = 0; i < 2 * sizeof(t) / sizeof(t[0]); i++) {
		struct load_request q = socket_of(t[i / 2].path, 3, 1000);
		const char *problem = t[i / 2].problem;
		struct load_result r;

		if (t[i / 2].events)
			q = (struct load_request){.method = "GET",
				.path = t[i / 2].path,
				.expect_bytes = -1,
				.events = {.count = t[i / 2].events, .end = true}};
		run_for(problem ? 60 * NS_PER_S : 300 * NS_PER_MS, &q, 1,
			i % 2 ? LOAD_H1_TLS : LOAD_H1, 1, &r);
		if (problem ? !r.problem || !strstr(r.problem, problem) : !r.timed_out)
			fail_msg("%s: %s", t[i / 2].path, r.problem ? r.problem : "no problem");
		load_result_release(&r);
	}
}

/* A client that sends and does not read: what waits for it stays small, others are served, and
 * whatever else comes in between is echoed when it reads again. */
static void test_backpressure(void **state)
{
	static const char header[] = "\x82\xff\x00\x00\x00\x00\x04\x00\x00\x00" MASK; /* 64 MiB */
	static char block[65536];
	int fd = raw_open(&child);
	size_t sent = 0, n;
	ssize_t r;
	char *text;

	raw_send(fd, BYTES("GET /ws " ASK(KEY)));
	text = raw_read(fd, "\r\n\r\n", &n, NULL);
	free(text);
	raw_send(fd, header, sizeof(header) - 1);
	for (int quiet = 0; quiet < 20 && sent < (size_t)64 << 20;) {
		r = send(fd, block, sizeof(block), MSG_NOSIGNAL | MSG_DONTWAIT);
		if (r > 0)
			sent += (size_t)r;
		else
			quiet++;
		if (r <= 0)
			usleep(5000);
	}
	assert_true(sent < (size_t)40 << 20); /* the sockets' buffers, no more */
	text = raw_ask(&child, "GET /health HTTP/1.1\r\nHost: x\r\n\r\n", &n);
	assert_non_null(strstr(text, "ok\n"));
	free(text);
	close(fd);
}

/* The origin says good-bye, and ends when the client has answered. */
static void test_stop(void **state)
{
	struct child own;
	size_t n;
	char *text;
	int fd;

	child_start(&own);
	fd = raw_open(&own);
	raw_send(fd, "GET /ws " ASK(KEY), strlen("GET /ws " ASK(KEY)));
	free(raw_read(fd, "\r\n\r\n", &n, NULL));
	kill(own.pid, SIGTERM);
	text = raw_read(fd, "\x88\x02\x03\xe9", &n, NULL);
	assert_int_equal(n, 4);
	assert_string_equal(text, "\x88\x02\x03\xe9");
	free(text);
	raw_send(fd, BYTES("\x88\x82" MASK "\x02\xeb"));
	assert_int_equal(child_stop(&own), 0);
	close(fd);
}

const struct CMUnitTest socket_tests[] = {
	cmocka_unit_test(test_frames),
	cmocka_unit_test(test_handshakes),
	cmocka_unit_test(test_mix),
	cmocka_unit_test(test_large),
	cmocka_unit_test(test_h2_events),
	cmocka_unit_test(test_wrong),
	cmocka_unit_test(test_backpressure),
	cmocka_unit_test(test_stop),
};
const size_t n_socket_tests = sizeof(socket_tests) / sizeof(socket_tests[0]);
