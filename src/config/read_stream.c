/* Requests whose answer goes on: WebSockets and streams of events. */
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "config/keys.h"
#include "config/values.h"

#define MESSAGE_MAX ((uint64_t)16 << 20)
#define MESSAGE_DEFAULT 1024
#define COUNT_MAX 1000000000

/* One of two words; true: the second. */
static bool second_word(struct problems *ps, const struct key *k, const struct node *n,
	const char *first, const char *second)
{
	auto_free char *text = NULL;

	if (!value_text(ps, n, k->name, &text))
		return false;
	if (strcmp(text, first) != 0 && strcmp(text, second) != 0)
		problem_add(ps, n, "'%s' must be %s or %s, not '%s'", k->name, first, second, text);
	return !strcmp(text, second);
}

static void read_type(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	((struct plan_request *)target)->binary = second_word(ps, k, n, "text", "binary");
}

static void read_then(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	((struct plan_request *)target)->events_end = second_word(ps, k, n, "close", "end");
}

void read_websocket(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_request *r = target;

	r->stream_at = (struct place){n->line, n->column};
	r->message_size = MESSAGE_DEFAULT;
	keys_read(ps, &table_websocket, n, r);
}

void read_events(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_request *r = target;

	r->stream_at = (struct place){n->line, n->column};
	if (n->kind == NODE_SCALAR)
		value_number(ps, n, k->name, 1, COUNT_MAX, &r->events);
	else
		keys_read(ps, &table_events, n, r);
}

/* The driver says them itself, and it speaks no extension. */
static bool is_websocket_header(const char *name)
{
	static const char *const names[] = {"upgrade", "sec-websocket-key", "sec-websocket-version",
		"sec-websocket-accept", "sec-websocket-extensions"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcasecmp(names[i], name))
			return true;
	}
	return false;
}

static void check_websocket(
	struct problems *ps, const struct plan_request *r, enum http_protocol protocol)
{
	if (protocol == PROTOCOL_H2 || protocol == PROTOCOL_H2_TLS)
		problem_at(ps, r->stream_at.line, r->stream_at.column,
			"'websocket' belongs to protocol h1 or h1+tls: over HTTP/2 a WebSocket "
			"(RFC 8441) is not supported");
	if (r->method && strcmp(r->method, "GET") != 0)
		problem_at(ps, r->stream_at.line, r->stream_at.column,
			"'websocket' belongs to a GET request: write 'get' and its path");
	for (size_t i = 0; i < r->n_headers; i++) {
		if (is_websocket_header(r->headers[i].name))
			problem_at(ps, r->stream_at.line, r->stream_at.column,
				"the header '%s' is set by the driver itself; leave it out",
				r->headers[i].name);
	}
	if (r->expect.status || r->expect.n_any)
		problem_at(ps, r->stream_at.line, r->stream_at.column,
			"a WebSocket begins with status 101, which needs not be given: 'expect' "
			"may "
			"hold 'headers'");
}

void check_stream(struct problems *ps, const struct plan_request *r, enum http_protocol protocol)
{
	const char *name = r->messages ? "websocket" : "events";
	const struct plan_expect *e = &r->expect;

	if (!r->messages && !r->events)
		return;
	if (r->messages && r->events)
		problem_at(ps, r->stream_at.line, r->stream_at.column,
			"a request has 'websocket' or 'events', not both");
	if (r->messages)
		check_websocket(ps, r, protocol);
	else if (r->method && !strcmp(r->method, "HEAD"))
		problem_at(ps, r->stream_at.line, r->stream_at.column,
			"the answer to a HEAD request has no events");
	else if (e->n_any)
		problem_at(ps, r->stream_at.line, r->stream_at.column,
			"with 'events' one status is expected, not several");
	if (e->bytes >= 0 || e->body || e->body_file || e->sha256)
		problem_at(ps, r->stream_at.line, r->stream_at.column,
			"with '%s' there is no body to expect: leave out bytes, body, body-file "
			"and sha256",
			name);
}

#define REQUEST(field) offsetof(struct plan_request, field)
static const struct key websocket[] = {
	{"messages", KEY_U64, REQUEST(messages), 1, COUNT_MAX, .required = true,
		.doc = "Messages of the session: each is sent when the one before came back."},
	{"size", KEY_SIZE, REQUEST(message_size), 0, MESSAGE_MAX,
		.doc = "Bytes of each message, at most 16 MiB; default 1024."},
	{"frame", KEY_SIZE, REQUEST(frame), 0, MESSAGE_MAX,
		.doc = "Bytes of each frame; default: a message is one frame."},
	{"type", KEY_PART, .read = read_type, .doc = "`text` (default) or `binary`."},
};
const struct key_table table_websocket = {
	"train.phases[].mix[].websocket", websocket, ARRAY_SIZE(websocket)};

static const struct key events[] = {
	{"count", KEY_U64, REQUEST(events), 1, COUNT_MAX, .required = true,
		.doc = "Events that must come."},
	{"then", KEY_PART, .read = read_then,
		.doc = "`close` (default): the driver goes when the last one is there; `end`: the "
		       "answer must end with it."},
};
const struct key_table table_events = {"train.phases[].mix[].events", events, ARRAY_SIZE(events)};
