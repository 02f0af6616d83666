/* What stands beside the comparison: hardware counters, and how much of the CPU time was the
 * kernel's. docs/measuring.md. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/internal.h"

/* Fewer samples of the clock say too little of how the time was divided. */
#define TICKS_MIN 50
/* Of a program that ends before the clock has seen it a few times, all is user time. */
#define TICKS_OF_RUN 5

static bool is_on(const struct bench *b)
{
	return b->o->plan->bench.counters != BENCH_COUNTERS_OFF;
}

static bool can_mode(const struct beside *e, enum counter_mode mode)
{
	bool any = false;

	for (size_t k = 0; k < COUNTERS_READ; k++)
		any |= e->source.can[mode][k];
	return e->source.state == COUNTERS_COUNTED && any;
}

void beside_begin(struct bench *b)
{
	if (is_on(b))
		counting_try(&b->beside.source, counting_hardware, &b->beside.result);
}

void beside_release(struct beside *e)
{
	counters_release(&e->result);
	free(e->v);
	free(e->parts);
}

/* ---- The parts of the CPU time --------------------------------------------------------------- */

void beside_rounds_begin(const struct bench *b, const struct scenario *sc, struct asker *v)
{
	for (size_t i = 0; i < b->n_arms; i++) {
		v[i].split = (struct cpu_split){0};
		if (!sc->batch && is_on(b))
			service_cpu_split(v[i].arm->subject, &v[i].split);
	}
}

static uint64_t since(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

void beside_rounds_end(struct bench *b, uint32_t scenario, struct asker *v)
{
	struct beside *e = &b->beside;

	for (uint32_t i = 0; i < b->n_arms && is_on(b); i++) {
		const struct scenario *sc = &b->scenarios[scenario];
		struct parted one = {scenario, i, sc->batch ? sc->slices : 0, v[i].split};

		if (!sc->batch) {
			service_cpu_split(v[i].arm->subject, &one.cpu);
			one.cpu.user_ns = since(one.cpu.user_ns, v[i].split.user_ns);
			one.cpu.kernel_ns = since(one.cpu.kernel_ns, v[i].split.kernel_ns);
		}
		array_reserve(e->parts, e->n_parts, e->cap_parts);
		e->parts[e->n_parts++] = one;
	}
}

static double tick_ns(void)
{
	struct timespec t;

	/* The coarse clock goes on with each tick. */
	if (clock_getres(CLOCK_REALTIME_COARSE, &t) < 0)
		return (double)NS_PER_S / 100;
	return (double)t.tv_sec * NS_PER_S + (double)t.tv_nsec;
}

static void conclude_parts(
	const struct beside *e, uint32_t scenario, uint32_t arm, struct counted *ret)
{
	double user = 0, kernel = 0, runs = 0, share, ticks;

	for (size_t i = 0; i < e->n_parts; i++)
		if (e->parts[i].scenario == scenario && e->parts[i].arm == arm) {
			user += (double)e->parts[i].cpu.user_ns;
			kernel += (double)e->parts[i].cpu.kernel_ns;
			runs += e->parts[i].runs;
		}
	ticks = (user + kernel) / tick_ns();
	ret->kernel_ticks = floor(ticks);
	ret->kernel_ticks_needed = fmax(TICKS_MIN, TICKS_OF_RUN * runs);
	if (ticks < ret->kernel_ticks_needed)
		return;
	share = kernel / (user + kernel);
	ret->kernel_share = share;
	ret->kernel_error = sqrt(share * (1 - share) / ticks);
}

/* ---- Counting -------------------------------------------------------------------------------- */

static size_t list_subject(const void *ctx, pid_t **ret)
{
	return service_tree(ctx, ret);
}

struct counting *beside_open(struct asker *a, bool batch)
{
	struct error err = ERROR_INIT;
	struct counting *c = NULL;
	int r;

	if (!a->beside)
		return NULL;
	r = batch ? counting_programs(&a->beside->source, a->mode, &c, &err)
		  : counting_tree(
			    &a->beside->source, a->mode, list_subject, a->arm->subject, &c, &err);
	if (r < 0) {
		counters_note(&a->beside->result, "variant '%s': %s", a->arm->name, err.msg);
		a->beside = NULL;
	}
	error_release(&err);
	return c;
}

void beside_close(struct asker *a, struct counting *c)
{
	if (c)
		counting_read(c, &a->counted);
	counting_free(c);
}

void beside_choose(struct bench *b, const struct scenario *sc, uint32_t round, struct asker *a)
{
	bool both = can_mode(&b->beside, COUNTER_USER) && can_mode(&b->beside, COUNTER_KERNEL);

	/* A processor has too few counters for both modes at a time; rounds come in pairs. */
	a->mode = both                                 ? (enum counter_mode)(round % COUNTER_MODES)
		  : can_mode(&b->beside, COUNTER_USER) ? COUNTER_USER
						       : COUNTER_KERNEL;
	a->beside = sc->batch && can_mode(&b->beside, a->mode) ? &b->beside : NULL;
}

static struct tally *tally_of(struct beside *e, const struct tally *as)
{
	struct tally *one;

	for (size_t i = e->n; i-- > 0 && e->v[i].launch == as->launch;)
		if (e->v[i].scenario == as->scenario && e->v[i].arm == as->arm &&
			e->v[i].mode == as->mode)
			return &e->v[i];
	array_reserve(e->v, e->n, e->cap);
	one = &e->v[e->n++];
	*one = *as;
	return one;
}

void beside_keep(struct bench *b, uint32_t scenario, uint32_t arm, const struct asker *a,
	const struct sample *one)
{
	const struct tally as = {b->launch, scenario, arm, a->mode, 0, {.running = 1}};
	struct tally *t;

	if (!a->beside)
		return;
	t = tally_of(&b->beside, &as);
	t->requests += one->requests;
	t->sum.running = fmin(t->sum.running, a->counted.running);
	for (size_t k = 0; k < COUNTERS_READ; k++)
		t->sum.v[k] += a->counted.v[k];
}

int beside_rounds(struct bench *b, uint32_t scenario, struct asker *v, struct error *err)
{
	const struct scenario *sc = &b->scenarios[scenario];
	auto_free uint32_t *order = xcalloc(b->n_arms, sizeof(*order));

	if (sc->batch || b->beside.source.state != COUNTERS_COUNTED)
		return 0;
	for (uint32_t i = 0; i < b->n_arms; i++)
		order[i] = i;
	rng_shuffle(&b->rng, order, b->n_arms);
	for (size_t m = 0; m < COUNTER_MODES; m++)
		for (size_t i = 0; i < b->n_arms && can_mode(&b->beside, (enum counter_mode)m);
			i++) {
			uint32_t arm = order[m ? b->n_arms - 1 - i : i];
			struct sample one = {0};

			v[arm].beside = &b->beside;
			v[arm].mode = (enum counter_mode)m;
			if (asker_slice(b, sc, &v[arm], sc->requests, &one, err) < 0)
				return -1;
			beside_keep(b, scenario, arm, &v[arm], &one);
			v[arm].beside = NULL;
		}
	return 0;
}

void beside_moved(struct bench *b, const uint32_t *moved)
{
	struct beside *e = &b->beside;

	for (size_t i = 0; i < e->n; i++)
		e->v[i].scenario = moved[e->v[i].scenario];
	for (size_t i = 0; i < e->n_parts; i++)
		e->parts[i].scenario = moved[e->parts[i].scenario];
}

/* ---- Figures --------------------------------------------------------------------------------- */

/* Of one counter, mode and scenario: per request, by arm and launch. */
struct grid {
	double *v; /* v[arm * launches + launch]; NAN: not counted */
	size_t launches;
};

static double per_request(const struct tally *t, enum counter k)
{
	const double *v = t->sum.v;

	if (k == COUNTER_IPC)
		return v[COUNTER_CYCLES] > 0 ? v[COUNTER_INSTRUCTIONS] / v[COUNTER_CYCLES] : NAN;
	return t->requests ? v[k] / (double)t->requests : NAN;
}

static void fill(const struct bench *b, uint32_t scenario, enum counter_mode m, enum counter k,
	struct grid *g)
{
	const struct beside *e = &b->beside;

	for (size_t i = 0; i < b->n_arms * g->launches; i++)
		g->v[i] = NAN;
	for (size_t i = 0; i < e->n; i++) {
		const struct tally *t = &e->v[i];

		if (t->scenario == scenario && t->mode == m && t->launch < g->launches)
			g->v[t->arm * g->launches + t->launch] = per_request(t, k);
	}
}

/* The launches as pairs of base and arm. A launch without one of them, or where nothing happened,
 * has no ratio. */
static void against_base(const struct grid *g, size_t arm, uint64_t seed, struct counter_figure *f)
{
	auto_free double *d = xcalloc(g->launches, sizeof(*d));
	auto_free double *scratch = xcalloc(g->launches, sizeof(*scratch));
	double low, high;
	size_t n = 0;

	for (size_t l = 0; l < g->launches; l++) {
		double ratio = g->v[arm * g->launches + l] / g->v[l];

		if (isfinite(ratio) && ratio > 0)
			d[n++] = log(ratio);
	}
	if (!n)
		return;
	memcpy(scratch, d, n * sizeof(*d));
	f->ratio = exp(stats_median(scratch, n));
	if (n < STATS_MIN_LAUNCHES)
		return;
	stats_bootstrap(d, 1, n, seed, &low, &high);
	f->low = exp(low);
	f->high = exp(high);
}

static void figure(const struct grid *g, size_t arm, uint64_t seed, struct counter_figure *ret)
{
	auto_free double *scratch = xcalloc(g->launches, sizeof(*scratch));
	size_t n = 0;

	for (size_t l = 0; l < g->launches; l++)
		if (isfinite(g->v[arm * g->launches + l]))
			scratch[n++] = g->v[arm * g->launches + l];
	ret->value = stats_median(scratch, n);
	if (arm)
		against_base(g, arm, seed, ret);
}

/* Rows of one scenario, all arms. */
static void conclude_scenario(
	const struct bench *b, uint32_t scenario, const char *name, struct counters *ret)
{
	uint64_t seed = b->o->plan->bench.seed;
	auto_free double *v = xcalloc(b->n_arms * (b->launches + 1), sizeof(*v));
	struct grid g = {v, b->launches};
	size_t first = ret->n;

	for (uint32_t arm = 0; arm < b->n_arms; arm++)
		conclude_parts(&b->beside, scenario, arm,
			counters_add(ret, name, b->names[arm],
				b->scenarios[scenario].phase->kind == PHASE_RUN));
	for (size_t m = 0; m < COUNTER_MODES; m++)
		for (size_t k = 0; k < COUNTERS; k++) {
			fill(b, scenario, (enum counter_mode)m, (enum counter)k, &g);
			for (size_t arm = 0; arm < b->n_arms; arm++)
				figure(&g, arm, seed, &ret->v[first + arm].v[m][k]);
		}
}

/* What counters that were handed out turned out to be. Those of some virtual machines never count;
 * others are never given to us. Says so when nothing was counted at all. */
static enum counters_state state_of(const struct beside *e, struct counters *note)
{
	size_t given = 0;

	for (size_t i = 0; i < e->n; i++)
		for (size_t k = 0; k < COUNTERS_READ; k++) {
			if (e->v[i].sum.v[k] > 0)
				return e->result.state;
			given += !isnan(e->v[i].sum.v[k]);
		}
	if (!e->n)
		return e->result.state;
	if (given) {
		counters_note(note, "hardware counters are absent: this machine hands them out, "
				    "but they stand still, as in some virtual machines");
		return COUNTERS_ABSENT;
	}
	counters_note(note, "hardware counters are denied: no event ever had one, as when a "
			    "profiler or the NMI watchdog (kernel.nmi_watchdog) holds them");
	return COUNTERS_DENIED;
}

void beside_conclude(const struct bench *b, const char *const *scenarios, struct counters *ret)
{
	const struct beside *e = &b->beside;
	bool counted;

	if (!is_on(b))
		return;
	if (e->result.note)
		counters_note(ret, "%s", e->result.note);
	ret->state = state_of(e, ret);
	counted = ret->state == e->result.state;
	ret->running = NAN;
	for (size_t i = 0; i < e->n; i++)
		ret->running = fmin(ret->running, e->v[i].sum.running);
	for (uint32_t s = 0; s < b->n_scenarios; s++)
		conclude_scenario(b, s, scenarios[s], ret);
	if (counted)
		return;
	for (size_t i = 0; i < ret->n; i++)
		for (size_t m = 0; m < COUNTER_MODES; m++)
			for (size_t k = 0; k < COUNTERS; k++)
				ret->v[i].v[m][k] = (struct counter_figure){NAN, NAN, NAN, NAN};
}
