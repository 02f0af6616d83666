#include "bench/bench.h"

#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "bench/internal.h"

#define LAUNCHES_MAX 1000
#define ARMS_MAX 26 /* one letter each */

void bench_warn(struct bench *b, const char *fmt, ...)
{
	auto_buf struct buf text = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	if (strv_has(&b->warnings, buf_str(&text)))
		return;
	strv_add(&b->warnings, buf_str(&text));
	events_warning(b->o->events, "%s", buf_str(&text));
}

/* The first service that the phase needs and that was left out; NULL: none. */
static const struct plan_service *lacks(const struct bench *b, const struct plan_phase *phase)
{
	const struct plan_train *t = &b->o->plan->train;

	for (size_t i = 0; i < t->n_services; i++)
		if (b->left_out[i] && plan_phase_uses(phase, &t->services[i]))
			return &t->services[i];
	return NULL;
}

/* 1: the phase's condition holds, 0: it does not. */
static int is_wanted(struct bench *b, const struct plan_phase *phase, struct error *err)
{
	const struct plan_service *missing = lacks(b, phase);
	int r;

	if (missing) {
		bench_warn(b,
			"scenario '%s' was not measured: the condition of service '%s' does not "
			"hold",
			phase->name, missing->name);
		return 0;
	}
	if (!phase->when)
		return 1;
	r = service_condition(phase->when, &b->arms[0].vars, &b->arms[0].env, b->o->plan->root,
		phase->timeout_ns, err);
	if (r < 0)
		return error_context(err, "scenario '%s', when", phase->name);
	if (r)
		return 1;
	bench_warn(b, "scenario '%s' was not measured: its condition '%s' does not hold",
		phase->name, phase->when);
	return 0;
}

/* On the first launch, when the services are up: conditions may ask them. Those of the present
 * combination of settings. */
static int mark_unwanted(struct bench *b, struct error *err)
{
	for (size_t i = 0; i < b->n_scenarios; i++) {
		struct scenario *sc = &b->scenarios[i];
		int wanted;

		if (sc->combination != b->combination)
			continue;
		wanted = is_wanted(b, sc->phase, err);
		if (wanted < 0)
			return -1;
		sc->dropped = !wanted;
		b->total -= sc->dropped ? b->launches : 0;
	}
	return 0;
}

/* After the first launch, of which there are samples already. */
static int drop_unwanted(struct bench *b, struct error *err)
{
	auto_free uint32_t *moved = xcalloc(b->n_scenarios + 1, sizeof(*moved));
	size_t kept = 0;

	for (size_t i = 0; i < b->n_scenarios; i++) {
		moved[i] = (uint32_t)kept;
		if (!b->scenarios[i].dropped)
			b->scenarios[kept++] = b->scenarios[i];
	}
	for (size_t i = 0; i < b->samples.n; i++)
		b->samples.v[i].scenario = moved[b->samples.v[i].scenario];
	beside_moved(b, moved);
	b->n_scenarios = kept;
	if (!kept)
		return error_set(err, ERR_CONFIG,
			"bench: there is no scenario to measure: no condition holds");
	return 0;
}

static bool runs_binary(const char *command)
{
	return strstr(command, "{binary}") || strstr(command, "{binary.");
}

static int add_scenario(struct bench *b, const char *name, struct error *err)
{
	struct scenario *sc = &b->scenarios[b->n_scenarios++];
	const struct plan_phase *phase = plan_find_scenario(b->o->plan, name, &sc->combination);

	if (!phase)
		return error_set(err, ERR_CONFIG, "bench: there is no phase '%s'", name);
	for (size_t i = 0; i + 1 < b->n_scenarios; i++)
		if (b->scenarios[i].phase == phase &&
			b->scenarios[i].combination == sc->combination)
			return error_set(err, ERR_CONFIG,
				"scenario '%s' would be measured twice, as '%s' and '%s': leave "
				"one out",
				phase->name, b->scenarios[i].given, name);
	sc->given = name;
	sc->phase = phase;
	sc->slices = b->o->plan->bench.slices;
	sc->batch = phase->kind == PHASE_RUN && runs_binary(phase->run);
	if (!sc->batch && !plan_subject(b->o->plan))
		return error_set(err, ERR_CONFIG,
			"scenario '%s' cannot be measured: no service is the subject, and the "
			"phase does not "
			"run {binary} itself",
			phase->name);
	return 0;
}

static int choose_scenarios(struct bench *b, struct error *err)
{
	const struct plan *plan = b->o->plan;
	const struct strv *names = &plan->bench.scenarios;
	size_t n = names->n ? names->n : plan->train.n_phases;

	b->scenarios = xcalloc(n + 1, sizeof(*b->scenarios));
	for (size_t i = 0; i < n; i++)
		if (add_scenario(b, names->n ? names->v[i] : plan->train.phases[i].name, err) < 0)
			return -1;
	if (!b->n_scenarios)
		return error_set(err, ERR_CONFIG, "bench: there is no scenario to measure");
	return 0;
}

static int make_arms(struct bench *b, struct error *err)
{
	const struct bench_options *o = b->o;

	if (!o->n_variants || o->n_variants + 1 > ARMS_MAX)
		return error_set(err, ERR_USAGE, "%zu variants to compare: 1 to %d are possible",
			o->n_variants, ARMS_MAX - 1);
	b->n_arms = o->n_variants + 1;
	b->arms = xcalloc(b->n_arms, sizeof(*b->arms));
	b->names = xcalloc(b->n_arms, sizeof(*b->names));
	for (size_t i = 0; i < b->n_arms; i++) {
		const struct bench_variant *v = &o->variants[i < o->n_variants ? i : 0];

		if (!v->peer && !v->binaries->n)
			return error_set(err, ERR_USAGE, "variant '%s' has no binary", v->name);
		b->names[i] = i < o->n_variants ? v->name : BENCH_NULL_ARM;
		b->arms[i].name = b->names[i];
		b->arms[i].binaries = v->binaries;
		b->arms[i].peer = v->peer;
	}
	return 0;
}

/* A peer answers requests; it cannot stand in for the program that a scenario runs. */
static int check_peers(const struct bench *b, struct error *err)
{
	for (size_t i = 0; i < b->n_arms; i++)
		for (size_t k = 0; b->arms[i].peer && k < b->n_scenarios; k++)
			if (b->scenarios[k].batch)
				return error_set(err, ERR_CONFIG,
					"scenario '%s' runs {binary} itself, which peer '%s' has "
					"not; leave it out (--scenario)",
					b->scenarios[k].phase->name, b->arms[i].name);
	return 0;
}

/* The scenarios of the present combination of settings. */
static size_t list_scenarios(const struct bench *b, uint32_t *ret)
{
	size_t n = 0;

	for (uint32_t i = 0; i < b->n_scenarios; i++)
		if (b->scenarios[i].combination == b->combination && !b->scenarios[i].dropped)
			ret[n++] = i;
	return n;
}

/* Starts the services with the present combination of settings and measures what belongs to it. */
static int one_combination(struct bench *b, struct error *err)
{
	auto_free uint32_t *order = xcalloc(b->n_scenarios + 1, sizeof(*order));
	size_t n = list_scenarios(b, order);

	if (!n)
		return 0;
	if (launch_start(b, err) < 0 || (!b->launch && mark_unwanted(b, err) < 0))
		return -1;
	launch_watch(b);
	n = list_scenarios(b, order);
	/* The first launch calibrates, in the plan's order: its figures must not depend on the
	 * seed. */
	if (b->launch)
		rng_shuffle(&b->rng, order, n);
	for (size_t i = 0; i < n; i++) {
		if (scenario_measure(b, order[i], err) < 0)
			return -1;
		b->done++;
		if (i == 0 && idle_check(b, err) < 0)
			return -1;
	}
	return launch_stop(b, err);
}

static int one_launch(struct bench *b, struct error *err)
{
	size_t n = plan_combinations(b->o->plan);

	for (b->combination = 0; b->combination < n; b->combination++)
		if (one_combination(b, err) < 0)
			return -1;
	return b->launch ? 0 : drop_unwanted(b, err);
}

/* With the setting that was measured, as phases of a training are named. Caller frees. */
static char *scenario_name(const struct bench *b, const struct scenario *sc)
{
	auto_free char *setting = plan_combination_text(b->o->plan, sc->combination);

	return setting ? xasprintf("%s [%s]", sc->phase->name, setting) : xstrdup(sc->phase->name);
}

/* What the scenarios are, in arrays as the statistics want them. */
struct columns {
	const char **names;
	struct strv texts;
	double *weights;
	bool *per_run, *held_out, *resolve;
};

static void columns_fill(const struct bench *b, struct columns *c)
{
	const struct strv *resolve = &b->o->plan->bench.resolve;
	size_t n = b->n_scenarios + 1;

	*c = (struct columns){
		.names = xcalloc(n, sizeof(*c->names)),
		.weights = xcalloc(n, sizeof(*c->weights)),
		.per_run = xcalloc(n, sizeof(*c->per_run)),
		.held_out = xcalloc(n, sizeof(*c->held_out)),
		.resolve = xcalloc(n, sizeof(*c->resolve)),
	};
	for (size_t i = 0; i < b->n_scenarios; i++) {
		const struct plan_phase *phase = b->scenarios[i].phase;

		strv_take(&c->texts, scenario_name(b, &b->scenarios[i]));
		c->names[i] = c->texts.v[i];
		c->weights[i] = phase->weight;
		c->per_run[i] = phase->kind == PHASE_RUN;
		c->held_out[i] = phase->held_out;
		c->resolve[i] = !resolve->n || strv_has(resolve, b->scenarios[i].given);
	}
}

static void columns_release(struct columns *c)
{
	free(c->names);
	free(c->weights);
	free(c->per_run);
	free(c->held_out);
	free(c->resolve);
	strv_release(&c->texts);
}

/* counters: also what stands beside the figures. */
static int compare(const struct bench *b, bool counters, struct comparisons *ret, struct error *err)
{
	struct columns columns;
	struct stats_frame f = {
		.n_scenarios = b->n_scenarios,
		.variants = b->names,
		.n_variants = b->n_arms,
		.null_variant = (uint32_t)b->n_arms - 1,
		.seed = b->o->plan->bench.seed,
		.until_resolved = b->o->plan->bench.until_resolved,
	};
	int r;

	columns_fill(b, &columns);
	f.scenarios = columns.names;
	f.weights = columns.weights;
	f.per_run = columns.per_run;
	f.held_out = columns.held_out;
	f.resolve = columns.resolve;
	r = stats_compare(&b->samples, &f, ret, err);
	if (r == 0 && counters)
		beside_conclude(b, columns.names, &ret->counters);
	columns_release(&columns);
	return r;
}

/* What was measured stands without it, too. */
static void simulate(struct bench *b, struct comparisons *c)
{
	struct error err = ERROR_INIT;

	if (b->o->plan->bench.counters != BENCH_COUNTERS_CALLGRIND)
		return;
	if (simulate_run(b, c, &c->counters, &err) < 0) {
		counters_note(&c->counters, "the simulation by callgrind failed: %s", err.msg);
		bench_warn(b, "the simulation by callgrind failed: %s", err.msg);
	}
	error_release(&err);
}

/* The result, with the warnings of the measuring in front of those of the statistics. */
static int conclude(struct bench *b, struct comparisons *ret, struct error *err)
{
	auto_strv struct strv lines = STRV_INIT;
	struct comparisons c = {0};

	if (compare(b, true, &c, err) < 0)
		return -1;
	simulate(b, &c);
	strv_add_all(&lines, &b->warnings);
	if (*c.warnings)
		strv_add(&lines, c.warnings);
	free(c.warnings);
	c.warnings = strv_join(&lines, "\n");
	c.end = b->end;
	c.time_limit_ns = b->o->plan->bench.time_limit_ns;
	c.wall_ns = b->wall_ns;
	*ret = c;
	return 0;
}

/* After a launch: how many launches it will be, as far as that can be told, which is also how it
 * ends. Looks at the width of the intervals and at the time, never at what they show: whoever stops
 * when a difference is shown finds one too often. */
static int go_on(struct bench *b, struct error *err)
{
	const struct plan_bench *pb = &b->o->plan->bench;
	uint32_t done = b->launch + 1, more = 0;
	struct comparisons c = {0};

	if (pb->until_resolved > 0 && done >= b->least) {
		if (compare(b, false, &c, err) < 0)
			return -1;
		more = stats_unresolved(&c);
		comparisons_release(&c);
		b->end = more ? TRIAL_MOST : TRIAL_RESOLVED;
		b->launches = more < LAUNCHES_MAX - done ? done + more : LAUNCHES_MAX;
	}
	b->wall_ns = clock_mono_ns() - b->begun;
	if (pb->time_limit_ns && done < b->launches &&
		b->wall_ns + b->wall_ns / done > pb->time_limit_ns) {
		b->end = TRIAL_TIME;
		b->launches = done;
	}
	b->total = (uint64_t)b->launches * b->n_scenarios;
	return 0;
}

static int all_launches(struct bench *b, struct error *err)
{
	b->begun = clock_mono_ns();
	b->total = (uint64_t)b->launches * b->n_scenarios;
	for (b->launch = 0; b->launch < b->launches; b->launch++)
		if (one_launch(b, err) < 0 || go_on(b, err) < 0) {
			launch_abandon(b);
			return -1;
		}
	return 0;
}

static int prepare(struct bench *b, struct error *err)
{
	const struct plan_bench *pb = &b->o->plan->bench;

	b->launches = b->o->launches ? b->o->launches : pb->launches;
	if (!b->launches || b->launches > LAUNCHES_MAX || !pb->slices || !pb->slice_ns)
		return error_set(err, ERR_CONFIG,
			"bench: %u launches of %u slices of %.0f ms: expected 1 to %d launches and "
			"at "
			"least one slice",
			b->launches, pb->slices, (double)pb->slice_ns / NS_PER_MS, LAUNCHES_MAX);
	b->least = b->launches;
	rng_seed(&b->rng, pb->seed);
	if (make_arms(b, err) < 0 || choose_scenarios(b, err) < 0 || check_peers(b, err) < 0 ||
		simulate_check(b, err) < 0 || cores_choose(&b->cores, err) < 0 ||
		dir_create(b->o->folder, 0755, err) < 0)
		return -1;
	b->left_out = xcalloc(b->o->plan->train.n_services + 1, sizeof(*b->left_out));
	if (service_content(&b->o->plan->train, b->o->folder, err) < 0)
		return -1;
	beside_begin(b);
	if (b->cores.alone)
		bench_warn(b, "one processor only: the load driver shares it with what is "
			      "measured, and its "
			      "cache traffic is part of the figures");
	else if (b->cores.siblings)
		bench_warn(b,
			"processors %d and %d are threads of one core: the load driver slows down "
			"what "
			"is measured",
			b->cores.subject, b->cores.driver);
	return 0;
}

static void bench_release(struct bench *b)
{
	free(b->arms);
	free(b->names);
	free(b->scenarios);
	free(b->left_out);
	strv_release(&b->warnings);
	samples_release(&b->samples);
	beside_release(&b->beside);
}

int bench_run(const struct bench_options *o, struct samples *ret_samples, struct comparisons *ret,
	struct error *err)
{
	struct bench b = {.o = o};
	cpu_set_t before;
	int r = prepare(&b, err);

	CPU_ZERO(&before);
	if (r == 0 && sched_getaffinity(0, sizeof(before), &before) == 0) {
		r = cores_pin_self(b.cores.driver, err);
		if (r == 0)
			r = all_launches(&b, err);
		(void)sched_setaffinity(0, sizeof(before), &before);
	}
	if (r == 0)
		r = conclude(&b, ret, err);
	if (r == 0) {
		*ret_samples = b.samples;
		b.samples = (struct samples){0};
	}
	bench_release(&b);
	return r;
}
