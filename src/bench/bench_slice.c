#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "bench/internal.h"
#include "service/tree.h"

#define WARM_NS (200 * NS_PER_MS) /* at least */
#define WARM_MOST_NS (10 * NS_PER_S)
#define SETTLE_NS                                                                                  \
	NS_PER_MS /* for what a server does after its last answer, logging for example             \
		   */
#define IDLE_SETTLE_NS                                                                             \
	(50 * NS_PER_MS) /* closing the connections of a scenario costs the server                 \
			  */
#define IDLE_NS (100 * NS_PER_MS)
#define IDLE_LONG_NS (500 * NS_PER_MS) /* before a warning: one burst of 1 ms is not a habit */
#define IDLE_SHARE 0.01

static uint64_t ns_of(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * NS_PER_S + (uint64_t)t->tv_usec * 1000;
}

static void pause_ns(uint64_t ns)
{
	struct timespec t = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};

	while (nanosleep(&t, &t) < 0 && errno == EINTR)
		;
}

/* ---- One slice ------------------------------------------------------------------------------ */

/* What happened to the service, " (…)" or "". Caller frees. */
static char *fate(const struct service *s)
{
	auto_free char *how = NULL;

	if (!service_alive(s))
		return xstrdup(" (the service has ended)");
	return service_lost(s, &how) == LOSS_NONE ? xstrdup("") : xasprintf(" (%s)", how);
}

static int refused(const struct asker *a, const struct load_result *r, struct error *err)
{
	auto_free char *tail = service_log_tail(a->arm->subject, LOG_LINES);
	auto_free char *alive = fate(a->arm->subject);

	if (r->timed_out)
		return error_set(err, ERR_TIMEOUT,
			"no answer in time%s; %s\nlast lines of the service's log:\n%s", alive,
			r->sockets ? r->sockets : "", tail);
	return error_set(err, ERR_CHILD, "%s%s\nlast lines of the service's log:\n%s",
		r->problem ? r->problem : "requests are missing", alive, tail);
}

static int ask(struct asker *a, uint64_t requests, struct sample *one, struct error *err)
{
	struct load_result r = {0};
	int failed = 0;

	if (load_slice(a->load, requests, &r, err) < 0)
		return -1;
	if (r.problem || r.timed_out || r.done != requests)
		failed = refused(a, &r, err);
	one->requests = r.done;
	one->wall_ns = r.wall_ns;
	one->driver_cpu_ns = r.cpu_ns;
	one->latency_p50_ns = r.latency_p50_ns;
	one->latency_p99_ns = r.latency_p99_ns;
	a->sum.wall_ns += r.wall_ns;
	a->sum.cpu_ns += r.cpu_ns;
	a->sum.latency_p50_ns = r.latency_p50_ns;
	load_result_release(&r);
	return failed;
}

/* A command that owns a terminal is a tree of its own. */
static int run_on_terminal(const struct proc_options *p, const struct asker *a, uint64_t timeout_ns,
	struct proc_exit *end, struct error *err)
{
	struct tree *t;
	int r;

	if (tree_start_terminal(p, &t, err) < 0)
		return -1;
	r = batch_started(a->batch, err);
	if (r == 0 && tree_wait_main(t, timeout_ns) != 0)
		r = error_set(err, ERR_TIMEOUT, "'%s' did not end within %.0f s", a->command,
			(double)timeout_ns / NS_PER_S);
	if (tree_kill(t, r < 0 ? NULL : err) < 0)
		r = -1;
	(void)tree_main_ended(t, end);
	tree_free(t);
	return r;
}

static int run_command(const struct scenario *sc, const struct asker *a, struct proc_options *p,
	struct proc_exit *end, uint64_t *wall, struct error *err)
{
	uint64_t timeout = sc->phase->timeout_ns, start;
	int r;

	if (batch_begin(a->batch, p, err) < 0)
		return -1;
	start = clock_mono_ns();
	r = batch_on_terminal(a->batch) ? run_on_terminal(p, a, timeout, end, err)
					: proc_run(p, timeout, end, err);
	*wall = clock_mono_ns() - start;
	batch_ended(a->batch);
	return r;
}

static int judge_run(
	const struct asker *a, const struct proc_exit *end, const char *log, struct error *err)
{
	auto_free char *fault = NULL, *tail = NULL;

	if (batch_fault(a->batch, end, &fault, err) < 0)
		return -1;
	if (!fault)
		return 0;
	tail = batch_output_tail(a->batch, LOG_LINES);
	if (!tail)
		tail = file_tail(log, LOG_LINES);
	return error_set(err, ERR_CHILD, "'%s': %s; its last output:\n%s", a->command, fault, tail);
}

/* User and kernel time of all children that were waited for. */
static void add_children(struct cpu_split *sum, int sign)
{
	struct rusage u;

	if (getrusage(RUSAGE_CHILDREN, &u) < 0)
		return;
	sum->user_ns += (uint64_t)sign * ns_of(&u.ru_utime);
	sum->kernel_ns += (uint64_t)sign * ns_of(&u.ru_stime);
}

static int run(const struct bench *b, const struct scenario *sc, struct asker *a,
	struct sample *one, struct error *err)
{
	auto_strv struct strv argv = STRV_INIT;
	auto_free char *path = path_join(a->arm->folder, "run.log");
	auto_close int log = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	struct proc_options p = PROC_OPTIONS_INIT;
	struct proc_exit end;
	uint64_t wall;
	int r;

	if (a->prefix)
		strv_add_all(&argv, a->prefix);
	strv_add(&argv, "/bin/sh");
	strv_add(&argv, "-c");
	strv_add(&argv, a->command);
	p.argv = &argv;
	p.env = &a->arm->env;
	p.cwd = b->o->plan->root;
	p.out_fd = p.err_fd = log;
	p.cpu = sc->batch ? b->cores.subject : b->cores.driver;
	add_children(&a->split, -1);
	r = run_command(sc, a, &p, &end, &wall, err);
	add_children(&a->split, 1);
	if (r < 0 || judge_run(a, &end, path, err) < 0)
		return -1;
	one->requests = 1;
	one->wall_ns = wall;
	one->driver_cpu_ns = sc->batch ? 0 : end.cpu_ns;
	one->cpu_ns = end.cpu_ns;
	return 0;
}

/* Fills requests, CPU and wall time. requests: how many, 1 for a run. */
static int slice(const struct bench *b, const struct scenario *sc, struct asker *a,
	uint64_t requests, struct sample *one, struct error *err)
{
	uint64_t before, after;

	if (sc->batch)
		return run(b, sc, a, one, err);
	if (service_cpu_ns(a->arm->subject, &before, err) < 0)
		return -1;
	if ((sc->phase->kind == PHASE_HTTP ? ask(a, requests, one, err) : run(b, sc, a, one, err)) <
		0)
		return -1;
	pause_ns(SETTLE_NS);
	if (service_cpu_ns(a->arm->subject, &after, err) < 0)
		return -1;
	one->cpu_ns = after - before;
	a->server_cpu_ns += one->cpu_ns;
	return 0;
}

int asker_slice(const struct bench *b, const struct scenario *sc, struct asker *a,
	uint64_t requests, struct sample *one, struct error *err)
{
	struct counting *counting = beside_open(a, sc->batch);
	int r = slice(b, sc, a, requests, one, err);

	beside_close(a, counting);
	if (r < 0)
		return error_context(err, "scenario '%s', variant '%s', launch %u", sc->phase->name,
			a->arm->name, b->launch + 1);
	return 0;
}

/* ---- Warm-up and calibration ---------------------------------------------------------------- */

/* All arms do the same number of requests, so that each position of the request order meets the
 * same slice in all of them. costs: of each arm, CPU per request; NULL: not asked. */
static int warm(const struct bench *b, const struct scenario *sc, struct asker *v,
	uint64_t requests, uint64_t *base_wall, double *costs, struct error *err)
{
	for (size_t i = 0; i < b->n_arms; i++) {
		struct sample one = {0};

		if (asker_slice(b, sc, &v[i], requests, &one, err) < 0)
			return -1;
		if (i == 0)
			*base_wall = one.wall_ns ? one.wall_ns : 1;
		if (costs)
			costs[i] = (double)one.cpu_ns / (double)one.requests;
	}
	return 0;
}

/* How many requests take about one slice, by the base. */
static int calibrate(const struct bench *b, struct scenario *sc, struct asker *v, struct error *err)
{
	uint64_t slice_ns = b->o->plan->bench.slice_ns;
	const struct plan_http *h = &sc->phase->http;
	uint64_t least = (uint64_t)h->connections * h->streams, n = least > 64 ? least : 64, wall;
	double want;

	for (;;) {
		if (warm(b, sc, v, n, &wall, NULL, err) < 0)
			return -1;
		want = (double)n * (double)slice_ns / (double)wall;
		if (wall >= slice_ns / 2)
			break;
		n = want > 8.0 * (double)n ? 8 * n : (uint64_t)want + 1;
	}
	sc->requests = want > (double)least ? (uint64_t)want : least;
	return 0;
}

/* The first launch finds how long the slowest arm takes until its requests become no cheaper; the
 * other launches warm up as long. */
static int find_warm_up(struct bench *b, struct scenario *sc, struct asker *v, struct error *err)
{
	uint64_t slice_ns = b->o->plan->bench.slice_ns, wall;
	size_t least = WARM_NS / slice_ns + 1, fit = WARM_MOST_NS / slice_ns, n = 0;
	size_t most = fit > STATS_STEADY_NEEDS ? fit : STATS_STEADY_NEEDS;
	auto_free double *round = xcalloc(b->n_arms, sizeof(*round));
	auto_free double *costs = xcalloc(b->n_arms * most, sizeof(*costs));
	bool steady = false;

	while ((!steady || n < least) && n < most) {
		if (warm(b, sc, v, sc->requests, &wall, round, err) < 0)
			return -1;
		steady = true;
		for (size_t i = 0; i < b->n_arms; i++) {
			costs[i * most + n] = round[i];
			steady &= stats_steady(&costs[i * most], n + 1);
		}
		n++;
	}
	if (!steady)
		bench_warn(b,
			"scenario '%s' still became cheaper after %.1f s of warm-up for each "
			"variant: "
			"its figures are those of a service that is not warm yet",
			sc->phase->name, (double)(n * slice_ns) / NS_PER_S);
	/* What came last was steady already. */
	n -= steady ? STATS_STEADY_NEEDS / 2 : 0;
	sc->warm_rounds = (uint32_t)(n > least ? n : least);
	return 0;
}

static int warm_http(struct bench *b, struct scenario *sc, struct asker *v, struct error *err)
{
	uint64_t wall;

	if (!sc->requests && calibrate(b, sc, v, err) < 0)
		return -1;
	if (!sc->warm_rounds)
		return find_warm_up(b, sc, v, err);
	for (uint32_t i = 0; i < sc->warm_rounds; i++)
		if (warm(b, sc, v, sc->requests, &wall, NULL, err) < 0)
			return -1;
	return 0;
}

/* A run is a slice however long it takes; a long one is repeated less often, in pairs. */
static int warm_run(const struct bench *b, struct scenario *sc, struct asker *v, struct error *err)
{
	const struct plan_bench *pb = &b->o->plan->bench;
	uint64_t wall, fit;

	if (warm(b, sc, v, 1, &wall, NULL, err) < 0)
		return -1;
	if (sc->requests)
		return 0;
	/* The first run of all may have made what the others use: it does not tell how long one
	 * takes. */
	if (warm(b, sc, v, 1, &wall, NULL, err) < 0)
		return -1;
	sc->requests = 1;
	fit = pb->slices * pb->slice_ns / wall;
	sc->slices = fit < 2 ? 2 : fit < pb->slices ? (uint32_t)(fit + fit % 2) : pb->slices;
	return 0;
}

/* ---- A scenario ----------------------------------------------------------------------------- */

static int open_run(
	const struct bench *b, const struct scenario *sc, struct asker *a, struct error *err)
{
	auto_free char *prefix = path_join(a->arm->folder, "run");
	struct batch_options o = {.phase = sc->phase,
		.vars = &a->arm->vars,
		.root = b->o->plan->root,
		.prefix = prefix,
		.seed = b->o->plan->train.seed};

	return plan_expand(sc->phase->run, &a->arm->vars, &a->command, err) < 0
		       ? -1
		       : batch_open(&o, &a->batch, err);
}

int asker_open(const struct bench *b, const struct scenario *sc, struct asker *a, struct error *err)
{
	int r;

	if (sc->phase->kind == PHASE_RUN)
		r = open_run(b, sc, a, err);
	else
		r = mix_make(b->o->plan, sc->phase, &a->arm->vars, &a->mix, err) < 0
			    ? -1
			    : load_open(&a->mix.plan, &a->load, err);
	return r < 0 ? error_context(err, "scenario '%s'", sc->phase->name) : 0;
}

void asker_close(struct asker *a)
{
	if (a->load)
		load_close(a->load);
	mix_release(&a->mix);
	free(a->command);
	batch_close(a->batch);
}

static int open_askers(
	const struct bench *b, const struct scenario *sc, struct asker *v, struct error *err)
{
	for (size_t i = 0; i < b->n_arms; i++) {
		v[i].arm = &b->arms[i];
		if (asker_open(b, sc, &v[i], err) < 0)
			return -1;
	}
	return 0;
}

static void tell(const struct bench *b, const struct scenario *sc, uint32_t round)
{
	uint64_t done = b->done * 100 + round * 100 / sc->slices, total = b->total * 100;
	double spent = (double)(clock_mono_ns() - b->begun) / NS_PER_S;
	auto_free char *text = NULL;

	if (done)
		text = xasprintf("launch %u of %u: %s, about %.0f s left", b->launch + 1,
			b->launches, sc->phase->name,
			ceil(spent / (double)done * (double)(total - done)));
	else
		text = xasprintf(
			"launch %u of %u: %s", b->launch + 1, b->launches, sc->phase->name);
	events_progress(b->o->events, b->o->node, text, done, total);
}

/* Rounds in a random order and then in the same one backwards: whoever came first comes last. */
static int measure_rounds(struct bench *b, uint32_t scenario, struct asker *v, struct error *err)
{
	const struct scenario *sc = &b->scenarios[scenario];
	auto_free uint32_t *order = xcalloc(b->n_arms, sizeof(*order));

	for (uint32_t i = 0; i < b->n_arms; i++)
		order[i] = i;
	beside_rounds_begin(b, sc, v);
	for (uint32_t round = 0; round < sc->slices; round++) {
		tell(b, sc, round);
		if (canary_run(b, err) < 0)
			return -1;
		if (round % 2 == 0)
			rng_shuffle(&b->rng, order, b->n_arms);
		for (size_t i = 0; i < b->n_arms; i++) {
			uint32_t arm = order[round % 2 ? b->n_arms - 1 - i : i];
			struct sample one = {b->launch, scenario, arm, round, 0, 0, 0, 0};

			beside_choose(b, sc, round, &v[arm]);
			if (asker_slice(b, sc, &v[arm], sc->requests, &one, err) < 0)
				return -1;
			samples_add(&b->samples, &one);
			beside_keep(b, scenario, arm, &v[arm], &one);
		}
	}
	beside_rounds_end(b, scenario, v);
	return 0;
}

/* Once, by the base: the driver does the same for all arms. */
static void warn_remark(struct bench *b, const struct scenario *sc, const struct asker *base)
{
	auto_free char *remark = NULL;

	if (b->launch || sc->phase->kind != PHASE_HTTP)
		return;
	remark = load_remark(&base->sum, base->server_cpu_ns);
	if (remark)
		bench_warn(b, "scenario '%s': %s", sc->phase->name, remark);
}

int scenario_measure(struct bench *b, uint32_t scenario, struct error *err)
{
	struct scenario *sc = &b->scenarios[scenario];
	auto_free struct asker *v = xcalloc(b->n_arms, sizeof(*v));
	int r;

	tell(b, sc, 0);
	r = open_askers(b, sc, v, err);
	if (r == 0)
		r = sc->phase->kind == PHASE_HTTP ? warm_http(b, sc, v, err)
						  : warm_run(b, sc, v, err);
	/* Some begin their workers with the first request only. */
	launch_watch(b);
	if (r == 0)
		r = measure_rounds(b, scenario, v, err);
	if (r == 0)
		r = beside_rounds(b, scenario, v, err);
	if (r == 0)
		warn_remark(b, sc, v);
	for (size_t i = 0; i < b->n_arms; i++)
		asker_close(&v[i]);
	return r;
}

/* The share of a processor that each arm's subject uses in this time; shares: one per arm. */
static int idle_shares(struct bench *b, uint64_t ns, double *shares, struct error *err)
{
	auto_free uint64_t *before = xcalloc(b->n_arms, sizeof(*before));
	auto_free uint64_t *begun = xcalloc(b->n_arms, sizeof(*begun));
	uint64_t after;

	for (size_t i = 0; i < b->n_arms; i++) {
		begun[i] = clock_mono_ns();
		if (b->arms[i].subject && service_cpu_ns(b->arms[i].subject, &before[i], err) < 0)
			return -1;
	}
	pause_ns(ns);
	for (size_t i = 0; i < b->n_arms; i++) {
		if (!b->arms[i].subject)
			continue;
		if (service_cpu_ns(b->arms[i].subject, &after, err) < 0)
			return -1;
		shares[i] = (double)(after - before[i]) / (double)(clock_mono_ns() - begun[i]);
	}
	return 0;
}

int idle_check(struct bench *b, struct error *err)
{
	auto_free double *first = xcalloc(b->n_arms, sizeof(*first));
	auto_free double *again = xcalloc(b->n_arms, sizeof(*again));
	bool suspect = false;

	pause_ns(IDLE_SETTLE_NS);
	if (idle_shares(b, IDLE_NS, first, err) < 0)
		return -1;
	for (size_t i = 0; i < b->n_arms; i++)
		suspect |= first[i] > IDLE_SHARE;
	if (suspect && idle_shares(b, IDLE_LONG_NS, again, err) < 0)
		return -1;
	for (size_t i = 0; i < b->n_arms; i++)
		if (again[i] > IDLE_SHARE)
			bench_warn(b,
				"variant '%s' uses more than %.0f %% of a processor while nobody "
				"asks it; that is "
				"part of its figures",
				b->arms[i].name, IDLE_SHARE * 100);
	return 0;
}
