#include "origin/route.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "http/chars.h"
#include "origin/origin.h"

#define HEADER_MAX 1024 /* bytes of a name or value in a path */

/* A word with its length, by which most comparisons are done. */
#define WORD(w) {w, sizeof(w) - 1}

static const struct {
	struct text word;
	enum route_kind kind;
	bool number;
	uint64_t min, max;
} words[] = {
	{WORD("health"), ROUTE_HEALTH, false, 0, 0},
	{WORD("bytes"), ROUTE_BYTES, true, 0, ROUTE_BYTES_MAX},
	{WORD("chunked"), ROUTE_CHUNKED, true, 0, ROUTE_BYTES_MAX},
	{WORD("echo"), ROUTE_ECHO, false, 0, 0},
	{WORD("status"), ROUTE_STATUS, true, 200, 599},
	{WORD("reset"), ROUTE_RESET, false, 0, 0},
	{WORD("close"), ROUTE_CLOSE, false, 0, 0},
	{WORD("half"), ROUTE_HALF, true, 1, ROUTE_BYTES_MAX},
	{WORD("slow"), ROUTE_SLOW, true, 0, ROUTE_SLOW_MAX},
	{WORD("events"), ROUTE_EVENTS, true, 0, ROUTE_EVENTS_MAX},
	{WORD("ws"), ROUTE_SOCKET, false, 0, 0},
};

static const char *const faults[FAULTS] = {
	[FAULT_STATUS] = "status",
	[FAULT_SHORT] = "short",
	[FAULT_CUT] = "cut",
	[FAULT_BYTE] = "byte",
	[FAULT_HEADER] = "header",
	[FAULT_HALF] = "half",
	[FAULT_STALL] = "stall",
	[FAULT_RESET] = "reset",
	[FAULT_CLOSE] = "close",
	[FAULT_GOAWAY] = "goaway",
	[FAULT_ALERT] = "alert",
	[FAULT_ACCEPT] = "accept",
	[FAULT_MASK] = "mask",
};

const char *const origin_paths[][2] = {
	{"/health", "200, 'ok' and a newline"},
	{"/bytes/N", "N bytes of the pattern, with ETag; conditional requests and ranges"},
	{"/chunked/N", "the same bytes without a length"},
	{"/echo", "the request's body and Content-Type"},
	{"/status/N", "status N (200 to 599) and a short text"},
	{"/half/N", "promises N bytes, sends half of them, ends"},
	{"/slow/N", "N bytes, one every 10 ms"},
	{"/events/N", "N server-sent events"},
	{"/ws", "a WebSocket that sends every message back (HTTP/1.1)"},
	{"/reset", "no answer: the connection (HTTP/2: the stream) is reset"},
	{"/close", "no answer: the connection is closed"},
	{"/delay/MS/PATH", "after MS milliseconds what PATH answers"},
	{"/keep/N/PATH", "what PATH answers; the connection takes N requests, no more"},
	{"/header/NAME/VALUE/PATH", "what PATH answers, with one more field; %XX is decoded"},
	{"/wrong/KIND/N/PATH", "what PATH answers, but wrong for one request in N"},
	{"  KIND status", "another status"},
	{"  KIND short", "a body one byte short, with a length that fits it"},
	{"  KIND cut", "a body one byte shorter than its length"},
	{"  KIND byte", "one byte of the body changed"},
	{"  KIND header", "no Content-Type, ETag or field of /header"},
	{"  KIND half", "the head, half of the body, then the end"},
	{"  KIND stall", "the head, half of the body, then nothing for ten minutes"},
	{"  KIND reset, close", "no answer, as above"},
	{"  KIND goaway", "half of the body, then GOAWAY (HTTP/1.1: nothing) and the end"},
	{"  KIND alert", "half of the body, then a fatal TLS alert (without TLS: a reset)"},
	{"  KIND accept", "/ws alone: another Sec-WebSocket-Accept"},
	{"  KIND mask", "/ws alone: frames that are masked"},
	{NULL, NULL},
};

/* A proxy may ask in absolute form; what a query says does not matter here. */
static struct text path_of(const char *target, size_t n)
{
	const char *end = memchr(target, '?', n);
	struct text t = {target, end ? (size_t)(end - target) : n};

	if (t.n > 7 && strncasecmp(t.p, "http://", 7) == 0) {
		const char *slash = memchr(t.p + 7, '/', t.n - 7);

		if (!slash)
			return (struct text){"/", 1};
		t.n -= (size_t)(slash - t.p);
		t.p = slash;
	}
	return t;
}

/* Takes "/segment" from the front. */
static bool segment(struct text *t, struct text *ret)
{
	const char *slash;

	if (t->n == 0 || t->p[0] != '/')
		return false;
	ret->p = t->p + 1;
	slash = memchr(ret->p, '/', t->n - 1);
	ret->n = slash ? (size_t)(slash - ret->p) : t->n - 1;
	t->p = ret->p + ret->n;
	t->n -= 1 + ret->n;
	return true;
}

static bool number(struct text t, uint64_t min, uint64_t max, uint64_t *ret)
{
	uint64_t v = 0;

	if (t.n == 0 || t.n > 18)
		return false;
	for (size_t i = 0; i < t.n; i++) {
		if (t.p[i] < '0' || t.p[i] > '9')
			return false;
		v = v * 10 + (uint64_t)(t.p[i] - '0');
	}
	*ret = v;
	return v >= min && v <= max;
}

static bool is(struct text t, struct text word)
{
	return t.n == word.n && memcmp(t.p, word.p, t.n) == 0;
}

/* The part after all that stands in front. */
static void last_part(struct route *r, struct text word, struct text rest)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		struct text arg = {NULL, 0};

		if (!is(word, words[i].word))
			continue;
		r->kind = words[i].kind;
		if (words[i].number &&
			(!segment(&rest, &arg) || !number(arg, words[i].min, words[i].max, &r->n)))
			r->kind = ROUTE_BAD;
		if (rest.n) /* something follows */
			r->kind = ROUTE_UNKNOWN;
		return;
	}
}

/* ---- What may stand in front: each takes its arguments from t and says whether they are right -
 */

static bool front_delay(struct route *r, struct text *t)
{
	struct text arg;
	uint64_t ms;

	if (!segment(t, &arg) || !number(arg, 0, ROUTE_DELAY_MAX - r->delay_ms, &ms))
		return false;
	r->delay_ms += (uint32_t)ms;
	return true;
}

static bool front_keep(struct route *r, struct text *t)
{
	struct text arg;

	return segment(t, &arg) && number(arg, 1, ROUTE_COUNT_MAX, &r->keep);
}

static bool front_wrong(struct route *r, struct text *t)
{
	struct text kind, every;

	if (r->fault || !segment(t, &kind) || !segment(t, &every))
		return false;
	for (enum fault f = FAULT_NONE + 1; f < FAULTS; f++) {
		if (text_is(kind, faults[f]))
			r->fault = f;
	}
	return r->fault && number(every, 1, ROUTE_COUNT_MAX, &r->every);
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		return (c | 0x20) - 'a' + 10;
	return -1;
}

int route_decode(struct text t, char *to)
{
	int n = 0;

	for (size_t i = 0; i < t.n; i++) {
		char c = t.p[i];

		if (c == '%') {
			int high = i + 2 < t.n ? hex(t.p[i + 1]) : -1;
			int low = high >= 0 ? hex(t.p[i + 2]) : -1;

			if (low < 0)
				return -1;
			c = (char)(high << 4 | low);
			i += 2;
		}
		to[n++] = c;
	}
	return n;
}

/* Fields that say how a message is framed, or belong to one connection, are not the path's. */
static bool name_allowed(const char *name, size_t n)
{
	static const char *const own[] = {"connection", "content-length", "keep-alive",
		"proxy-connection", "te", "transfer-encoding", "upgrade"};

	for (size_t i = 0; i < n; i++) {
		if (!http_is_token(name[i]))
			return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		if (strlen(own[i]) == n && strncasecmp(own[i], name, n) == 0)
			return false;
	}
	return n > 0;
}

static bool value_allowed(const char *value, size_t n)
{
	if (n && (value[0] == ' ' || value[0] == '\t' || value[n - 1] == ' ' ||
			 value[n - 1] == '\t'))
		return false;
	return http_all_value(value, n);
}

static bool front_header(struct route *r, struct text *t)
{
	struct text name, value;
	char room[HEADER_MAX];
	int n;

	if (r->n_headers == ROUTE_HEADERS_MAX || !segment(t, &name) || !segment(t, &value) ||
		name.n > HEADER_MAX || value.n > HEADER_MAX)
		return false;
	n = route_decode(name, room);
	if (n < 0 || !name_allowed(room, (size_t)n))
		return false;
	n = route_decode(value, room);
	if (n < 0 || !value_allowed(room, (size_t)n))
		return false;
	r->headers[r->n_headers].name = name;
	r->headers[r->n_headers++].value = value;
	return true;
}

static const struct {
	struct text word;
	bool (*take)(struct route *r, struct text *t);
} fronts[] = {{WORD("delay"), front_delay}, {WORD("keep"), front_keep},
	{WORD("wrong"), front_wrong}, {WORD("header"), front_header}};

/* 1: word was one and is taken, 0: it is none, -1: its arguments are wrong. */
static int front_part(struct route *r, struct text word, struct text *t)
{
	for (size_t i = 0; i < ARRAY_SIZE(fronts); i++) {
		if (is(word, fronts[i].word))
			return fronts[i].take(r, t) ? 1 : -1;
	}
	return 0;
}

void route_parse(const char *target, size_t n, struct route *ret)
{
	struct text t = path_of(target, n), word;

	memset(ret, 0, offsetof(struct route, headers)); /* n_headers bounds those */
	while (segment(&t, &word)) {
		int front = front_part(ret, word, &t);

		if (front == 0)
			last_part(ret, word, t);
		if (front < 0)
			ret->kind = ROUTE_BAD;
		if (front <= 0)
			return;
	}
}
