/* Streams of events: right ones, wrong ones, and some that do not end. */
#include "script.h"

#include <stdio.h>

#include <openssl/ssl.h>

#include "base/clock.h"
#include "h2script.h"

static const struct load_request three_events = {
	.method = "GET", .path = "/x", .expect_bytes = -1, .events = {.count = 3}};
static const struct load_request just_three = {
	.method = "GET", .path = "/x", .expect_bytes = -1, .events = {.count = 3, .end = true}};

#define STREAM "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
#define EVENT "data: x\n\n"

static void fixed(void *ctx, const struct script_request *q, struct script_reply *r)
{
	*r = *(const struct script_reply *)ctx;
}

static void test_events(void **state)
{
	static const struct {
		const struct load_request *q;
		const char *reply, *problem;
	} t[] = {
		{&three_events, STREAM "\r\n" EVENT EVENT EVENT, NULL},
		{&three_events, STREAM "\r\n" EVENT EVENT EVENT "data: y", NULL},
		{&just_three, STREAM "\r\n" EVENT EVENT EVENT, NULL},
		{&just_three, STREAM "\r\n" EVENT EVENT EVENT ": the end\n\n", NULL},
		{&just_three, STREAM "Content-Length: 27\r\n\r\n" EVENT EVENT EVENT, NULL},
		{&just_three,
			STREAM "Transfer-Encoding: chunked\r\n\r\n"
			       "9\r\n" EVENT "\r\n9\r\n" EVENT "\r\n9\r\n" EVENT "\r\n0\r\n\r\n",
			NULL},
		/* Line ends of all kinds, a byte order mark, and what is no event. */
		{&just_three,
			STREAM "\r\n\xef\xbb\xbf"
			       "data: x\r\n\r\n"
			       "data\r\r"
			       "id: 1\ndata:\n\n"
			       ": comment\n\n"
			       "id: 2\n\n"
			       "retry: 5\n\n"
			       "datax: 1\n\n"
			       "dat: 1\n\n"
			       "\n\n\r\n\r\r",
			NULL},
		{&just_three,
			STREAM "\r\n"
			       "data: x\ndata: y\r\ndata: z\r\r\n" EVENT EVENT,
			NULL},
		{&just_three,
			"HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream "
			";charset=utf-8\r\n\r\n" EVENT EVENT EVENT,
			NULL},
		{&just_three, STREAM "\r\n" EVENT EVENT,
			"expected 3 events, the answer ended after 2"},
		{&three_events, STREAM "\r\n" EVENT EVENT,
			"expected 3 events, the answer ended after 2"},
		{&just_three, STREAM "\r\n" EVENT EVENT "data: x\n",
			"expected 3 events, the answer ended after 2 and the beginning of one "
			"more"},
		{&just_three, STREAM "\r\n" EVENT EVENT EVENT EVENT,
			"expected 3 events, got at least 4"},
		{&three_events, STREAM "Content-Length: 30\r\n\r\n" EVENT EVENT,
			"expected a body of 30 bytes, got 18: the server closed the connection"},
		{&three_events, "HTTP/1.1 200 OK\r\nContent-Type: text/event-streams\r\n\r\n" EVENT,
			"expected the Content-Type text/event-stream, got \"text/event-streams\""},
		{&three_events, "HTTP/1.1 200 OK\r\n\r\n" EVENT,
			"expected the Content-Type text/event-stream, got none"},
		{&three_events, STREAM "Content-Encoding: gzip\r\n\r\n" EVENT,
			"events can be counted in plain text alone, got the Content-Encoding "
			"\"gzip\""},
		{&three_events, "HTTP/1.1 204 No Content\r\n\r\n", "expected status 200, got 204"},
	};
	SSL_CTX *tls = wire_context(TLS_ALPN_BOTH, true, 0);

	for (size_t i = 0; i < 4 * sizeof(t) / sizeof(t[0]); i++) {
		struct script_reply x = {.after = AFTER_CLOSE, .bytewise = i & 2};
		struct load_plan p = script_plan(t[i / 4].q, 1);
		struct load_result r;

		reply_text(&x, "%s", t[i / 4].reply);
		script_load(&p, fixed, &x, i & 1 ? tls : NULL, &r);
		script_problem(t[i / 4].reply, &r, t[i / 4].problem);
		load_result_release(&r);
	}
	SSL_CTX_free(tls);
}

/* A stream without end, again and again: the driver goes, and comes back on another connection. */
static void test_endless_events(void **state)
{
	SSL_CTX *tls = wire_context(TLS_ALPN_BOTH, true, 0);

	for (int i = 0; i < 2; i++) {
		struct script_reply x = {.times = 1000000, .after = AFTER_CLOSE};
		struct load_plan p = script_plan(&three_events, 20);
		long before = memory_reset();
		struct load_result r;

		p.connections = 4;
		reply_text(&x, STREAM "\r\n");
		x.again = x.n;
		while (x.n + sizeof(EVENT) < sizeof(x.bytes))
			reply_text(&x, EVENT);
		script_load(&p, fixed, &x, i ? tls : NULL, &r);
		script_problem("endless", &r, NULL);
		assert_int_equal(r.done, 20);
		assert_int_equal(r.connects, 20);
		/* A sanitizer keeps what the connections had; the server would send 8 GB. */
		assert_true(memory_grown(before) < 64 << 10);
		load_result_release(&r);
	}
	SSL_CTX_free(tls);
}

/* An event of one line without end. */
static void test_endless_event(void **state)
{
	struct script_reply x = {.times = 3000, .after = AFTER_CLOSE};
	struct load_plan p = script_plan(&three_events, 1);
	long before = memory_reset();
	struct load_result r;

	reply_text(&x, STREAM "\r\ndata: ");
	x.again = x.n;
	while (x.n + 8 < sizeof(x.bytes))
		reply_text(&x, "yyyyyy");
	script_load(&p, fixed, &x, NULL, &r);
	script_problem("endless event", &r,
		"expected 3 events, the answer ended after 0 and the beginning of one more");
	assert_true(memory_grown(before) < 8 << 10);
	load_result_release(&r);
}

/* Over HTTP/2 the stream alone ends: the connection goes on. */
static void h2_events(void *ctx, const struct h2_request *q, struct h2_reply *r)
{
	static const char head[] = "\x88\x0f\x10\x11text/event-stream";
	int n = *(const int *)ctx;

	h2_frame(r, H2_HEADERS, H2_END_HEADERS, q->stream, head, sizeof(head) - 1);
	for (int i = 0; i < n; i++)
		h2_frame(r, H2_DATA, i == 2 && n == 3 ? H2_END_STREAM : 0, q->stream, EVENT, 9);
	if (n < 3)
		h2_frame(r, H2_DATA, H2_END_STREAM, q->stream, "", 0);
}

static void test_h2_events(void **state)
{
	static const struct {
		const struct load_request *q;
		int events;
		const char *problem;
	} t[] = {{&three_events, 3, NULL}, {&three_events, 100, NULL}, {&just_three, 3, NULL},
		{&just_three, 2, "expected 3 events, the answer ended after 2"},
		{&three_events, 2, "expected 3 events, the answer ended after 2"},
		{&just_three, 4, "expected 3 events, got at least 4"}};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct load_plan p = script_plan(t[i].q, t[i].problem ? 1 : 40);
		struct error err = ERROR_INIT;
		int events = t[i].events;
		struct h2script *s = h2script_start(h2_events, &events, NULL, &p.port);
		struct load_result r;

		p.protocol = LOAD_H2;
		p.streams = 4;
		if (load_run(&p, &r, &err) < 0)
			fail_msg("%s", err.msg);
		h2script_stop(s);
		script_problem("h2", &r, t[i].problem);
		assert_int_equal(r.connects, 1);
		if (!t[i].problem)
			assert_int_equal(r.done, 40);
		load_result_release(&r);
	}
}

const struct CMUnitTest event_tests[] = {
	cmocka_unit_test(test_events),
	cmocka_unit_test(test_endless_events),
	cmocka_unit_test(test_endless_event),
	cmocka_unit_test(test_h2_events),
};
const size_t n_event_tests = sizeof(event_tests) / sizeof(event_tests[0]);
