/* Requests and what their answers must be. */
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/keys.h"
#include "config/values.h"

#define BODY_MAX ((uint64_t)1 << 30)

static bool is_token(const char *s)
{
	if (!s[0])
		return false;
	for (; *s; s++)
		if (!isalnum((unsigned char)*s) && !strchr("!#$%&'*+-.^_`|~", *s))
			return false;
	return true;
}

/* The driver frames requests by itself; a header that says otherwise would break the connection. */
static bool is_driver_header(const char *name)
{
	return !strcasecmp(name, "content-length") || !strcasecmp(name, "transfer-encoding") ||
	       !strcasecmp(name, "connection");
}

static bool check_header(
	struct problems *ps, const struct node *name, const struct node *value, bool any_value)
{
	if (!is_token(name->text)) {
		problem_add(ps, name, "'%s' is no name of a header", name->text);
		return false;
	}
	if (!any_value && is_driver_header(name->text)) {
		problem_add(ps, name, "the header '%s' is set by the driver itself; leave it out",
			name->text);
		return false;
	}
	if (value->kind != NODE_SCALAR || (node_is_null(value) && !any_value)) {
		problem_add(ps, value, "the value of header '%s' must be a text%s", name->text,
			any_value ? " (or null for any value)" : "");
		return false;
	}
	for (const char *c = value->text; *c; c++) {
		if ((unsigned char)*c >= 0x20 && *c != 0x7f)
			continue;
		problem_add(ps, value,
			"the value of header '%s' may not hold line ends or other "
			"control characters",
			name->text);
		return false;
	}
	return true;
}

void read_headers(struct problems *ps, const struct node *n, bool any_value,
	struct plan_header **ret, size_t *ret_n)
{
	if (n->kind != NODE_MAPPING) {
		auto_free char *what = node_describe(n);

		problem_add(ps, n, "'headers' must be a mapping of names to values, not %s", what);
		return;
	}
	for (size_t i = 0; i + 1 < n->n; i += 2) {
		const struct node *name = n->items[i], *value = n->items[i + 1];

		if (!check_header(ps, name, value, any_value))
			continue;
		*ret = xreallocarray(*ret, *ret_n + 1, sizeof(**ret));
		(*ret)[(*ret_n)++] = (struct plan_header){.name = xstrdup(name->text),
			.value = node_is_null(value) ? NULL : xstrdup(value->text)};
	}
}

static void read_expect_headers(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_expect *e = target;

	read_headers(ps, n, true, &e->headers, &e->n_headers);
}

/* One status, or a list of which any is right. */
static void read_status(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_expect *e = target;
	uint64_t v;

	if (n->kind != NODE_SEQUENCE) {
		if (value_number(ps, n, k->name, 200, 599, &v))
			e->status = (int)v;
		return;
	}
	if (n->n == 0 || n->n > EXPECT_ANY_MAX) {
		problem_add(ps, n, "'%s' must be a status or a list of one to %d of them", k->name,
			EXPECT_ANY_MAX);
		return;
	}
	for (size_t i = 0; i < n->n; i++) {
		if (value_number(ps, n->items[i], k->name, 200, 599, &v))
			e->any[e->n_any++] = (int)v;
	}
}

static void read_sha256(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_expect *e = target;
	auto_free char *text = NULL;

	if (!value_text(ps, n, k->name, &text))
		return;
	if (strlen(text) != 64 || strspn(text, "0123456789abcdefABCDEF") != 64) {
		problem_add(ps, n, "'%s' must be 64 hexadecimal digits (sha256sum prints them)",
			k->name);
		return;
	}
	e->sha256 = take_ptr(text);
}

/* Unlike other texts an expected body may be empty. */
static void read_expect_body(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_expect *e = target;

	if (n->kind == NODE_SCALAR && !node_is_null(n)) {
		free(e->body);
		e->body = xstrdup(n->text);
		return;
	}
	value_text(ps, n, k->name, &e->body);
}

void read_expect(struct problems *ps, const struct node *n, struct plan_expect *ret)
{
	static const struct key status = {.name = "expect"};

	expect_release(ret);
	ret->bytes = -1;
	if (n->kind != NODE_MAPPING) {
		read_status(ps, &status, n, ret);
		return;
	}
	if (!keys_read(ps, &table_expect, n, ret))
		return;
	if (ret->sha256 && (ret->body || ret->body_file))
		problem_add(ps, n, "expect has both 'sha256' and 'body%s'; give one of them",
			ret->body ? "" : "-file");
	if (ret->body && ret->body_file)
		problem_add(ps, n, "expect has both 'body' and 'body-file'; give one of them");
	if (ret->body && ret->bytes >= 0 && (uint64_t)ret->bytes != strlen(ret->body))
		problem_add(ps, node_get(n, "bytes"), "'bytes' is %lld but 'body' has %zu bytes",
			(long long)ret->bytes, strlen(ret->body));
}

/* false when the request has a method already. */
static bool one_method(
	struct problems *ps, const struct key *k, const struct node *n, struct plan_request *r)
{
	auto_free char *lower = xstrdup(r->method);

	if (!r->method)
		return true;
	for (char *c = lower; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	problem_add(ps, n,
		"a request has one method, but both '%s' and '%s' are given; several "
		"requests go into 'mix'",
		lower, k->name);
	return false;
}

static void read_path(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_request *r = target;
	auto_free char *path = NULL;

	if (!value_text(ps, n, k->name, &path))
		return;
	if (path[0] != '/' && !(!strcmp(path, "*") && !strcmp(k->name, "options")))
		problem_add(
			ps, n, "'%s' must be a path that begins with '/', not '%s'", k->name, path);
	for (const char *c = path; *c; c++) {
		if ((unsigned char)*c > 0x20 && (unsigned char)*c < 0x7f && *c != '#')
			continue;
		problem_add(ps, n,
			"'%s' must be a path as it is sent: without spaces, '#', control "
			"characters or letters beyond ASCII (write them as %%XX)",
			k->name);
		break;
	}
	free(r->path);
	r->path = take_ptr(path);
}

/* get, post, …: the name of the key is the method, its value the path. */
static void read_method(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_request *r = target;

	if (!one_method(ps, k, n, r))
		return;
	r->method = xstrdup(k->name);
	for (char *c = r->method; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	read_path(ps, k, n, r);
}

static void read_other_method(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_request *r = target;
	auto_free char *name = NULL;

	if (!one_method(ps, k, n, r) || !value_text(ps, n, k->name, &name))
		return;
	if (!is_token(name) || !strcmp(name, "CONNECT"))
		problem_add(ps, n, "'%s' must be the name of a method other than CONNECT, not '%s'",
			k->name, name);
	r->method = take_ptr(name);
}

static void read_request_headers(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_request *r = target;

	read_headers(ps, n, false, &r->headers, &r->n_headers);
}

static void read_body(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_request *r = target;
	int sources;

	if (n->kind == NODE_SCALAR) {
		value_text(ps, n, "body", &r->body_text);
		return;
	}
	if (!keys_read(ps, &table_body, n, r))
		return;
	sources = !!node_get(n, "bytes") + !!node_get(n, "text") + !!node_get(n, "file");
	if (sources > 1)
		problem_add(ps, n, "a body is one of bytes, text, file, not several");
	else if (!n->n || (sources == 0 && n->n == 2 && node_get(n, "chunk")))
		problem_add(ps, n, "'body' lacks what is sent: one of bytes, text, file");
}

const char *plan_learned_source(const char *name)
{
	static const char *const names[][2] = {{"if-none-match", "ETag"}, {"if-match", "ETag"},
		{"if-range", "ETag"}, {"if-modified-since", "Last-Modified"},
		{"if-unmodified-since", "Last-Modified"}, {"cookie", "Set-Cookie"}};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcasecmp(names[i][0], name))
			return names[i][1];
	}
	return NULL;
}

static void read_learned_one(struct problems *ps, const struct node *name, const struct node *path,
	struct plan_request *r)
{
	struct plan_learned l = {.at = {name->line, name->column}};

	if (!plan_learned_source(name->text)) {
		problem_add(ps, name,
			"the header '%s' is none that an answer teaches: if-none-match, if-match, "
			"if-range (by ETag), if-modified-since, if-unmodified-since (by "
			"Last-Modified), cookie (by Set-Cookie)",
			name->text);
		return;
	}
	if (!value_text(ps, path, name->text, &l.path))
		return;
	l.name = xstrdup(name->text);
	r->learned = xreallocarray(r->learned, r->n_learned + 1, sizeof(*r->learned));
	r->learned[r->n_learned++] = l;
}

static void read_learned(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	if (n->kind != NODE_MAPPING || !n->n) {
		auto_free char *what = node_describe(n);

		problem_add(ps, n,
			"'%s' must be a mapping of headers to the paths of the requests that teach "
			"them, not %s",
			k->name, n->kind == NODE_MAPPING ? "an empty one" : what);
		return;
	}
	for (size_t i = 0; i + 1 < n->n; i += 2)
		read_learned_one(ps, n->items[i], n->items[i + 1], target);
}

static void read_request_expect(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	read_expect(ps, n, &((struct plan_request *)target)->expect);
}

static void check_learned_twice(struct problems *ps, const struct plan_request *r)
{
	for (size_t i = 0; i < r->n_learned; i++) {
		for (size_t k = 0; k < r->n_headers; k++) {
			if (!strcasecmp(r->headers[k].name, r->learned[i].name))
				problem_at(ps, r->learned[i].at.line, r->learned[i].at.column,
					"the header '%s' is given by 'headers', too",
					r->learned[i].name);
		}
	}
}

void finish_request(struct problems *ps, const struct node *n, struct plan_request *r)
{
	if (!r->method) {
		problem_add(ps, n,
			"a request lacks its method: one of get, head, post, put, delete, options, "
			"patch, trace with the path, such as 'get: /index.html', or 'method' and "
			"'path'");
		return;
	}
	if (node_get(n, "method") && !node_get(n, "path"))
		problem_add(ps, node_get(n, "method"), "'method' lacks the 'path' beside it");
	if (node_get(n, "path") && !node_get(n, "method"))
		problem_add(ps, node_get(n, "path"),
			"'path' belongs beside 'method'; the path of '%s' is its value", r->method);
	check_learned_twice(ps, r);
	if (node_get(n, "body") && (!strcmp(r->method, "GET") || !strcmp(r->method, "HEAD") ||
					   !strcmp(r->method, "TRACE")))
		problem_add(ps, node_get(n, "body"),
			"a %s request has no body; use post, put or patch", r->method);
}

void expect_copy(const struct plan_expect *from, struct plan_expect *to)
{
	expect_release(to);
	*to = (struct plan_expect){.status = from->status,
		.n_any = from->n_any,
		.bytes = from->bytes,
		.sha256 = xstrdup(from->sha256),
		.body = xstrdup(from->body),
		.body_file = xstrdup(from->body_file),
		.n_headers = from->n_headers};
	memcpy(to->any, from->any, sizeof(to->any));
	if (!from->n_headers)
		return;
	to->headers = xcalloc(from->n_headers, sizeof(*to->headers));
	for (size_t i = 0; i < from->n_headers; i++)
		to->headers[i] = (struct plan_header){.name = xstrdup(from->headers[i].name),
			.value = xstrdup(from->headers[i].value)};
}

static void headers_release(struct plan_header *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(v[i].name);
		free(v[i].value);
	}
	free(v);
}

void expect_release(struct plan_expect *e)
{
	headers_release(e->headers, e->n_headers);
	free(e->body);
	free(e->body_file);
	free(e->sha256);
	*e = (struct plan_expect){0};
}

void request_release(struct plan_request *r)
{
	headers_release(r->headers, r->n_headers);
	expect_release(&r->expect);
	for (size_t i = 0; i < r->n_learned; i++) {
		free(r->learned[i].name);
		free(r->learned[i].path);
	}
	free(r->learned);
	free(r->method);
	free(r->path);
	free(r->body_text);
	free(r->body_file);
	*r = (struct plan_request){0};
}

/* The keys that a mix entry and a single request inside http have in common. */
#define REQUEST(field) offsetof(struct plan_request, field)
static const struct key request[] = {
	{"get", KEY_PART, .read = read_method, .doc = "Path of a GET request."},
	{"head", KEY_PART, .read = read_method, .doc = "Path of a HEAD request."},
	{"post", KEY_PART, .read = read_method, .doc = "Path of a POST request."},
	{"put", KEY_PART, .read = read_method, .doc = "Path of a PUT request."},
	{"delete", KEY_PART, .read = read_method, .doc = "Path of a DELETE request."},
	{"options", KEY_PART, .read = read_method, .doc = "Path of an OPTIONS request, or `*`."},
	{"patch", KEY_PART, .read = read_method, .doc = "Path of a PATCH request."},
	{"trace", KEY_PART, .read = read_method, .doc = "Path of a TRACE request."},
	{"method", KEY_PART, .read = read_other_method,
		.doc = "Any other method, with `path` beside it."},
	{"path", KEY_PART, .read = read_path, .doc = "Path of a request with `method`."},
	{"headers", KEY_PART, .read = read_request_headers, .doc = "Headers to send: a mapping."},
	{"learned", KEY_PART, .read = read_learned,
		.doc = "More headers, whose values earlier answers say: a mapping of each to the "
		       "path of the request of the mix that teaches it."},
	{"body", KEY_PART, .read = read_body, .doc = "Body of the request: a text, or a mapping."},
	{"websocket", KEY_PART, .read = read_websocket,
		.doc = "The `get` opens a WebSocket, on which messages are sent that must come "
		       "back: a mapping."},
	{"events", KEY_PART, .read = read_events,
		.doc = "The answer is a stream of so many events: a number, or a mapping."},
	{"weight", KEY_U32, REQUEST(weight), 1, 1000000,
		.doc = "Its share among the requests of the mix; default 1."},
	{"expect", KEY_PART, .read = read_request_expect,
		.doc = "What the answer must be; default: the phase's, else status 200."},
};
const struct key_table table_request = {"train.phases[].mix[]", request, ARRAY_SIZE(request)};

void read_request_part(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	for (size_t i = 0; i < ARRAY_SIZE(request); i++)
		if (!strcmp(request[i].name, k->name))
			request[i].read(ps, k, n, target);
}

static const struct key body[] = {
	{"bytes", KEY_SIZE, REQUEST(body_bytes), 0, BODY_MAX, .doc = "That many generated bytes."},
	{"text", KEY_TEXT, REQUEST(body_text), .doc = "This text."},
	{"file", KEY_TEXT, REQUEST(body_file),
		.doc = "The content of this file; may hold placeholders."},
	{"chunk", KEY_SIZE, REQUEST(body_chunk), 0, BODY_MAX,
		.doc = "Sent in chunks of this size, without a Content-Length."},
};
const struct key_table table_body = {"train.phases[].mix[].body", body, ARRAY_SIZE(body)};

#define EXPECT(field) offsetof(struct plan_expect, field)
static const struct key expect[] = {
	{"status", KEY_PART, .read = read_status,
		.doc = "Status code, or a list of which any is right; default 200."},
	{"bytes", KEY_SIZE, EXPECT(bytes), 0, INT64_MAX, .doc = "Length of the body."},
	{"body", KEY_PART, .read = read_expect_body, .doc = "The exact body."},
	{"body-file", KEY_TEXT, EXPECT(body_file),
		.doc = "File that holds the exact body; may hold placeholders."},
	{"sha256", KEY_PART, .read = read_sha256, .doc = "SHA-256 of the body."},
	{"headers", KEY_PART, .read = read_expect_headers,
		.doc = "Headers that must be there with this value; null: with any."},
};
const struct key_table table_expect = {"train.phases[].expect", expect, ARRAY_SIZE(expect)};
