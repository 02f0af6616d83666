#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "load/mix.h"
#include "train/internal.h"

#define LOG_LINES 30
#define NEAR_END_NS (250 * NS_PER_MS)

struct ticking {
	struct session *s;
	const struct plan_phase *phase;
	struct running *dead;
	uint64_t done, end;
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
		t->sockets = sockets_text(t->s);
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
	if (r->status == PHASE_TIMEOUT)
		r->log = logs_text(t->s, to);
	else if (r->status != PHASE_OK && to)
		r->log = service_log_tail(to->s, LOG_LINES);
}

/* What held the run up belongs to a failure, and is worth a note after a success. */
static void tell_remark(const struct ticking *t, const struct load_result *l, uint64_t server_cpu,
	struct phase_result *r)
{
	auto_free char *remark = load_remark(l, server_cpu);
	char *both;

	if (!remark)
		return;
	if (r->status == PHASE_OK) {
		events_note(t->s->o->events, "phase '%s': %s", t->phase->name, remark);
		return;
	}
	both = xasprintf("%s\n%s", r->problem, remark);
	free(r->problem);
	r->problem = both;
}

static int cpu_of(const struct running *x, uint64_t *ret, struct error *err)
{
	*ret = 0;
	return x ? service_cpu_ns(x->s, ret, err) : 0;
}

/* The CPU of the service that is asked, and of the subject, during the run. */
struct cpu_pair {
	uint64_t asked, subject;
};

static int cpu_read(
	struct session *s, const struct plan_phase *p, struct cpu_pair *ret, struct error *err)
{
	if (cpu_of(target(s, &p->http), &ret->asked, err) < 0)
		return -1;
	return cpu_of(session_subject(s), &ret->subject, err);
}

static int run_load(struct session *s, const struct plan_phase *p, struct mix *m,
	struct phase_result *r, struct error *err)
{
	struct ticking t = {.s = s, .phase = p};
	struct load_result result = {0};
	struct error own = ERROR_INIT;
	struct cpu_pair before, after;

	m->plan.tick = tick;
	m->plan.tick_ctx = &t;
	if (cpu_read(s, p, &before, err) < 0)
		return -1;
	t.end = clock_mono_ns() + phase_timeout(p);
	if (load_run(&m->plan, &result, &own) < 0 && !t.dead) {
		free(t.sockets);
		return error_move(err, &own);
	}
	error_release(&own);
	if (cpu_read(s, p, &after, err) < 0) {
		free(t.sockets);
		load_result_release(&result);
		return -1;
	}
	r->subject_cpu_ns = after.subject - before.subject;
	if (!t.dead) {
		take_result(&t, target(s, &p->http), &result, r);
		tell_remark(&t, &result, after.asked - before.asked, r);
	} else {
		r->status = PHASE_FAILED;
		r->done = t.done;
	}
	load_result_release(&result);
	free(t.sockets);
	return 0;
}

int phase_http(
	struct session *s, const struct plan_phase *p, struct phase_result *r, struct error *err)
{
	struct mix m = {0};
	int result;

	r->planned = p->http.requests;
	result = mix_make(s->o->plan, p, &s->vars, &m, err);
	if (result == 0)
		result = run_load(s, p, &m, r, err);
	mix_release(&m);
	return result < 0 ? error_context(err, "phase '%s'", p->name) : 0;
}
