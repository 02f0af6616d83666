/* From a request's head to an answer. There is no Date: an answer is the same bytes every time. */
#include "origin/server.h"

#include <string.h>
#include <strings.h>

#include "base/clock.h"

#define SLOW_PAUSE_NS (10 * NS_PER_MS)

static const char text_type[] = "text/plain; charset=utf-8";
static const char binary_type[] = "application/octet-stream";

struct text ask_field(const struct ask *q, enum ask_field f)
{
	static const char *const names[ASK_FIELDS] = {
		[ASK_CONTENT_TYPE] = "Content-Type",
		[ASK_IF_NONE_MATCH] = "If-None-Match",
		[ASK_IF_RANGE] = "If-Range",
		[ASK_RANGE] = "Range",
	};
	const struct http_field *found;

	if (!q->head)
		return q->fields[f];
	found = http_field_find(q->head, q->bytes, names[f]);
	if (!found)
		return (struct text){NULL, 0};
	return (struct text){q->bytes + found->value.off, found->value.n};
}

bool status_without_body(int status)
{
	return status == 204 || status == 304;
}

/* A short text as the whole answer. */
static void text_answer(struct exchange *x, int status, const char *text, uint64_t total)
{
	x->reply = (struct reply){.status = status,
		.type = text_type,
		.type_n = sizeof(text_type) - 1,
		.length = strlen(text),
		.range.total = total};
	if (status_without_body(status))
		return;
	buf_clear(&x->kept);
	buf_adds(&x->kept, text);
	x->answer.source = SOURCE_MEMORY;
	x->answer.end = x->reply.length;
}

void answer_error(struct exchange *x, int status, const char *why)
{
	auto_buf struct buf text = BUF_INIT;

	x->answer = (struct answer){0};
	x->fault = FAULT_NONE;
	buf_clear(&x->extra);
	buf_addf(&text, "%d %s: %s\n", status, http_status_text(status), why);
	text_answer(x, status, buf_str(&text), 0);
}

static struct reply binary_reply(int status, uint64_t length)
{
	return (struct reply){.status = status,
		.type = binary_type,
		.type_n = sizeof(binary_type) - 1,
		.length = length};
}

static void answer_bytes(struct exchange *x, const struct route *r, const struct ask *q)
{
	struct text match = ask_field(q, ASK_IF_NONE_MATCH);
	struct reply f = binary_reply(200, 0);
	auto_buf struct buf etag = BUF_INIT;

	f.etag = true;
	f.etag_n = r->n;
	f.range = (struct range){0, r->n, r->n};
	buf_addf(&etag, "\"bytes-%llu\"", (unsigned long long)r->n);
	if (match.p && none_match_hit(match, buf_str(&etag))) {
		f.status = 304;
		x->reply = f;
		return;
	}
	switch (range_of(q, buf_str(&etag), &f.range)) {
	case RANGE_UNSATISFIABLE:
		text_answer(x, 416, "the range lies outside\n", r->n);
		return;
	case RANGE_PART:
		f.status = 206;
		f.ranged = true;
		break;
	case RANGE_NONE:
	default:
		break;
	}
	f.length = f.range.end - f.range.off;
	x->answer.source = SOURCE_PATTERN;
	x->answer.off = f.range.off;
	x->answer.end = f.range.end;
	x->reply = f;
}

/* The pattern in other clothes: in chunks, cut in the middle, or slowly. */
static void answer_pattern(struct exchange *x, const struct route *r)
{
	x->reply = binary_reply(200, r->n);
	x->answer.source = SOURCE_PATTERN;
	x->answer.end = r->n;
	if (r->kind == ROUTE_CHUNKED) {
		x->answer.chunked = true;
	} else if (r->kind == ROUTE_HALF) {
		x->answer.end = r->n / 2;
		x->answer.after = AFTER_CLOSE;
	} else {
		x->answer.pause_ns = SLOW_PAUSE_NS;
	}
}

static void answer_events(struct exchange *x, uint64_t n)
{
	static const char type[] = "text/event-stream";

	x->reply = (struct reply){
		.status = 200, .type = type, .type_n = sizeof(type) - 1, .length = events_bytes(n)};
	x->answer.source = SOURCE_EVENTS;
	x->answer.end = events_bytes(n);
	x->answer.chunked = true;
}

/* The type is kept now, as the head is gone when the body is complete. */
static void echo_begin(struct exchange *x, const struct ask *q)
{
	struct text type = ask_field(q, ASK_CONTENT_TYPE);

	x->type_n = 0;
	if (type.p && type.n <= sizeof(x->type)) {
		x->type_n = type.n;
		memcpy(x->type, type.p, type.n);
	}
}

static void echo_finish(struct exchange *x)
{
	x->reply = binary_reply(200, x->kept.n);
	if (x->type_n) {
		x->reply.type = x->type;
		x->reply.type_n = x->type_n;
	}
	x->answer.source = SOURCE_MEMORY;
	x->answer.end = x->kept.n;
}

static bool has_extra(const struct exchange *x, const char *name)
{
	const char *p = x->extra.p, *end = p + x->extra.n;

	while (p && p < end) {
		if (strcasecmp(p, name) == 0)
			return true;
		p += strlen(p) + 1;
		p += strlen(p) + 1;
	}
	return false;
}

/* A WebSocket spoils its first message itself. */
static void spoil(struct exchange *x)
{
	if (x->answer.after == AFTER_SOCKET)
		return;
	if (x->fault == FAULT_ACCEPT || x->fault == FAULT_MASK)
		answer_error(x, 400, "only a WebSocket can be wrong in this way");
	else
		answer_spoil(x);
}

void answer_finish(struct exchange *x)
{
	if (x->echo)
		echo_finish(x);
	if (x->extra.n && has_extra(x, "Content-Type"))
		x->reply.type = NULL; /* the path has its own */
	if (x->fault)
		spoil(x);
}

static void answer_status(struct exchange *x, int status)
{
	auto_buf struct buf text = BUF_INIT;

	buf_addf(&text, "status %d\n", status);
	text_answer(x, status, buf_str(&text), 0);
}

/* Short texts, and no answer at all. */
static void answer_plain(struct exchange *x, const struct route *r)
{
	switch (r->kind) {
	case ROUTE_HEALTH:
		text_answer(x, 200, "ok\n", 0);
		break;
	case ROUTE_STATUS:
		answer_status(x, (int)r->n);
		break;
	case ROUTE_RESET:
		x->answer.nothing = true;
		x->answer.after = AFTER_RESET;
		break;
	case ROUTE_CLOSE:
		x->answer.nothing = true;
		x->answer.after = AFTER_GONE;
		break;
	case ROUTE_BAD:
		text_answer(x, 400, "a part of the path is malformed or out of range\n", 0);
		break;
	default:
		text_answer(x, 404, "not found\n", 0);
		break;
	}
}

static void add_decoded(struct buf *b, struct text t)
{
	char *to = buf_reserve(b, t.n + 1);
	int n = to ? route_decode(t, to) : -1;

	if (n < 0) /* looked at by route_parse() */
		return;
	to[n] = '\0';
	b->n += (size_t)n + 1;
}

static void add_extra(struct exchange *x, const struct route *r)
{
	for (uint32_t i = 0; i < r->n_headers; i++) {
		add_decoded(&x->extra, r->headers[i].name);
		add_decoded(&x->extra, r->headers[i].value);
	}
}

void answer_begin(struct origin *o, struct exchange *x, const struct route *r, const struct ask *q)
{
	bool head = text_is(q->method, "HEAD");
	bool safe = head || text_is(q->method, "GET");

	x->answer = (struct answer){.head = head};
	x->last_chunk_sent = false;
	x->echo = r->kind == ROUTE_ECHO;
	x->fault = FAULT_NONE;
	x->delay_ns = r->delay_ms * NS_PER_MS;
	if (r->kind != ROUTE_BAD && r->kind != ROUTE_UNKNOWN) {
		x->fault = (uint8_t)fault_of(o, r);
		add_extra(x, r);
	}
	if (!safe && (r->kind == ROUTE_BYTES || r->kind == ROUTE_HEALTH)) {
		text_answer(x, 405, "only GET and HEAD\n", 0);
		return;
	}
	switch (r->kind) {
	case ROUTE_BYTES:
		answer_bytes(x, r, q);
		break;
	case ROUTE_CHUNKED:
	case ROUTE_HALF:
	case ROUTE_SLOW:
		answer_pattern(x, r);
		break;
	case ROUTE_EVENTS:
		answer_events(x, r->n);
		break;
	case ROUTE_SOCKET:
		socket_answer(x, q);
		break;
	case ROUTE_ECHO:
		echo_begin(x, q); /* the rest is known when the body is complete: answer_finish() */
		break;
	default:
		answer_plain(x, r);
		break;
	}
}
