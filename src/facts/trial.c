#include "facts/trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void samples_add(struct samples *s, const struct sample *one)
{
	array_reserve(s->v, s->n, s->cap);
	s->v[s->n++] = *one;
}

void samples_release(struct samples *s)
{
	free(s->v);
	memset(s, 0, sizeof(*s));
}

void comparison_release(struct comparison *c)
{
	free(c->scenario);
	free(c->variant);
	free(c->base);
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
	memset(c, 0, sizeof(*c));
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
		json_array_append_new(a, o);
	}
	return a;
}

/* JSON has no NaN: a figure that could not be computed is null. */
static void set_real(json_t *o, const char *key, double v)
{
	json_object_set_new(o, key, isfinite(v) ? json_real(v) : json_null());
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
	return o;
}

static json_t *weighted_json(const struct comparison *c)
{
	static const char *const unknown[] = {"scenario", "base_ns", "unit", "slices"};
	json_t *o = comparison_json(c);

	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++)
		json_object_del(o, unknown[i]);
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
	set_real(o, "driver_busy", c->driver_busy);
	json_set_text(o, "warnings", c->warnings ? c->warnings : "");
	return o;
}
