/* WebSockets: right ones, every kind of wrong one, and servers that mean harm, in clear and over
 * TLS.
 */
#include "echo.h"

#include <stdio.h>

#include <openssl/ssl.h>

#include "base/clock.h"
#include "http/websocket.h"

#define BYTES(s) s, sizeof(s) - 1
/* What the driver sends with seed 0 and messages of five letters. */
#define FIRST                                                                                      \
	"\x81\x05"                                                                                 \
	"ayyun"
#define SECOND                                                                                     \
	"\x81\x05"                                                                                 \
	"yyunu"
#define CLOSE "\x88\x02\x03\xe8"

static const struct load_request two_messages = {.method = "GET",
	.path = "/x",
	.expect_status = 101,
	.expect_bytes = -1,
	.websocket = {.messages = 2, .size = 5}};
static const struct load_request three_events = {
	.method = "GET", .path = "/x", .expect_bytes = -1, .events = {.count = 3}};

/* ---- Right, or almost ----------------------------------------------------------------------- */

static void run_echo(struct load_plan *p, enum echo_fault fault, SSL_CTX *tls,
	struct load_result *r, uint64_t n[2])
{
	struct error err = ERROR_INIT;
	struct echo *e = echo_start(fault, tls, &p->port);

	p->protocol = tls ? LOAD_H1_TLS : LOAD_H1;
	if (load_run(p, r, &err) < 0)
		fail_msg("%s", err.msg);
	echo_stop(e, n);
}

/* All lengths, as one frame and as several, text and binary. */
static void test_right(void **state)
{
	static const size_t sizes[] = {0, 1, 125, 126, 65535, 65536, 300000};
	SSL_CTX *tls = wire_context(TLS_ALPN_BOTH, true, 0);

	for (size_t i = 0; i < 4 * sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct load_request q = two_messages;
		struct load_plan p = script_plan(&q, 3);
		struct load_result r;
		uint64_t n[2];

		q.websocket.size = sizes[i / 4];
		q.websocket.binary = i & 1;
		q.websocket.frame = i & 1 ? 1000 : 0;
		run_echo(&p, ECHO_RIGHT, i & 2 ? tls : NULL, &r, n);
		script_problem("right", &r, NULL);
		assert_int_equal(r.done, 3);
		assert_int_equal(r.by_class[0], 3);
		assert_int_equal(r.connects, 3);
		assert_int_equal(r.resumed, i & 2 ? 2 : 0);
		assert_int_equal(n[0], 6);
		load_result_release(&r);
	}
	SSL_CTX_free(tls);
}

static void test_ends(void **state)
{
	static const struct {
		enum echo_fault fault;
		const char *problem;
	} t[] = {
		{ECHO_FRAGMENTS, NULL},
		{ECHO_EMPTY_CLOSE, NULL},
		{ECHO_RESET, NULL},
		{ECHO_NO_CLOSE,
			"after message 2 of 2: expected a Close frame, got none: the server closed "
			"the connection"},
		{ECHO_STATUS,
			"after message 2 of 2: expected a Close frame with status 1000, got status "
			"1011"},
		{ECHO_MORE, "after message 2 of 2: expected a Close frame, got one more message"},
		{ECHO_AFTER_CLOSE,
			"after message 2 of 2: expected WebSocket frames, but something follows a "
			"Close frame"},
	};
	SSL_CTX *tls = wire_context(TLS_ALPN_BOTH, true, 0);

	for (size_t i = 0; i < 2 * sizeof(t) / sizeof(t[0]); i++) {
		struct load_plan p = script_plan(&two_messages, 1);
		struct load_result r;
		uint64_t n[2];

		run_echo(&p, t[i / 2].fault, i % 2 ? tls : NULL, &r, n);
		script_problem("end", &r, t[i / 2].problem);
		assert_int_equal(n[0], 2);
		if (t[i / 2].fault == ECHO_FRAGMENTS) /* the last of three that came at once */
			assert_in_range(n[1], 1, 6);
		load_result_release(&r);
	}
	SSL_CTX_free(tls);
}

static void test_never_ends(void **state)
{
	struct load_plan p = script_plan(&two_messages, 1);
	struct load_result r;
	uint64_t n[2];

	p.timeout_ns = NS_PER_S; /* long enough to come so far */
	run_echo(&p, ECHO_STAYS, NULL, &r, n);
	assert_true(r.timed_out);
	assert_non_null(strstr(r.sockets,
		"closing the WebSocket after 2 messages, the server did not end the connection of "
		"GET /x"));
	load_result_release(&r);
}

/* ---- Scripted ------------------------------------------------------------------------------- */

struct session {
	const char *fields; /* of the 101; NULL: right ones */
	const char *p;      /* frames, without a look at what the driver sends */
	size_t n;
	enum after after;
	size_t times; /* the frames come so many times more */
	bool bytewise;
};

static void accept_of(const char *head, char accept[WEBSOCKET_ACCEPT])
{
	const char *key = strstr(head, "\r\nSec-WebSocket-Key: ");

	assert_non_null(key);
	assert_non_null(strstr(head, "\r\nUpgrade: websocket\r\n"));
	assert_non_null(strstr(head, "\r\nConnection: Upgrade\r\n"));
	assert_non_null(strstr(head, "\r\nSec-WebSocket-Version: 13\r\n"));
	key += 21;
	websocket_accept(key, strcspn(key, "\r"), accept);
}

static void session(void *ctx, const struct script_request *q, struct script_reply *r)
{
	const struct session *s = ctx;
	char accept[WEBSOCKET_ACCEPT];

	accept_of(q->head, accept);
	reply_text(r, "HTTP/1.1 101 Switching Protocols\r\n");
	if (s->fields)
		reply_text(r, "%s\r\n", s->fields);
	else
		reply_text(r,
			"upgrade: WebSocket\r\nconnection: keep-alive\r\nconnection: x, upgrade\r\n"
			"sec-websocket-accept: %s\r\n\r\n",
			accept);
	r->bytewise = s->bytewise;
	r->after = s->after;
	r->again = r->n;
	r->times = s->times;
	r->pause_us = 20000;
	memcpy(r->bytes + r->n, s->p, s->n);
	r->n += s->n;
}

static const struct {
	const char *name, *p;
	size_t n;
	enum after after;
	const char *problem;
} wrong[] = {
	{"wrong byte",
		BYTES("\x81\x05"
		      "ayyuM"),
		AFTER_CLOSE,
		"message 1 of 2: its echo differs first at byte 4 of 5: expected 0x6e 'n', "
		"got 0x4d 'M'"},
	{"the first one again", BYTES(FIRST FIRST), AFTER_CLOSE, "message "},
	{"one byte short",
		BYTES("\x81\x04"
		      "ayyu"),
		AFTER_CLOSE, "message 1 of 2: expected an echo of 5 bytes, got one of 4"},
	{"one byte more",
		BYTES("\x81\x06"
		      "ayyunn"),
		AFTER_CLOSE,
		"message 1 of 2: expected an echo of 5 bytes, got a frame of 6 behind 0 of "
		"it"},
	{"one byte more in fragments",
		BYTES("\x01\x05"
		      "ayyun"
		      "\x80\x01n"),
		AFTER_CLOSE,
		"message 1 of 2: expected an echo of 5 bytes, got a frame of 1 behind 5 of "
		"it"},
	{"another type",
		BYTES("\x82\x05"
		      "ayyun"),
		AFTER_CLOSE,
		"message 1 of 2: expected its echo to be a text message, got a binary one"},
	{"closed at once", BYTES(""), AFTER_CLOSE,
		"message 1 of 2: expected an echo of 5 bytes, got 0: the server closed the "
		"connection"},
	{"closed in the middle",
		BYTES("\x81\x05"
		      "ay"),
		AFTER_CLOSE,
		"message 1 of 2: expected an echo of 5 bytes, got 2: the server closed the "
		"connection"},
	{"a Close for an answer",
		BYTES("\x88\x06\x03\xf3"
		      "full"),
		AFTER_CLOSE,
		"message 1 of 2: expected an echo, got a Close frame with status 1011 "
		"\"full\""},
	{"a Close without status", BYTES("\x88\x00"), AFTER_CLOSE,
		"message 1 of 2: expected an echo, got a Close frame with no status"},
	{"masked",
		BYTES("\x81\x85\x01\x02\x03\x04"
		      "ayyun"),
		AFTER_CLOSE,
		"message 1 of 2: expected WebSocket frames, but a frame is masked, as "
		"those of clients alone are"},
	{"compressed",
		BYTES("\xc1\x05"
		      "ayyun"),
		AFTER_CLOSE,
		"message 1 of 2: expected WebSocket frames, but a frame has a reserved bit "
		"set"},
	{"HTTP again", BYTES("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), AFTER_CLOSE,
		"message 1 of 2: expected WebSocket frames, but a frame's header is malformed"},
	{"2^63 bytes",
		BYTES("\x81\x7f\x80\x00\x00\x00\x00\x00\x00\x00"
		      "ayyun"),
		AFTER_HANG,
		"message 1 of 2: expected WebSocket frames, but a frame's header is "
		"malformed"},
	{"2^62 bytes",
		BYTES("\x81\x7f\x40\x00\x00\x00\x00\x00\x00\x00"
		      "ayyun"),
		AFTER_HANG,
		"message 1 of 2: expected an echo of 5 bytes, got a frame of "
		"4611686018427387904 behind 0 of it"},
	{"a large ping",
		BYTES("\x89\x7e\x00\x7e"
		      "ayyun"),
		AFTER_HANG,
		"message 1 of 2: expected WebSocket frames, but a frame's header is "
		"malformed"},
	{"a ping in fragments", BYTES("\x09\x00"), AFTER_HANG,
		"message 1 of 2: expected WebSocket frames, but a frame's header is "
		"malformed"},
	{"bytes behind a Close", BYTES(CLOSE "\x81\x00"), AFTER_HANG,
		"message 1 of 2: expected an echo, got a Close frame with status 1000"},
};

static void test_wrong_sessions(void **state)
{
	SSL_CTX *tls = wire_context(TLS_ALPN_BOTH, true, 0);

	for (size_t i = 0; i < 2 * sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct session s = {
			.p = wrong[i / 2].p, .n = wrong[i / 2].n, .after = wrong[i / 2].after};
		struct load_plan p = script_plan(&two_messages, 1);
		struct load_result r;

		script_load(&p, session, &s, i % 2 ? tls : NULL, &r);
		script_problem(wrong[i / 2].name, &r, wrong[i / 2].problem);
		load_result_release(&r);
	}
	SSL_CTX_free(tls);
}

static void test_resets_and_alerts(void **state)
{
	SSL_CTX *tls = wire_context(TLS_ALPN_BOTH, true, 0);
	struct session s = {.p = "\x81\x05"
				 "ay",
		.n = 4,
		.after = AFTER_RESET};
	struct load_plan p = script_plan(&two_messages, 1);
	struct load_result r;

	script_load(&p, session, &s, NULL, &r);
	assert_non_null(strstr(r.problem, ": Connection reset by peer"));
	load_result_release(&r);
	s.after = AFTER_ALERT;
	script_load(&p, session, &s, tls, &r);
	script_problem("an alert", &r,
		"message 1 of 2: expected an echo of 5 bytes, got 2: the peer sent the TLS alert "
		"bad record mac");
	load_result_release(&r);
	s.after = AFTER_CUT;
	script_load(&p, session, &s, tls, &r);
	script_problem("cut", &r, "message 1 of 2: expected an echo of 5 bytes, got 2: ");
	load_result_release(&r);
	SSL_CTX_free(tls);
}

static void test_handshakes(void **state)
{
	static const struct {
		const char *fields, *problem;
	} t[] = {
		{"Connection: Upgrade\r\nSec-WebSocket-Accept: x\r\n",
			"expected the header 'Upgrade: websocket' with status 101, got none"},
		{"Upgrade: h2c\r\nConnection: Upgrade\r\n",
			"expected the header 'Upgrade: websocket' with status 101, got \"h2c\""},
		{"Upgrade: websocket\r\nConnection: close\r\n",
			"expected the header 'Connection: upgrade' with status 101, got \"close\""},
		{"Upgrade: websocket\r\nConnection: Upgrade\r\n",
			"expected the header 'Sec-WebSocket-Accept: "},
		{"Upgrade: websocket\r\nConnection: Upgrade\r\n"
		 "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n",
			"expected the header 'Sec-WebSocket-Accept: "},
	};
	struct load_plan p = script_plan(&two_messages, 1);
	struct load_result r;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct session s = {.fields = t[i].fields, .p = "", .after = AFTER_CLOSE};

		script_load(&p, session, &s, NULL, &r);
		script_problem(t[i].fields, &r, t[i].problem);
		load_result_release(&r);
	}
}

/* Choices that were not offered, and one that was. */
static void choose(void *ctx, const struct script_request *q, struct script_reply *r)
{
	char accept[WEBSOCKET_ACCEPT];

	accept_of(q->head, accept);
	reply_text(r,
		"HTTP/1.1 101 OK\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
		"Sec-WebSocket-Accept: %s\r\n%s\r\n\r\n",
		accept, (const char *)ctx);
	r->after = AFTER_CLOSE;
}

static void test_choices(void **state)
{
	static const struct load_header offer = {"Sec-WebSocket-Protocol", "chat, talk"};
	static const struct load_header want = {"X-Y", "z"};
	struct load_request q = two_messages;
	struct load_plan p = script_plan(&q, 1);
	struct load_result r;

	script_load(&p, choose, (void *)"Sec-WebSocket-Extensions: permessage-deflate", NULL, &r);
	script_problem("extension", &r,
		"the server chose 'Sec-WebSocket-Extensions' \"permessage-deflate\", which was not "
		"offered");
	load_result_release(&r);
	q.headers = &offer;
	q.n_headers = 1;
	script_load(&p, choose, (void *)"Sec-WebSocket-Protocol: tal", NULL, &r);
	script_problem("protocol", &r,
		"the server chose 'Sec-WebSocket-Protocol' \"tal\", which was not offered");
	load_result_release(&r);
	script_load(&p, choose, (void *)"Sec-WebSocket-Protocol: talk", NULL, &r);
	script_problem("protocol", &r, "message 1 of 2: expected an echo of 5 bytes, got 0");
	load_result_release(&r);
	q.expect_headers = &want;
	q.n_expect_headers = 1;
	script_load(&p, choose, (void *)"X-Y: a", NULL, &r);
	script_problem("header", &r, "expected header 'X-Y' to be \"z\", got \"a\"");
	load_result_release(&r);
}

static void no_upgrade(void *ctx, const struct script_request *q, struct script_reply *r)
{
	reply_text(r, "HTTP/1.1 426 Upgrade Required\r\nContent-Length: 3\r\n\r\nwhy");
}

static void test_no_upgrade(void **state)
{
	struct load_plan p = script_plan(&two_messages, 1);
	struct load_result r;

	script_load(&p, no_upgrade, NULL, NULL, &r);
	script_problem("426", &r, "expected status 101, got 426; its body starts with \"why\"");
	load_result_release(&r);
}

/* Without end, or far too much of it: a failure in words, in bounded memory. */
static void test_hostile_sockets(void **state)
{
	static const struct {
		const char *name, *p;
		size_t n;
		const char *problem;
	} t[] = {
		{"endless pings",
			BYTES("\x89\x7d"
			      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
			      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
			      "aaaaaaa"),
			"message 1 of 2: expected an echo, got more than 100 frames that bring "
			"none "
			"of it"},
		{"endless pongs", BYTES("\x8a\x00"),
			"message 1 of 2: expected an echo, got more than 100 frames that bring "
			"none "
			"of it"},
		{"endless fragments of a byte",
			BYTES("\x01\x01"
			      "a"
			      "\x00\x01"
			      "y"
			      "\x00\x01"
			      "y"),
			"message 1 of 2: "},
		{"endless frames of a message", BYTES("\x00\x00"),
			"message 1 of 2: expected WebSocket frames, but a frame continues a "
			"message, but none has begun"},
		{"endless echoes", BYTES(FIRST), "message "},
		{"endless letters", BYTES("GET / HTTP/1.1\r\n"),
			"message 1 of 2: expected WebSocket frames, but "},
	};
	SSL_CTX *tls = wire_context(TLS_ALPN_BOTH, true, 0);

	for (size_t i = 0; i < 2 * sizeof(t) / sizeof(t[0]); i++) {
		struct session s = {.p = t[i / 2].p, .n = t[i / 2].n, .times = 1000000};
		struct load_plan p = script_plan(&two_messages, 1);
		long before = memory_reset();
		struct load_result r;

		s.after = AFTER_CLOSE;
		script_load(&p, session, &s, i % 2 ? tls : NULL, &r);
		script_problem(t[i / 2].name, &r, t[i / 2].problem);
		load_result_release(&r);
		if (memory_grown(before) > 8 << 10)
			fail_msg("%s took %ld KiB", t[i / 2].name, memory_grown(before));
	}
	SSL_CTX_free(tls);
}

/* A message that begins and goes on with frames of nothing. */
static void empty_fragments(void *ctx, const struct script_request *q, struct script_reply *r)
{
	char accept[WEBSOCKET_ACCEPT];

	accept_of(q->head, accept);
	reply_text(r,
		"HTTP/1.1 101 OK\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
		"Sec-WebSocket-Accept: %s\r\n\r\n",
		accept);
	memcpy(r->bytes + r->n, "\x01\x00\x00\x00", 4);
	r->again = r->n + 2;
	r->n += 4;
	r->times = 1000000;
	r->after = AFTER_CLOSE;
}

static void test_empty_fragments(void **state)
{
	struct load_plan p = script_plan(&two_messages, 1);
	struct load_result r;

	script_load(&p, empty_fragments, NULL, NULL, &r);
	script_problem("empty fragments", &r,
		"message 1 of 2: expected an echo, got more than 100 frames that bring none of it");
	load_result_release(&r);
}

/* The server stops: what the time-out says. */
static void test_stalled_session(void **state)
{
	struct session s = {.p = "\x81\x05"
				 "ay",
		.n = 4,
		.after = AFTER_HANG};
	struct load_plan p = script_plan(&two_messages, 1);
	struct load_result r;

	p.timeout_ns = NS_PER_S; /* long enough to come so far */
	script_load(&p, session, &s, NULL, &r);
	assert_true(r.timed_out);
	assert_non_null(strstr(r.sockets, "inside the WebSocket, message 1 of 2 (sent 5 of 5 "
					  "bytes, got 2 of its echo) of GET "
					  "/x (request 1)"));
	load_result_release(&r);
}

static void test_bad_requests(void **state)
{
	static const struct load_learned learned = {"Cookie", 0};
	struct load_request mix[2] = {two_messages, three_events};
	struct load_plan p = script_plan(mix, 1);
	struct error err = ERROR_INIT;
	struct load_result r;

	p.port = 1;
	p.protocol = LOAD_H2;
	assert_int_equal(load_run(&p, &r, &err), -1);
	assert_non_null(strstr(err.msg, "a WebSocket is opened over HTTP/1.1"));
	p.protocol = LOAD_H1;
	mix[0].method = "POST";
	assert_int_equal(load_run(&p, &r, &err), -1);
	assert_non_null(strstr(err.msg, "a WebSocket is opened by a GET request"));
	mix[0] = two_messages;
	mix[0].expect_status = 0;
	assert_int_equal(load_run(&p, &r, &err), -1);
	assert_non_null(strstr(err.msg, "a WebSocket begins with status 101"));
	mix[0] = three_events;
	mix[0].expect_bytes = 4;
	assert_int_equal(load_run(&p, &r, &err), -1);
	assert_non_null(strstr(err.msg, "a stream of events has one status"));
	mix[0] = two_messages;
	mix[1].learned = &learned;
	mix[1].n_learned = 1;
	p.n_mix = 2;
	assert_int_equal(load_run(&p, &r, &err), -1);
	assert_non_null(strstr(err.msg, "opens no WebSocket"));
	error_release(&err);
}

const struct CMUnitTest websocket_tests[] = {
	cmocka_unit_test(test_right),
	cmocka_unit_test(test_ends),
	cmocka_unit_test(test_never_ends),
	cmocka_unit_test(test_wrong_sessions),
	cmocka_unit_test(test_resets_and_alerts),
	cmocka_unit_test(test_handshakes),
	cmocka_unit_test(test_choices),
	cmocka_unit_test(test_no_upgrade),
	cmocka_unit_test(test_hostile_sockets),
	cmocka_unit_test(test_empty_fragments),
	cmocka_unit_test(test_stalled_session),
	cmocka_unit_test(test_bad_requests),
};
const size_t n_websocket_tests = sizeof(websocket_tests) / sizeof(websocket_tests[0]);
