/* Requests are rendered once, before the load starts. */
#include "load/driver.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

bool request_has_header(const struct load_request *r, const char *name)
{
	for (size_t i = 0; i < r->n_headers; i++) {
		if (strcasecmp(r->headers[i].name, name) == 0)
			return true;
	}
	return false;
}

bool request_needs_length(const struct load_request *r)
{
	static const char *const with_body[] = {"POST", "PUT", "PATCH"};

	if (r->chunk || request_has_header(r, "Transfer-Encoding") ||
		request_has_header(r, "Content-Length"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(with_body); i++) {
		if (strcmp(r->method, with_body[i]) == 0)
			return true;
	}
	return r->body_n > 0;
}

static void add_chunks(struct buf *b, const struct load_request *r)
{
	for (size_t off = 0; off < r->body_n; off += r->chunk) {
		size_t n = r->body_n - off < r->chunk ? r->body_n - off : r->chunk;

		buf_addf(b, "%zx\r\n", n);
		buf_add(b, (const char *)r->body + off, n);
		buf_adds(b, "\r\n");
	}
	buf_adds(b, "0\r\n\r\n");
}

static void render(
	const struct load *l, const struct load_class *k, bool last, struct request_bytes *ret)
{
	const struct load_request *r = k->r;
	auto_buf struct buf b = BUF_INIT;

	buf_addf(&b, "%s %s HTTP/1.1\r\n", r->method, r->path);
	if (!request_has_header(r, "Host"))
		buf_addf(&b, "Host: %s\r\n", l->addr.text);
	for (size_t i = 0; i < r->n_headers; i++)
		buf_addf(&b, "%s: %s\r\n", r->headers[i].name, r->headers[i].value);
	for (size_t i = 0; i < r->n_learned; i++) {
		if (k->taught[i])
			buf_addf(&b, "%s: %s\r\n", r->learned[i].name, k->taught[i]);
	}
	if (request_needs_length(r))
		buf_addf(&b, "Content-Length: %zu\r\n", r->body_n);
	if (r->chunk)
		buf_adds(&b, "Transfer-Encoding: chunked\r\n");
	if (k->ws)
		load_ws_fields(k, &b);
	else if (last && !request_has_header(r, "Connection"))
		buf_adds(&b, "Connection: close\r\n");
	buf_adds(&b, "\r\n");
	if (r->chunk)
		add_chunks(&b, r);
	else if (r->body_n)
		buf_add(&b, r->body, r->body_n);
	free(ret->p);
	ret->n = b.n;
	ret->p = buf_detach(&b);
}

void class_render(const struct load *l, struct load_class *k)
{
	render(l, k, false, &k->keep);
	render(l, k, true, &k->last);
	if (l->h2)
		class_render_h2(l, k);
}

/* How many fields render() writes for the last request of a connection. */
static size_t fields_rendered(const struct load_class *k)
{
	const struct load_request *r = k->r;
	size_t n = r->n_headers + !request_has_header(r, "Host") + request_needs_length(r) +
		   (r->chunk > 0);

	return n + (k->ws ? LOAD_WS_FIELDS : !request_has_header(r, "Connection"));
}

/* RFC 9110 section 9.2.2. */
static bool is_idempotent(const char *method)
{
	static const char *const names[] = {"GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(method, names[i]) == 0)
			return true;
	}
	return false;
}

static int expected_length(const struct load_request *r, size_t i, int64_t *ret, struct error *err)
{
	*ret = r->expect_bytes < 0 ? -1 : r->expect_bytes;
	if (!r->expect_body)
		return 0;
	if (*ret >= 0 && (uint64_t)*ret != r->expect_body_n)
		return error_set(err, ERR_USAGE,
			"mix entry %zu ('%s %s') expects %lld bytes and also a body of %zu "
			"bytes",
			i + 1, r->method, r->path, (long long)*ret, r->expect_body_n);
	*ret = (int64_t)r->expect_body_n;
	return 0;
}

/* What is sent must be one well-formed request: a space or line end inside would make another. */
static int class_check(
	const struct load *l, const struct load_class *k, size_t i, struct error *err)
{
	struct http_head *h = xmalloc(sizeof(*h));
	const struct load_request *r = k->r;
	enum http_progress p;
	int rc = 0;

	http_request_begin(h);
	p = http_head_parse(h, k->last.p, k->last.n);
	if (p != HTTP_DONE || (!r->chunk && k->last.n - h->size != r->body_n) ||
		h->method.n != strlen(r->method) || h->target.n != strlen(r->path) ||
		h->n_fields != fields_rendered(k))
		rc = error_set(err, ERR_USAGE, "mix entry %zu ('%s %s') is not valid HTTP: %s",
			i + 1, r->method, r->path,
			h->problem ? h->problem : "a part of it holds a line end");
	else if (h->has_length && h->length != r->body_n)
		rc = error_set(err, ERR_USAGE,
			"mix entry %zu ('%s %s') has a Content-Length of %llu and a body of "
			"%zu bytes",
			i + 1, r->method, r->path, (unsigned long long)h->length, r->body_n);
	free(h);
	return rc;
}

bool class_status_ok(const struct load_class *k, int status)
{
	for (size_t i = 0; i < k->r->n_expect_any; i++) {
		if (k->r->expect_any[i] == status)
			return true;
	}
	return !k->r->n_expect_any && status == (k->r->expect_status ? k->r->expect_status : 200);
}

void class_statuses(const struct load_class *k, struct buf *b)
{
	if (!k->r->n_expect_any)
		buf_addf(b, "%d", k->r->expect_status ? k->r->expect_status : 200);
	for (size_t i = 0; i < k->r->n_expect_any; i++)
		buf_addf(b, "%s%d", i ? " or " : "", k->r->expect_any[i]);
}

static int class_build(struct load *l, size_t i, struct error *err)
{
	struct load_class *k = &l->classes[i];
	const struct load_request *r = &l->plan.mix[i];

	k->head = strcmp(r->method, "HEAD") == 0;
	k->idempotent = is_idempotent(r->method);
	k->body = r->expect_body;
	k->taught = xcalloc(r->n_learned + 1, sizeof(*k->taught));
	k->fields = r->n_expect_headers || r->events.count;
	k->reading = !k->head && (r->expect_sha256 || r->events.count);
	if (expected_length(r, i, &k->bytes, err) < 0 || learn_check(l, i, err) < 0 ||
		load_events_check(r, i, err) < 0 || load_ws_class_make(l, k, i, err) < 0)
		return -1;
	for (size_t n = 0; n < r->n_learned; n++)
		l->classes[r->learned[n].from].teaches = true;
	class_render(l, k);
	return class_check(l, k, i, err);
}

int classes_build(struct load *l, struct error *err)
{
	l->classes = xcalloc(l->plan.n_mix, sizeof(*l->classes));
	for (size_t i = 0; i < l->plan.n_mix; i++)
		l->classes[i].r = &l->plan.mix[i];
	for (size_t i = 0; i < l->plan.n_mix; i++) {
		if (class_build(l, i, err) < 0)
			return -1;
	}
	return 0;
}

void classes_release(struct load *l)
{
	for (size_t i = 0; l->classes && i < l->plan.n_mix; i++) {
		struct load_class *k = &l->classes[i];

		for (size_t n = 0; k->taught && n < k->r->n_learned; n++)
			free(k->taught[n]);
		free(k->taught);
		free(k->keep.p);
		free(k->last.p);
		class_release_h2(k);
		load_ws_class_release(k);
		buf_release(&k->kept);
		buf_release(&k->seen);
	}
	free(l->classes);
	l->classes = NULL;
}
