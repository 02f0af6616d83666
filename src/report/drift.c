#include "report/drift.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "report/text.h"
#include "stats/stats.h"

/* Of more slices every second, third, … is drawn: a page should stay small, and an eye sees no
 * more. */
#define SLICES_DRAWN 12000

/* CPU time per request, or NAN. */
static double cost(const struct sample *x)
{
	return x->requests ? (double)x->cpu_ns / (double)x->requests : NAN;
}

/* The median cost of the samples of one arm in one scenario. */
static double median_of(
	const struct sample *v, size_t n, uint32_t scenario, uint32_t arm, double *scratch)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++)
		if (v[i].scenario == scenario && v[i].variant == arm && v[i].requests)
			scratch[found++] = cost(&v[i]);
	return stats_median(scratch, found);
}

/* The index of the null arm among the variants of the samples; 0, that of the base: none. */
static uint32_t null_arm(const struct comparisons *c)
{
	size_t scenarios = comparisons_scenarios(c);

	return c->n && comparisons_is_null(c, c->n - 1) ? (uint32_t)(c->n / scenarios) : 0;
}

/* What the base cost in each scenario of the whole run. Caller frees. */
static double *base_costs(const struct report *r, size_t scenarios, double *scratch)
{
	double *v = xcalloc(scenarios + 1, sizeof(*v));

	for (size_t s = 0; s < scenarios; s++)
		v[s] = median_of(r->samples.v, r->samples.n, (uint32_t)s, 0, scratch);
	return v;
}

struct ruler {
	const double *base; /* of each scenario */
	size_t scenarios;
	double *scratch, *ratios; /* for as many as there are samples, scenarios */
};

static double arm_ratio(const struct ruler *k, const struct sample *v, size_t n, uint32_t arm)
{
	size_t found = 0;

	for (size_t s = 0; s < k->scenarios; s++) {
		double m = median_of(v, n, (uint32_t)s, arm, k->scratch) / k->base[s];

		if (isfinite(m))
			k->ratios[found++] = m;
	}
	return stats_median(k->ratios, found);
}

void drift_of(const struct report *r, struct drift *ret)
{
	const struct samples *s = &r->samples;
	size_t scenarios = comparisons_scenarios(&r->comparisons), end;
	auto_free double *scratch = xcalloc(s->n + 1, sizeof(double));
	auto_free double *ratios = xcalloc(scenarios + 1, sizeof(double));
	auto_free double *base = base_costs(r, scenarios, scratch);
	const struct ruler k = {base, scenarios, scratch, ratios};
	uint32_t null = null_arm(&r->comparisons);
	double now = 0;

	*ret = (struct drift){0};
	for (size_t i = 0; i < s->n; i = end) {
		struct drift_launch one = {.begun_s = now, .null = NAN};

		/* Samples come in the order of time: those of a launch stand together. */
		for (end = i; end < s->n && s->v[end].launch == s->v[i].launch; end++)
			now += (double)s->v[end].wall_ns / NS_PER_S;
		one.slices = end - i;
		one.base = arm_ratio(&k, s->v + i, end - i, 0);
		if (null)
			one.null = arm_ratio(&k, s->v + i, end - i, null);
		array_reserve(ret->v, ret->n, ret->cap);
		ret->v[ret->n++] = one;
	}
}

void drift_release(struct drift *d)
{
	free(d->v);
	memset(d, 0, sizeof(*d));
}

/* ---- every slice ----------------------------------------------------------------------------- */

static void add_rounded(json_t *a, double v, double unit)
{
	json_array_append_new(a, json_real(round(v / unit) * unit));
}

static json_t *names_json(const struct comparisons *c, bool variants)
{
	size_t scenarios = comparisons_scenarios(c);
	json_t *a = json_array();

	if (variants && c->n)
		json_array_append_new(a, json_text(c->v[0].base));
	for (size_t i = 0; i < c->n; i += variants ? scenarios : 1) {
		if (!variants && i == scenarios)
			break;
		if (variants)
			json_array_append_new(a,
				json_text(
					comparisons_is_null(c, i) ? "null arm" : c->v[i].variant));
		else
			json_array_append_new(a, json_text(c->v[i].scenario));
	}
	return a;
}

json_t *drift_slices_json(const struct report *r)
{
	const struct samples *s = &r->samples;
	size_t scenarios = comparisons_scenarios(&r->comparisons), every = s->n / SLICES_DRAWN + 1;
	auto_free double *scratch = xcalloc(s->n + 1, sizeof(double));
	auto_free double *base = base_costs(r, scenarios, scratch);
	json_t *o = json_object(), *time = json_array(), *scenario = json_array();
	json_t *variant = json_array(), *launch = json_array(), *change = json_array();
	double now = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct sample *x = &s->v[i];
		double ratio = x->scenario < scenarios ? cost(x) / base[x->scenario] : NAN;

		now += (double)x->wall_ns / NS_PER_S;
		if (!isfinite(ratio) || i % every)
			continue;
		add_rounded(time, now, 0.01);
		add_rounded(change, ratio_percent(ratio), 0.01);
		json_array_append_new(scenario, json_integer(x->scenario));
		json_array_append_new(variant, json_integer(x->variant));
		json_array_append_new(launch, json_integer(x->launch));
	}
	json_object_set_new(o, "scenarios", names_json(&r->comparisons, false));
	json_object_set_new(o, "variants", names_json(&r->comparisons, true));
	json_object_set_new(o, "time", time);
	json_object_set_new(o, "change", change);
	json_object_set_new(o, "scenario", scenario);
	json_object_set_new(o, "variant", variant);
	json_object_set_new(o, "launch", launch);
	return o;
}
