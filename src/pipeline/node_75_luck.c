/* Layout luck: relinks of the plain and of the optimised build against each other, as they ship. A
 * second comparison, so that the first stays as it is without them. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "bench/bench.h"
#include "pipeline/run.h"
#include "stats/stats.h"

/* The arms: relinks of the plain build, then those of the optimised one. */
struct arms {
	struct bench_variant v[2 * PLAN_RELINKS_MAX];
	struct strv names, files[2 * PLAN_RELINKS_MAX];
	size_t n;
};

static void arms_release(struct arms *a)
{
	strv_release(&a->names);
	for (size_t i = 0; i < ARRAY_SIZE(a->files); i++)
		strv_release(&a->files[i]);
}

static int add_arms(struct run *r, struct arms *a, const struct build_out *b, const char *name,
	struct error *err)
{
	for (uint32_t i = 1; i <= r->plan.bench.relinks; i++) {
		auto_free char *folder = xasprintf("relink-%s-%" PRIu32, name, i);
		auto_strv struct strv from = STRV_INIT;

		for (size_t k = 0; k < b->facts.n_binaries; k++)
			strv_addf(&from, "%s/relinks/%" PRIu32 "/%s", b->folder, i,
				b->facts.binaries[k].name);
		if (run_ship(r, folder, &from, &a->files[a->n], err) < 0)
			return -1;
		strv_addf(&a->names, "%s, relink %" PRIu32, name, i);
		a->v[a->n] = (struct bench_variant){.binaries = &a->files[a->n]};
		a->n++;
	}
	for (size_t i = 0; i < a->n; i++)
		a->v[i].name = a->names.v[i];
	return 0;
}

/* What links the builds themselves: the spread is that of another linker's layouts, where it is
 * not lld. */
static void note_own_linker(const struct build_out *b, struct strv *ret)
{
	const struct build_facts *f = &b->facts;

	for (size_t i = 0; i < f->n_binaries; i++) {
		const struct compile_record *c = build_facts_link(f, &f->binaries[i]);

		if (c && c->linker && !strv_has(ret, c->linker))
			strv_add(ret, c->linker);
	}
}

/* The ratio of the comparison of the builds as they ship; scenario NULL: of all by weight. */
static double shipped(const struct comparisons *c, const char *scenario)
{
	if (!scenario)
		return c->n_weighted ? c->weighted[0].ratio : NAN;
	for (size_t i = 0; i < comparisons_scenarios(c); i++)
		if (strcmp(c->v[i].scenario, scenario) == 0)
			return c->v[i].ratio;
	return NAN;
}

static int judge(struct run *r, const struct comparisons *c, struct error *err)
{
	size_t n = comparisons_scenarios(c);
	auto_free const char **names = xcalloc(n + 1, sizeof(*names));
	auto_free bool *held_out = xcalloc(n + 1, sizeof(*held_out));
	auto_free double *ratios = xcalloc(n + 1, sizeof(*ratios));
	struct luck_frame f = {
		.scenarios = names,
		.n_scenarios = n,
		.relinks = r->plan.bench.relinks,
		.held_out = held_out,
		.shares = c->shares,
		.shipped = ratios,
	};

	for (size_t i = 0; i < n; i++) {
		names[i] = c->v[i].scenario;
		held_out[i] = c->v[i].held_out;
		ratios[i] = shipped(&r->report->comparisons, names[i]);
	}
	ratios[n] = shipped(&r->report->comparisons, NULL);
	return stats_luck(&r->report->luck.samples, &f, &r->report->luck, err);
}

static char *warnings_of(const struct comparisons *c)
{
	const char *text = c->warnings ? c->warnings : "";

	if (!c->drift_alarm)
		return xstrdup(text);
	return xasprintf("%s%s%s", text, *text ? "\n" : "", c->drift_alarm);
}

static int compare(struct run *r, const struct arms *a, struct error *err)
{
	auto_free char *folder = path_join(r->scratch, "relinks");
	const struct plan_bench asked = r->plan.bench;
	struct comparisons c = {0};
	struct bench_options o = {
		.plan = &r->plan,
		.variants = a->v,
		.n_variants = a->n,
		.folder = folder,
		.self = r->o->self,
		.events = r->o->events,
		.node = "relinks",
	};
	int result;

	if (dir_create(folder, 0711, err) < 0)
		return -1;
	/* Its widths are those of single relinks, which nobody asks about. */
	r->plan.bench.until_resolved = 0;
	r->plan.bench.counters = BENCH_COUNTERS_OFF;
	result = bench_run(&o, &r->report->luck.samples, &c, err);
	r->plan.bench.until_resolved = asked.until_resolved;
	r->plan.bench.counters = asked.counters;
	if (result == 0)
		result = judge(r, &c, err);
	r->report->luck.warnings = warnings_of(&c);
	comparisons_release(&c);
	return result;
}

static const char *problem_of(const struct run *r, const char **build)
{
	*build = "";
	if (r->no_relinks)
		return r->no_relinks;
	*build = "plain build: ";
	if (r->plain.no_relinks)
		return r->plain.no_relinks;
	*build = "optimised build: ";
	return r->track->optimised.no_relinks;
}

static int measure(struct run *r, struct error *err)
{
	struct arms a = {0};
	int result = -1;

	if (add_arms(r, &a, &r->plain, "plain", err) == 0 &&
		add_arms(r, &a, &r->track->optimised, "pgo", err) == 0)
		result = compare(r, &a, err);
	arms_release(&a);
	return result;
}

int node_luck(struct run *r, struct error *err)
{
	struct luck *l = &r->report->luck;
	const char *build, *problem = problem_of(r, &build);

	if (!r->plan.bench.relinks)
		return 0;
	l->relinks = r->plan.bench.relinks;
	l->base = xstrdup("plain");
	l->variant = xstrdup("pgo");
	l->linker = xstrdup(r->relinker.version);
	note_own_linker(&r->plain, &l->own_linker);
	note_own_linker(&r->track->optimised, &l->own_linker);
	if (!problem)
		return measure(r, err);
	l->problem = xasprintf("%s%s", build, problem);
	return 0;
}
