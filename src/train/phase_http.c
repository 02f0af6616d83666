#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "load/load.h"
#include "train/internal.h"

#define BODY_FILE_MAX ((size_t)1 << 30)
#define LOG_LINES 30
#define NEAR_END_NS (250 * NS_PER_MS)

/* The plan's mix as the driver takes it, with everything that it borrows. */
struct mix {
	struct load_request *v;
	size_t n;
	struct buf *bodies;           /* two for each request: sent, expected */
	struct load_header **headers; /* the same */
};

static void mix_release(struct mix *m)
{
	for (size_t i = 0; i < m->n * 2; i++) {
		buf_release(&m->bodies[i]);
		free(m->headers[i]);
	}
	free(m->v);
	free(m->bodies);
	free(m->headers);
}

static struct load_header *convert_headers(const struct plan_header *v, size_t n)
{
	struct load_header *ret = xcalloc(n + 1, sizeof(*ret));

	for (size_t i = 0; i < n; i++)
		ret[i] = (struct load_header){v[i].name, v[i].value};
	return ret;
}

static int read_body(const char *path, const struct strv *vars, struct buf *ret, struct error *err)
{
	auto_free char *full = NULL;

	if (plan_expand(path, vars, &full, err) < 0)
		return -1;
	return file_read(full, BODY_FILE_MAX, ret, err);
}

/* The same bytes in every run: printable, without a period that compresses to nothing. */
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
	if (sent_body(from, vars, body, err) < 0)
		return -1;
	if (e->body_file && read_body(e->body_file, vars, expected, err) < 0)
		return -1;
	if (e->body)
		buf_adds(expected, e->body);
	m->v[i] = (struct load_request){
		.method = from->method,
		.path = from->path,
		.weight = from->weight ? from->weight : 1,
		.headers = m->headers[i * 2],
		.n_headers = from->n_headers,
		.body = body->n ? body->p : NULL,
		.body_n = body->n,
		.expect_status = e->status ? e->status : 200,
		.expect_bytes = e->bytes,
		.expect_body = e->body || e->body_file ? buf_str(expected) : NULL,
		.expect_body_n = expected->n,
		.expect_headers = m->headers[i * 2 + 1],
		.n_expect_headers = e->n_headers,
	};
	return 0;
}

static int mix_make(
	const struct plan_http *h, const struct strv *vars, struct mix *m, struct error *err)
{
	m->n = h->n_mix;
	m->v = xcalloc(m->n + 1, sizeof(*m->v));
	m->bodies = xcalloc(m->n * 2 + 1, sizeof(*m->bodies));
	m->headers = xcalloc(m->n * 2 + 1, sizeof(struct load_header *));
	for (size_t i = 0; i < m->n; i++)
		if (fill_request(&h->mix[i], vars, m, i, err) < 0)
			return -1;
	return 0;
}

struct ticking {
	struct session *s;
	const struct plan_phase *phase;
	struct running *dead;
	uint64_t done, end;
	uint16_t port;
	char *sockets; /* as they were shortly before the time was up; NULL: not yet near */
};

static int tick(void *ctx, uint64_t done)
{
	struct ticking *t = ctx;

	t->done = done;
	events_progress(
		t->s->o->events, t->s->o->node, t->phase->name, done, t->phase->http.requests);
	session_sample(t->s, false);
	/* Afterwards the driver's ends are closed and nothing is to be seen any more. */
	if (clock_mono_ns() + NEAR_END_NS >= t->end) {
		free(t->sockets);
		t->sockets = sockets_text(t->port);
	}
	t->dead = session_dead(t->s);
	return t->dead ? 1 : 0;
}

static struct running *target(struct session *s, const struct plan_http *h)
{
	for (size_t i = 0; h->service && i < s->n_services; i++)
		if (!strcmp(s->services[i].plan->name, h->service))
			return &s->services[i];
	return h->service ? NULL : session_subject(s);
}

static int find_port(struct session *s, const struct plan_phase *p, struct running **to,
	uint16_t *ret, struct error *err)
{
	auto_free char *name = NULL;
	const char *value;
	unsigned int port = 0;

	*to = target(s, &p->http);
	if (!*to)
		return error_set(err, ERR_CONFIG,
			"no service takes its requests: mark one with 'subject: true' or name it "
			"by 'service'");
	name = xasprintf("%s.port%s%s", (*to)->plan->name, p->http.port ? "." : "",
		p->http.port ? p->http.port : "");
	value = env_get(&s->vars, name);
	if (!value || sscanf(value, "%u", &port) != 1)
		return error_set(err, ERR_CONFIG, "service '%s' has no port '%s'",
			(*to)->plan->name, p->http.port);
	*ret = (uint16_t)port;
	return 0;
}

static char *time_out_text(const struct ticking *t, const struct load_result *l)
{
	struct buf b = BUF_INIT;

	buf_addf(&b, "no end within %.3g s: %llu of %llu requests answered",
		(double)phase_timeout(t->phase) / NS_PER_S, (unsigned long long)l->done,
		(unsigned long long)t->phase->http.requests);
	if (l->problem)
		buf_addf(&b, "; %s", l->problem);
	if (l->sockets)
		buf_addf(&b, "\n%s", l->sockets);
	while (b.n && b.p[b.n - 1] == '\n')
		b.p[--b.n] = '\0';
	if (t->sockets && *t->sockets)
		buf_addf(&b, "\n%s", t->sockets);
	return buf_detach(&b);
}

static void take_result(const struct ticking *t, const struct running *to,
	const struct load_result *l, struct phase_result *r)
{
	r->done = l->done;
	r->wall_ns = l->wall_ns;
	r->driver_cpu_ns = l->cpu_ns;
	r->status = PHASE_FAILED;
	if (l->timed_out) {
		r->status = PHASE_TIMEOUT;
		r->problem = time_out_text(t, l);
	} else if (l->problem) {
		r->problem = xstrdup(l->problem);
	} else if (l->done != r->planned) {
		r->problem = xasprintf("%llu of %llu requests answered",
			(unsigned long long)l->done, (unsigned long long)r->planned);
	} else {
		r->status = PHASE_OK;
	}
	if (r->status != PHASE_OK)
		r->log = service_log_tail(to->s, LOG_LINES);
}

static int run_load(struct session *s, const struct plan_phase *p, const struct mix *m,
	struct phase_result *r, struct error *err)
{
	struct ticking t = {.s = s, .phase = p};
	struct load_result result = {0};
	struct error own = ERROR_INIT;
	struct running *to;
	struct load_plan l = {.host = "127.0.0.1",
		.connections = p->http.connections ? p->http.connections : 32,
		.requests = p->http.requests,
		.reuse = p->http.reuse,
		.mix = m->v,
		.n_mix = m->n,
		.seed = s->o->plan->train.seed,
		.timeout_ns = phase_timeout(p),
		.tick = tick,
		.tick_ctx = &t};

	if (find_port(s, p, &to, &l.port, err) < 0)
		return -1;
	if (l.requests && l.connections > l.requests)
		l.connections = (uint32_t)l.requests;
	t.port = l.port;
	t.end = clock_mono_ns() + l.timeout_ns;
	if (load_run(&l, &result, &own) == 0) {
		take_result(&t, to, &result, r);
		load_result_release(&result);
	} else if (!t.dead) {
		free(t.sockets);
		return error_move(err, &own);
	}
	error_release(&own);
	free(t.sockets);
	if (t.dead) {
		r->status = PHASE_FAILED;
		if (r->done < t.done)
			r->done = t.done;
	}
	return 0;
}

int phase_http(
	struct session *s, const struct plan_phase *p, struct phase_result *r, struct error *err)
{
	struct running *subject = session_subject(s);
	uint64_t before = 0, after = 0;
	struct mix m = {0};
	int result;

	r->planned = p->http.requests;
	result = mix_make(&p->http, &s->vars, &m, err);
	if (result == 0 && subject)
		result = service_cpu_ns(subject->s, &before, err);
	if (result == 0)
		result = run_load(s, p, &m, r, err);
	if (result == 0 && subject)
		result = service_cpu_ns(subject->s, &after, err);
	r->subject_cpu_ns = after - before;
	mix_release(&m);
	return result < 0 ? error_context(err, "phase '%s'", p->name) : 0;
}
