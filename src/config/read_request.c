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

static void read_status(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	uint64_t v;

	if (value_number(ps, n, k->name, 200, 599, &v))
		((struct plan_expect *)target)->status = (int)v;
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
	if (n->kind == NODE_SCALAR) {
		read_status(ps, &status, n, ret);
		return;
	}
	if (!keys_read(ps, &table_expect, n, ret))
		return;
	if (ret->body && ret->body_file)
		problem_add(ps, n, "expect has both 'body' and 'body-file'; give one of them");
	if (ret->body && ret->bytes >= 0 && (uint64_t)ret->bytes != strlen(ret->body))
		problem_add(ps, node_get(n, "bytes"), "'bytes' is %lld but 'body' has %zu bytes",
			(long long)ret->bytes, strlen(ret->body));
}

static void read_method(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_request *r = target;
	auto_free char *path = NULL;

	if (r->method) {
		auto_free char *lower = xstrdup(r->method);

		for (char *c = lower; *c; c++)
			*c = (char)tolower((unsigned char)*c);
		problem_add(ps, n,
			"a request has one method, but both '%s' and '%s' are given; several "
			"requests go into 'mix'",
			lower, k->name);
		return;
	}
	r->method = xstrdup(k->name);
	for (char *c = r->method; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	if (!value_text(ps, n, k->name, &path))
		return;
	if (path[0] != '/')
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
	r->path = take_ptr(path);
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

	if (n->kind == NODE_SCALAR) {
		value_text(ps, n, "body", &r->body_text);
		return;
	}
	if (keys_read(ps, &table_body, n, r) && n->n > 2 &&
		!!node_get(n, "bytes") + !!node_get(n, "text") + !!node_get(n, "file") > 1)
		problem_add(ps, n, "a body is one of bytes, text, file, not several");
	else if (n->kind == NODE_MAPPING && !n->n)
		problem_add(ps, n, "'body' lacks what is sent: one of bytes, text, file");
}

static void read_request_expect(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	read_expect(ps, n, &((struct plan_request *)target)->expect);
}

void finish_request(struct problems *ps, const struct node *n, struct plan_request *r)
{
	if (!r->method) {
		problem_add(ps, n,
			"a request lacks its method: one of get, head, post, put, delete "
			"with the path, such as 'get: /index.html'");
		return;
	}
	if (node_get(n, "body") && (!strcmp(r->method, "GET") || !strcmp(r->method, "HEAD")))
		problem_add(ps, node_get(n, "body"), "a %s request has no body; use post or put",
			r->method);
}

void expect_copy(const struct plan_expect *from, struct plan_expect *to)
{
	expect_release(to);
	*to = (struct plan_expect){.status = from->status,
		.bytes = from->bytes,
		.body = xstrdup(from->body),
		.body_file = xstrdup(from->body_file),
		.n_headers = from->n_headers};
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
	*e = (struct plan_expect){0};
}

void request_release(struct plan_request *r)
{
	headers_release(r->headers, r->n_headers);
	expect_release(&r->expect);
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
	{"headers", KEY_PART, .read = read_request_headers, .doc = "Headers to send: a mapping."},
	{"body", KEY_PART, .read = read_body,
		.doc = "Body of a post, put or delete: a text, or a mapping."},
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
};
const struct key_table table_body = {"train.phases[].mix[].body", body, ARRAY_SIZE(body)};

#define EXPECT(field) offsetof(struct plan_expect, field)
static const struct key expect[] = {
	{"status", KEY_PART, .read = read_status, .doc = "Status code; default 200."},
	{"bytes", KEY_SIZE, EXPECT(bytes), 0, INT64_MAX, .doc = "Length of the body."},
	{"body", KEY_PART, .read = read_expect_body, .doc = "The exact body."},
	{"body-file", KEY_TEXT, EXPECT(body_file),
		.doc = "File that holds the exact body; may hold placeholders."},
	{"headers", KEY_PART, .read = read_expect_headers,
		.doc = "Headers that must be there with this value; null: with any."},
};
const struct key_table table_expect = {"train.phases[].expect", expect, ARRAY_SIZE(expect)};
