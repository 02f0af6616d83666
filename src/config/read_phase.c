/* Phases. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "config/keys.h"
#include "config/values.h"

#define COUNTED                                                                                    \
	"training is counted, not timed, because a slow machine must train the same profile as a " \
	"fast one; give 'requests' in http, or 'repeat' beside run"

static const struct key_table table_held_out;

#define UNCOUNTED 1000000000 /* the comparison counts by its slices */
#define REQUESTS "Requests of the whole phase; required in the training."

static struct plan_request *add_request(struct plan_http *h, const struct node *n)
{
	struct plan_request *r;

	h->mix = xreallocarray(h->mix, h->n_mix + 1, sizeof(*h->mix));
	r = &h->mix[h->n_mix++];
	*r = (struct plan_request){.weight = 1, .expect.bytes = -1, .at = {n->line, n->column}};
	return r;
}

/* get, post, headers, body inside http: the phase's single request. */
static void read_single(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_http *h = target;
	struct plan_request *r = h->n_mix ? &h->mix[0] : add_request(h, n);

	read_request_part(ps, k, n, r);
}

static void read_protocol(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	static const char *const names[] = {[PROTOCOL_H1] = "h1",
		[PROTOCOL_H1_TLS] = "h1+tls",
		[PROTOCOL_H2] = "h2",
		[PROTOCOL_H2_TLS] = "h2+tls"};
	struct plan_http *h = target;
	auto_free char *text = NULL;

	if (!value_text(ps, n, "protocol", &text))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i], text))
			continue;
		h->protocol = (enum http_protocol)i;
		return;
	}
	if (!strcmp(text, "h3"))
		problem_add(ps, n,
			"protocol 'h3' is not supported: distributions carry no finished library "
			"for it; call another client from a run phase");
	else
		problem_add(ps, n, "'protocol' must be h1, h1+tls, h2 or h2+tls, not '%s'", text);
}

static void read_reuse(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_http *h = target;

	if (n->kind == NODE_SCALAR && !strcmp(n->text, "keep"))
		h->reuse = 0;
	else if (n->kind == NODE_SCALAR && !strcmp(n->text, "none"))
		h->reuse = 1;
	else if (n->kind == NODE_SCALAR && n->plain && n->text[0] >= '0' && n->text[0] <= '9')
		value_number(ps, n, "reuse", 1, 1000000000, &h->reuse);
	else
		problem_add(ps, n,
			"'reuse' must be keep, none, or the number of requests that one "
			"connection carries");
}

/* A training is counted, a comparison counts by its slices. */
static void count_requests(
	struct problems *ps, const struct node *n, bool held_out, struct plan_http *h)
{
	if (held_out && !h->requests)
		h->requests = UNCOUNTED;
	else if (!node_get(n, "requests"))
		problem_add(ps, n, "%s lacks the key 'requests': " REQUESTS, table_http.name);
}

static void read_http(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	const struct plan_phase *ph = target;
	struct plan_http *h = &((struct plan_phase *)target)->http;

	if (!keys_read(ps, &table_http, n, h))
		return;
	count_requests(ps, n, ph->held_out, h);
	if (node_get(n, "streams") && h->protocol != PROTOCOL_H2 && h->protocol != PROTOCOL_H2_TLS)
		problem_add(ps, node_get(n, "streams"),
			"'streams' belongs to protocol h2 or h2+tls: a connection of HTTP/1.1 has "
			"one request at a time");
	if (node_get(n, "resume") && h->protocol != PROTOCOL_H1_TLS &&
		h->protocol != PROTOCOL_H2_TLS)
		problem_add(
			ps, node_get(n, "resume"), "'resume' belongs to protocol h1+tls or h2+tls");
	if (!h->requests)
		return;
	if (!node_get(n, "connections")) {
		if (h->requests < h->connections)
			h->connections = (uint32_t)h->requests;
	} else if (h->connections > h->requests) {
		problem_add(ps, node_get(n, "connections"),
			"%u connections cannot share %llu requests; give at most as many",
			h->connections, (unsigned long long)h->requests);
	}
}

static bool teaches(const struct plan_request *r, const char *path)
{
	return !r->n_learned && !r->messages && r->path && !strcmp(r->path, path);
}

/* A teacher learns nothing itself: it is asked before all others. */
static void find_teachers(struct problems *ps, const struct plan_http *h, struct plan_request *r)
{
	for (size_t i = 0; i < r->n_learned; i++) {
		struct plan_learned *l = &r->learned[i];

		l->from = 0;
		while (l->from < h->n_mix && !teaches(&h->mix[l->from], l->path))
			l->from++;
		if (l->from == h->n_mix)
			problem_at(ps, l->at.line, l->at.column,
				"no request of this mix asks for '%s' and learns nothing itself: "
				"add one, so that its answer teaches '%s'",
				l->path, l->name);
	}
}

static void read_mix(struct problems *ps, const struct node *n, struct plan_http *h,
	const struct plan_expect *expect)
{
	if (n->kind != NODE_SEQUENCE || !n->n) {
		auto_free char *what = node_describe(n);

		problem_add(ps, n, "'mix' must be a list of requests, not %s",
			n->kind == NODE_SEQUENCE ? "an empty one" : what);
		return;
	}
	for (size_t i = 0; i < n->n; i++) {
		struct plan_request *r = add_request(h, n->items[i]);

		if (!keys_read(ps, &table_request, n->items[i], r))
			continue;
		if (expect && !node_get(n->items[i], "expect") &&
			!node_get(n->items[i], "websocket") && !node_get(n->items[i], "events"))
			expect_copy(expect, &r->expect);
		finish_request(ps, n->items[i], r);
	}
}

static void read_requests(struct problems *ps, const struct node *n, struct plan_phase *ph)
{
	const struct node *http = node_get(n, "http"), *mix = node_get(n, "mix");
	const struct node *expect = node_get(n, "expect");
	struct plan_expect e = {.bytes = -1};

	if (expect)
		read_expect(ps, expect, &e);
	if (mix && ph->http.n_mix) {
		problem_add(
			ps, mix, "a phase has one request in 'http' or several in 'mix', not both");
	} else if (mix) {
		read_mix(ps, mix, &ph->http, expect ? &e : NULL);
	} else if (http->kind == NODE_MAPPING) {
		if (!ph->http.n_mix)
			add_request(&ph->http, http);
		finish_request(ps, http, &ph->http.mix[0]);
		if (expect)
			expect_copy(&e, &ph->http.mix[0].expect);
	}
	for (size_t i = 0; i < ph->http.n_mix; i++) {
		struct plan_request *r = &ph->http.mix[i];

		if (r->method && !strcmp(r->method, "HEAD") &&
			(r->expect.body || r->expect.body_file || r->expect.sha256))
			problem_at(ps, r->at.line, r->at.column,
				"the answer to a HEAD request has no body to expect");
		check_stream(ps, r, ph->http.protocol);
		find_teachers(ps, &ph->http, r);
	}
	expect_release(&e);
}

static void only_with(struct problems *ps, const struct node *n, const char *key, const char *with)
{
	if (node_get(n, key))
		problem_add(ps, node_get(n, key), "'%s' belongs to a phase with '%s'", key, with);
}

static void read_phase(
	struct problems *ps, const struct key_table *t, const struct node *n, struct plan_phase *ph)
{
	const struct node *http = node_get(n, "http"), *run = node_get(n, "run");

	*ph = (struct plan_phase){.held_out = t == &table_held_out,
		.weight = t == &table_held_out ? 0 : 1,
		.repeat = 1,
		.timeout_ns = 300 * NS_PER_S,
		.batch.input.bytes = -1,
		.http.connections = 32,
		.http.streams = 1,
		.http.resume = true,
		.at = {n->line, n->column}};
	if (!keys_read(ps, t, n, ph))
		return;
	ph->kind = http ? PHASE_HTTP : PHASE_RUN;
	if (http && run)
		problem_add(ps, run, "a phase has either 'http' or 'run', not both");
	else if (!http && !run)
		problem_add(ps, n, "a phase lacks what it does: 'http' or 'run'");
	if (http) {
		static const char *const others[] = {"repeat", "stdin", "files", "exit", "pty"};

		for (size_t i = 0; i < ARRAY_SIZE(others); i++)
			only_with(ps, n, others[i], "run");
		read_requests(ps, n, ph);
	} else {
		only_with(ps, n, "mix", "http");
		if (node_get(n, "expect"))
			read_run_expect(ps, node_get(n, "expect"), &ph->batch);
	}
}

void read_phases(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_train *t = target;

	if (n->kind != NODE_SEQUENCE || !n->n) {
		auto_free char *what = node_describe(n);

		problem_add(ps, n, "'phases' must be a list with at least one phase, not %s",
			n->kind == NODE_SEQUENCE ? "an empty one" : what);
		return;
	}
	for (size_t i = 0; i < n->n; i++) {
		t->phases = xreallocarray(t->phases, t->n_phases + 1, sizeof(*t->phases));
		read_phase(ps, &table_phase, n->items[i], &t->phases[t->n_phases++]);
	}
}

void read_held_out(struct problems *ps, const struct node *n, struct plan_phase *ret)
{
	read_phase(ps, &table_held_out, n, ret);
}

#define PHASE(field) offsetof(struct plan_phase, field)
static const struct key phase[] = {
	{"name", KEY_TEXT, PHASE(name), .required = true, .doc = "Its name, unique."},
	{"weight", KEY_WEIGHT, PHASE(weight),
		.doc = "Its share in the merged profile and in the summary figure; default 1."},
	{"matrix", KEY_PART, .read = read_phase_settings,
		.doc = "Settings with which it runs, such as `{http1: experimental}`; default: "
		       "all."},
	{"when", KEY_TEXT, PHASE(when),
		.doc = "Shell command; the phase is skipped when it fails."},
	{"timeout", KEY_DURATION, PHASE(timeout_ns), 100 * NS_PER_MS, 24 * 3600 * NS_PER_S,
		.doc = "How long it may take at most, a safeguard; default 300s."},
	{"http", KEY_PART, .read = read_http, .doc = "Requests by whet's own driver."},
	{"expect", KEY_PART,
		.doc = "What every answer must be: a status, or a mapping; default status 200. "
		       "With `run`: what it must have written."},
	{"mix", KEY_PART, .doc = "Several requests in place of the one in `http`: a list."},
	{"run", KEY_TEXT, PHASE(run), .doc = "Shell command, in place of `http`."},
	{"exit", KEY_U32, PHASE(batch.exit_code), 0, 255,
		.doc = "The exit code that `run` must end with; default 0."},
	{"stdin", KEY_PART, .read = read_stdin,
		.doc = "What `run` reads: a text, or a mapping; default nothing."},
	{"files", KEY_PART, .read = read_files,
		.doc = "Files that are written to `{work}` before each run: a mapping of paths to "
		       "a size, or to a mapping as in `stdin`."},
	{"pty", KEY_BOOL, PHASE(batch.pty),
		.doc = "true: `run` gets a terminal, and `stdin` is typed."},
	{"repeat", KEY_U32, PHASE(repeat), 1, 1000000,
		.doc = "How many times `run` is done in training and replay; default 1. The "
		       "comparison repeats runs by its own `slices` and `launches`."},
	{"seconds", KEY_REFUSED, .text = COUNTED, .doc = "Training is counted, not timed."},
	{"duration", KEY_REFUSED, .text = COUNTED, .doc = "Training is counted, not timed."},
};
const struct key_table table_phase = {"train.phases[]", phase, ARRAY_SIZE(phase)};
/* The same keys: a phase can be moved from one list to the other. */
static const struct key_table table_held_out = {"bench.scenarios[]", phase, ARRAY_SIZE(phase)};

#define HTTP(field) offsetof(struct plan_http, field)
static const struct key http[] = {
	{"protocol", KEY_PART, .read = read_protocol,
		.doc = "`h1` (default), `h1+tls`, `h2` (in clear, with prior knowledge) or "
		       "`h2+tls`."},
	{"connections", KEY_U32, HTTP(connections), 1, 10000,
		.doc = "Connections at a time; default 32, at most `requests`."},
	{"streams", KEY_U32, HTTP(streams), 1, 1000,
		.doc = "Requests at a time on each connection of HTTP/2; default 1."},
	{"requests", KEY_U64, HTTP(requests), 1, 1000000000000, .doc = REQUESTS},
	{"reuse", KEY_PART, .read = read_reuse,
		.doc = "Requests per connection: `keep` (default, no limit), `none` (one), or a "
		       "number."},
	{"resume", KEY_BOOL, HTTP(resume),
		.doc = "true (default): new TLS connections resume an earlier session; false: each "
		       "makes a full handshake."},
	{"rate", KEY_U64, HTTP(rate), 1, 10000000,
		.doc = "Requests begun per second; default: the next one when an answer is there."},
	{"service", KEY_TEXT, HTTP(service), .doc = "Service that is asked; default: the subject."},
	{"port", KEY_TEXT, HTTP(port), .doc = "Named port of that service; default its `{port}`."},
	{"get", KEY_PART, .read = read_single, .doc = "Path of a GET request."},
	{"head", KEY_PART, .read = read_single, .doc = "Path of a HEAD request."},
	{"post", KEY_PART, .read = read_single, .doc = "Path of a POST request."},
	{"put", KEY_PART, .read = read_single, .doc = "Path of a PUT request."},
	{"delete", KEY_PART, .read = read_single, .doc = "Path of a DELETE request."},
	{"options", KEY_PART, .read = read_single, .doc = "Path of an OPTIONS request, or `*`."},
	{"patch", KEY_PART, .read = read_single, .doc = "Path of a PATCH request."},
	{"trace", KEY_PART, .read = read_single, .doc = "Path of a TRACE request."},
	{"method", KEY_PART, .read = read_single,
		.doc = "Any other method, with `path` beside it."},
	{"path", KEY_PART, .read = read_single, .doc = "Path of a request with `method`."},
	{"headers", KEY_PART, .read = read_single, .doc = "Headers to send: a mapping."},
	{"body", KEY_PART, .read = read_single,
		.doc = "Body of the request: a text, or a mapping as in `mix`."},
	{"websocket", KEY_PART, .read = read_single,
		.doc = "The `get` opens a WebSocket: a mapping as in `mix`."},
	{"events", KEY_PART, .read = read_single,
		.doc = "The answer is a stream of so many events: a number, or a mapping as in "
		       "`mix`."},
	{"seconds", KEY_REFUSED, .text = COUNTED, .doc = "Training is counted, not timed."},
	{"duration", KEY_REFUSED, .text = COUNTED, .doc = "Training is counted, not timed."},
	{"expect", KEY_REFUSED, .text = "it stands beside 'http', in the phase",
		.doc = "Belongs beside `http`."},
	{"mix", KEY_REFUSED, .text = "it stands beside 'http', in the phase",
		.doc = "Belongs beside `http`."},
};
const struct key_table table_http = {"train.phases[].http", http, ARRAY_SIZE(http)};
