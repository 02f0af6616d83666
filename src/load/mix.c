#include "load/mix.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"

#define BODY_FILE_MAX ((size_t)1 << 30)
#define CONNECTIONS_DEFAULT 32

void mix_release(struct mix *m)
{
	for (size_t i = 0; i < m->n * 2; i++) {
		buf_release(&m->bodies[i]);
		free(m->headers[i]);
	}
	for (size_t i = 0; i < m->n; i++)
		free(m->learned[i]);
	free(m->learned);
	free(m->requests);
	free(m->bodies);
	free(m->headers);
	*m = (struct mix){0};
}

static struct load_header *convert_headers(const struct plan_header *v, size_t n)
{
	struct load_header *ret = xcalloc(n + 1, sizeof(*ret));

	for (size_t i = 0; i < n; i++)
		ret[i] = (struct load_header){v[i].name, v[i].value};
	return ret;
}

static struct load_learned *convert_learned(const struct plan_learned *v, size_t n)
{
	struct load_learned *ret = xcalloc(n + 1, sizeof(*ret));

	for (size_t i = 0; i < n; i++)
		ret[i] = (struct load_learned){v[i].name, v[i].from};
	return ret;
}

static int read_body(const char *path, const struct strv *vars, struct buf *ret, struct error *err)
{
	auto_free char *full = NULL;

	if (plan_expand(path, vars, &full, err) < 0)
		return -1;
	return file_read(full, BODY_FILE_MAX, ret, err);
}

/* The same bytes in every run (xorshift32, Marsaglia 2003): printable, without a period that
 * compresses to nothing. */
static void generate_body(uint64_t n, struct buf *ret)
{
	uint32_t x = 2463534242;

	for (uint64_t i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		buf_addc(ret, (char)('a' + x % 26));
	}
}

static int sent_body(
	const struct plan_request *r, const struct strv *vars, struct buf *ret, struct error *err)
{
	if (r->body_file)
		return read_body(r->body_file, vars, ret, err);
	if (r->body_text)
		buf_adds(ret, r->body_text);
	else
		generate_body(r->body_bytes, ret);
	return 0;
}

static int fill_request(const struct plan_request *from, const struct strv *vars, struct mix *m,
	size_t i, struct error *err)
{
	const struct plan_expect *e = &from->expect;
	struct buf *body = &m->bodies[i * 2], *expected = &m->bodies[i * 2 + 1];

	m->headers[i * 2] = convert_headers(from->headers, from->n_headers);
	m->headers[i * 2 + 1] = convert_headers(e->headers, e->n_headers);
	m->learned[i] = convert_learned(from->learned, from->n_learned);
	if (sent_body(from, vars, body, err) < 0)
		return -1;
	if (e->body_file && read_body(e->body_file, vars, expected, err) < 0)
		return -1;
	if (e->body)
		buf_adds(expected, e->body);
	m->requests[i] = (struct load_request){
		.method = from->method,
		.path = from->path,
		.weight = from->weight ? from->weight : 1,
		.headers = m->headers[i * 2],
		.n_headers = from->n_headers,
		.body = body->n ? body->p : NULL,
		.body_n = body->n,
		.chunk = (size_t)from->body_chunk,
		.learned = m->learned[i],
		.n_learned = from->n_learned,
		.expect_status = from->messages ? 101
				 : e->status    ? e->status
						: 200,
		.expect_any = e->any,
		.n_expect_any = e->n_any,
		.expect_bytes = e->bytes,
		.expect_body = e->body || e->body_file ? buf_str(expected) : NULL,
		.expect_body_n = expected->n,
		.expect_sha256 = e->sha256,
		.expect_headers = m->headers[i * 2 + 1],
		.n_expect_headers = e->n_headers,
		.websocket = {from->messages, (size_t)from->message_size, (size_t)from->frame,
			from->binary},
		.events = {from->events, from->events_end},
	};
	return 0;
}

static int fill_requests(
	const struct plan_http *h, const struct strv *vars, struct mix *m, struct error *err)
{
	m->n = h->n_mix;
	m->requests = xcalloc(m->n + 1, sizeof(*m->requests));
	m->bodies = xcalloc(m->n * 2 + 1, sizeof(*m->bodies));
	m->headers = xcalloc(m->n * 2 + 1, sizeof(struct load_header *));
	m->learned = xcalloc(m->n + 1, sizeof(struct load_learned *));
	for (size_t i = 0; i < m->n; i++)
		if (fill_request(&h->mix[i], vars, m, i, err) < 0)
			return error_context(
				err, "request '%s %s'", h->mix[i].method, h->mix[i].path);
	m->plan.mix = m->requests;
	m->plan.n_mix = m->n;
	return 0;
}

/* Where the service answered when it became ready. The result is borrowed from vars. */
static const char *find_host(
	const struct plan *plan, const struct plan_http *h, const struct strv *vars)
{
	const struct plan_service *subject = plan_subject(plan);
	const char *service = h->service ? h->service : subject ? subject->name : "";
	auto_free char *name = xasprintf("%s.host", service);
	const char *host = env_get(vars, name);

	return host ? host : "127.0.0.1";
}

static int find_port(const struct plan *plan, const struct plan_http *h, const struct strv *vars,
	uint16_t *ret, struct error *err)
{
	const struct plan_service *subject = plan_subject(plan);
	const char *service = h->service ? h->service : subject ? subject->name : NULL;
	auto_free char *name = NULL;
	const char *value;
	unsigned int port;

	if (!service)
		return error_set(err, ERR_CONFIG,
			"no service takes its requests: mark one with 'subject: true' or name it "
			"by 'service'");
	name = xasprintf("%s.port%s%s", service, h->port ? "." : "", h->port ? h->port : "");
	value = env_get(vars, name);
	if (!value || sscanf(value, "%u", &port) != 1 || port == 0 || port > UINT16_MAX)
		return error_set(err, ERR_CONFIG, "service '%s' has no port '%s'", service,
			h->port ? h->port : "port");
	*ret = (uint16_t)port;
	return 0;
}

int mix_make(const struct plan *plan, const struct plan_phase *phase, const struct strv *vars,
	struct mix *ret, struct error *err)
{
	const struct plan_http *h = &phase->http;
	static const enum load_protocol protocols[] = {[PROTOCOL_H1] = LOAD_H1,
		[PROTOCOL_H1_TLS] = LOAD_H1_TLS,
		[PROTOCOL_H2] = LOAD_H2,
		[PROTOCOL_H2_TLS] = LOAD_H2_TLS};
	struct mix m = {0};

	m.plan = (struct load_plan){
		.host = find_host(plan, h, vars),
		.protocol = protocols[h->protocol],
		.streams = h->streams,
		.no_resume = !h->resume,
		.rate = h->rate,
		.connections = h->connections ? h->connections : CONNECTIONS_DEFAULT,
		.requests = h->requests,
		.reuse = h->reuse,
		.seed = plan->train.seed,
		.timeout_ns = phase->timeout_ns,
	};
	if (m.plan.requests && m.plan.connections > m.plan.requests)
		m.plan.connections = (uint32_t)m.plan.requests;
	if (find_port(plan, h, vars, &m.plan.port, err) < 0 ||
		fill_requests(h, vars, &m, err) < 0) {
		mix_release(&m);
		return -1;
	}
	*ret = m;
	return 0;
}
