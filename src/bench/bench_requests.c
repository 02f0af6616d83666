#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "bench/internal.h"

#define BODY_MAX ((size_t)256 << 20)

static const char *keep(struct requests *r, char *body)
{
	r->bodies[r->n_bodies++] = body;
	return body;
}

static int read_body(const struct arm *arm, const char *file, struct requests *r, const void **ret,
	size_t *n, struct error *err)
{
	auto_free char *path = NULL;
	auto_buf struct buf b = BUF_INIT;

	if (plan_expand(file, &arm->vars, &path, err) < 0)
		return -1;
	if (file_read(path, BODY_MAX, &b, err) < 0)
		return -1;
	*n = b.n;
	*ret = keep(r, buf_detach(&b));
	return 0;
}

/* The same bytes as in training (xorshift32, Marsaglia 2003). */
static const char *generated_body(struct requests *r, uint64_t n)
{
	char *p = malloc(n + 1);
	uint32_t x = 2463534242;

	if (!p)
		return NULL;
	for (uint64_t i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		p[i] = (char)('a' + x % 26);
	}
	p[n] = '\0';
	return keep(r, p);
}

static int sent_body(const struct arm *arm, const struct plan_request *from, struct requests *r,
	struct load_request *to, struct error *err)
{
	if (from->body_file)
		return read_body(arm, from->body_file, r, &to->body, &to->body_n, err);
	if (from->body_text) {
		to->body = from->body_text;
		to->body_n = strlen(from->body_text);
	} else if (from->body_bytes) {
		to->body = generated_body(r, from->body_bytes);
		to->body_n = from->body_bytes;
		if (!to->body)
			return error_set(err, ERR_ENVIRONMENT, "no memory for a body of %llu bytes",
				(unsigned long long)from->body_bytes);
	}
	return 0;
}

static int wanted_body(const struct arm *arm, const struct plan_expect *e, struct requests *r,
	struct load_request *to, struct error *err)
{
	to->expect_status = e->status;
	to->expect_bytes = e->bytes;
	if (e->body_file)
		return read_body(arm, e->body_file, r, &to->expect_body, &to->expect_body_n, err);
	if (e->body) {
		to->expect_body = e->body;
		to->expect_body_n = strlen(e->body);
	}
	return 0;
}

static struct load_header *copy_headers(
	struct load_header *to, const struct plan_header *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = (struct load_header){from[i].name, from[i].value};
	return to + n;
}

static int fill_mix(
	const struct plan_http *h, const struct arm *arm, struct requests *r, struct error *err)
{
	struct load_header *next;
	size_t n = 0;

	for (size_t i = 0; i < h->n_mix; i++)
		n += h->mix[i].n_headers + h->mix[i].expect.n_headers;
	r->mix = xcalloc(h->n_mix, sizeof(*r->mix));
	r->headers = next = xcalloc(n + 1, sizeof(*r->headers));
	r->bodies = xcalloc(2 * h->n_mix + 1, sizeof(*r->bodies));
	for (size_t i = 0; i < h->n_mix; i++) {
		const struct plan_request *from = &h->mix[i];
		struct load_request *to = &r->mix[i];

		to->method = from->method;
		to->path = from->path;
		to->weight = from->weight;
		to->headers = next;
		to->n_headers = from->n_headers;
		next = copy_headers(next, from->headers, from->n_headers);
		to->expect_headers = next;
		to->n_expect_headers = from->expect.n_headers;
		next = copy_headers(next, from->expect.headers, from->expect.n_headers);
		if (sent_body(arm, from, r, to, err) < 0 ||
			wanted_body(arm, &from->expect, r, to, err) < 0)
			return error_context(err, "request '%s %s'", from->method, from->path);
	}
	return 0;
}

static int find_port(const struct bench *b, const struct plan_http *h, const struct arm *arm,
	uint16_t *ret, struct error *err)
{
	const struct plan_service *subject = plan_subject(b->o->plan);
	const char *service = h->service ? h->service : subject ? subject->name : "";
	auto_free char *name =
		xasprintf("%s.port%s%s", service, h->port ? "." : "", h->port ? h->port : "");
	const char *value = env_get(&arm->vars, name);

	if (!value)
		return error_set(err, ERR_CONFIG, "service '%s' has no port '%s'", service,
			h->port ? h->port : "port");
	*ret = (uint16_t)strtoul(value, NULL, 10);
	return 0;
}

int requests_make(const struct bench *b, const struct plan_phase *phase, const struct arm *arm,
	struct requests *ret, struct error *err)
{
	const struct plan_http *h = &phase->http;
	struct requests r = {0};

	r.plan = (struct load_plan){
		.host = "127.0.0.1",
		.connections = h->connections,
		.requests = h->requests,
		.reuse = h->reuse,
		.n_mix = h->n_mix,
		.seed = b->o->plan->train.seed,
		.timeout_ns = phase->timeout_ns,
	};
	if (find_port(b, h, arm, &r.plan.port, err) < 0 || fill_mix(h, arm, &r, err) < 0) {
		requests_release(&r);
		return error_context(err, "scenario '%s'", phase->name);
	}
	r.plan.mix = r.mix;
	*ret = r;
	return 0;
}

void requests_release(struct requests *r)
{
	for (size_t i = 0; i < r->n_bodies; i++)
		free(r->bodies[i]);
	free(r->bodies);
	free(r->headers);
	free(r->mix);
	memset(r, 0, sizeof(*r));
}
