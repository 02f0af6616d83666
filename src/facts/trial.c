#include "facts/trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "facts/figure_json.h"

void samples_add(struct samples *s, const struct sample *one)
{
	array_reserve(s->v, s->n, s->cap);
	s->v[s->n++] = *one;
}

void samples_add_canary(struct samples *s, const struct canary *one)
{
	array_reserve(s->canaries, s->n_canaries, s->cap_canaries);
	s->canaries[s->n_canaries++] = *one;
}

void samples_release(struct samples *s)
{
	free(s->v);
	free(s->canaries);
	memset(s, 0, sizeof(*s));
}

void comparison_release(struct comparison *c)
{
	free(c->scenario);
	free(c->variant);
	free(c->base);
	free(c->by_launch);
	free(c->outlier);
	memset(c, 0, sizeof(*c));
}

void comparisons_release(struct comparisons *c)
{
	for (size_t i = 0; i < c->n; i++)
		comparison_release(&c->v[i]);
	for (size_t i = 0; i < c->n_weighted; i++)
		comparison_release(&c->weighted[i]);
	free(c->v);
	free(c->weighted);
	free(c->shares);
	free(c->warnings);
	free(c->drift_alarm);
	counters_release(&c->counters);
	memset(c, 0, sizeof(*c));
}

size_t comparisons_scenarios(const struct comparisons *c)
{
	size_t n = 0;

	while (n < c->n && strcmp(c->v[n].variant, c->v[0].variant) == 0)
		n++;
	return n;
}

bool comparisons_is_null(const struct comparisons *c, size_t i)
{
	return i >= c->n - comparisons_scenarios(c) && strcmp(c->v[i].variant, "null") == 0;
}

double ratio_percent(double ratio)
{
	double p = (ratio - 1) * 100;

	return fabs(p) < 0.05 ? 0 : p;
}

json_t *samples_json(const struct samples *s)
{
	json_t *a = json_array();

	for (size_t i = 0; i < s->n; i++) {
		const struct sample *x = &s->v[i];
		json_t *o = json_object();

		json_object_set_new(o, "launch", json_integer(x->launch));
		json_object_set_new(o, "scenario", json_integer(x->scenario));
		json_object_set_new(o, "variant", json_integer(x->variant));
		json_object_set_new(o, "slice", json_integer(x->slice));
		json_object_set_new(o, "requests", json_integer((json_int_t)x->requests));
		json_object_set_new(o, "cpu_ns", json_integer((json_int_t)x->cpu_ns));
		json_object_set_new(o, "wall_ns", json_integer((json_int_t)x->wall_ns));
		json_object_set_new(o, "driver_cpu_ns", json_integer((json_int_t)x->driver_cpu_ns));
		if (x->latency_p50_ns) {
			json_object_set_new(
				o, "latency_p50_ns", json_integer((json_int_t)x->latency_p50_ns));
			json_object_set_new(
				o, "latency_p99_ns", json_integer((json_int_t)x->latency_p99_ns));
		}
		json_array_append_new(a, o);
	}
	return a;
}

json_t *canaries_json(const struct samples *s)
{
	json_t *a = json_array();

	for (size_t i = 0; i < s->n_canaries; i++) {
		const struct canary *x = &s->canaries[i];
		json_t *o = json_object();

		json_object_set_new(o, "launch", json_integer(x->launch));
		json_object_set_new(o, "at_ns", json_integer((json_int_t)x->at_ns));
		json_object_set_new(o, "cpu_ns", json_integer((json_int_t)x->cpu_ns));
		json_array_append_new(a, o);
	}
	return a;
}

static void set_real(json_t *o, const char *key, double v)
{
	json_object_set_new(o, key, figure_json_real(v));
}

/* How the launches went one by one; empty lists and null when that is not known. */
static void add_launches(const struct comparison *c, json_t *o)
{
	json_t *ratios = json_array(), *outliers = json_array();

	for (uint32_t i = 0; c->by_launch && i < c->launches; i++) {
		json_array_append_new(ratios, json_real(c->by_launch[i]));
		if (c->outlier[i])
			json_array_append_new(outliers, json_integer(i));
	}
	json_object_set_new(o, "by_launch", ratios);
	json_object_set_new(o, "outliers", outliers);
	json_object_set_new(
		o, "outlier_slices", c->by_launch ? json_integer(c->outlier_slices) : json_null());
	json_object_set_new(o, "better_launches",
		c->by_launch ? json_integer(c->better_launches) : json_null());
	json_object_set_new(
		o, "better_slices", c->by_launch ? json_integer(c->better_slices) : json_null());
}

static json_t *comparison_json(const struct comparison *c)
{
	static const char *const shown[] = {"none", "less", "more"};
	json_t *o = json_object();

	json_set_text(o, "scenario", c->scenario);
	json_set_text(o, "variant", c->variant);
	json_set_text(o, "base", c->base);
	set_real(o, "base_ns", c->base_ns);
	json_object_set_new(o, "unit", json_string(c->per_run ? "run" : "request"));
	set_real(o, "ratio", c->ratio);
	set_real(o, "low", c->low);
	set_real(o, "high", c->high);
	set_real(o, "p", c->p);
	json_object_set_new(o, "launches", json_integer(c->launches));
	json_object_set_new(o, "slices", json_integer(c->slices));
	json_object_set_new(o, "shown", json_string(shown[c->shown]));
	json_object_set_new(o, "held_out", json_boolean(c->held_out));
	json_object_set_new(o, "more_launches", json_integer(c->more_launches));
	add_launches(c, o);
	return o;
}

static json_t *weighted_json(const struct comparison *c)
{
	static const char *const unknown[] = {"scenario", "base_ns", "unit", "slices",
		"outlier_slices", "better_slices", "held_out", "more_launches"};
	json_t *o = comparison_json(c);

	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++)
		json_object_del(o, unknown[i]);
	return o;
}

static json_t *end_json(const struct comparisons *c)
{
	static const char *const names[] = {
		[TRIAL_COUNTED] = "launches",
		[TRIAL_RESOLVED] = "resolved",
		[TRIAL_TIME] = "time limit",
		[TRIAL_MOST] = "most launches",
	};
	json_t *o = json_object();

	json_object_set_new(o, "by", json_string(names[c->end]));
	json_object_set_new(o, "wall_ns", json_integer((json_int_t)c->wall_ns));
	json_object_set_new(o, "until_resolved",
		c->until_resolved > 0 ? json_real(c->until_resolved) : json_null());
	json_object_set_new(o, "time_limit_ns",
		c->time_limit_ns ? json_integer((json_int_t)c->time_limit_ns) : json_null());
	return o;
}

json_t *comparisons_json(const struct comparisons *c)
{
	json_t *o = json_object(), *a = json_array(), *w = json_array(), *shares = json_array();

	for (size_t i = 0; i < c->n; i++)
		json_array_append_new(a, comparison_json(&c->v[i]));
	for (size_t i = 0; i < c->n_weighted; i++)
		json_array_append_new(w, weighted_json(&c->weighted[i]));
	for (size_t i = 0; i < c->n_shares; i++)
		json_array_append_new(shares, json_real(c->shares[i]));
	json_object_set_new(o, "comparisons", a);
	json_object_set_new(o, "weighted", w);
	json_object_set_new(o, "shares", shares);
	json_object_set_new(o, "end", end_json(c));
	json_object_set_new(o, "counters", counters_json(&c->counters));
	set_real(o, "driver_busy", c->driver_busy);
	json_set_text(o, "warnings", c->warnings ? c->warnings : "");
	return o;
}
