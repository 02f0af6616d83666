#include "facts/calibration.h"

#include <math.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "facts/figure_json.h"

#define DIFFERENCE_MAX 100 /* a hundred times the cost is no noise of a machine */

void calibration_release(struct calibration *c)
{
	for (size_t i = 0; i < c->n; i++)
		free(c->v[i].scenario);
	free(c->v);
	free(c->at);
	free(c->machine);
	free(c->base);
	*c = (struct calibration){0};
}

static json_t *one_json(const struct calibrated *x)
{
	json_t *one = json_object();

	json_set_text(one, "scenario", x->scenario);
	json_object_set_new(one, "runs", json_u64(x->runs));
	json_object_set_new(one, "shown", json_u64(x->shown));
	json_object_set_new(one, "half_width", figure_json_real(x->half_width));
	json_object_set_new(one, "typical", figure_json_real(x->typical));
	json_object_set_new(one, "worst", figure_json_real(x->worst));
	return one;
}

json_t *calibration_json(const struct calibration *c)
{
	json_t *o = json_object(), *scenarios = json_array();

	for (size_t i = 0; i < c->n; i++)
		json_array_append_new(scenarios, one_json(&c->v[i]));
	json_set_text(o, "at", c->at);
	json_set_text(o, "machine", c->machine);
	json_set_text(o, "base", c->base);
	json_object_set_new(o, "launches", json_u64(c->launches));
	json_object_set_new(o, "slices", json_u64(c->slices));
	json_object_set_new(o, "slice_ns", json_u64(c->slice_ns));
	json_object_set_new(o, "runs", json_u64(c->runs));
	json_object_set_new(o, "false_runs", json_u64(c->false_runs));
	json_object_set_new(o, "low", json_real(c->low));
	json_object_set_new(o, "high", json_real(c->high));
	json_object_set_new(o, "scenarios", scenarios);
	return o;
}

int calibration_write(const struct calibration *c, const char *path, struct error *err)
{
	auto_json json_t *o = calibration_json(c);

	return json_write_file(o, path, err);
}

static double number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

/* 0: it is not there, or no number that can be. */
static uint64_t count(const json_t *o, const char *key, uint64_t most)
{
	int64_t n = json_opt_int(o, key, 0);

	return n > 0 && (uint64_t)n <= most ? (uint64_t)n : 0;
}

static void read_scenarios(const json_t *list, struct calibration *c)
{
	json_t *one;
	size_t i;

	c->v = xcalloc(json_array_size(list) + 1, sizeof(*c->v));
	json_array_foreach(list, i, one)
	{
		char *name = json_opt_str(one, "scenario");

		if (!name)
			continue;
		c->v[c->n++] = (struct calibrated){
			.scenario = name,
			.runs = count(one, "runs", SIZE_MAX),
			.shown = count(one, "shown", SIZE_MAX),
			.half_width = number(one, "half_width"),
			.typical = number(one, "typical"),
			.worst = number(one, "worst"),
		};
	}
}

/* NAN: it is not known. */
static bool is_difference(double v)
{
	return isnan(v) || (v >= 0 && v <= DIFFERENCE_MAX);
}

static bool is_scenario(const struct calibrated *x, size_t runs)
{
	return x->runs <= runs && x->shown <= x->runs && is_difference(x->half_width) &&
	       is_difference(x->typical) && is_difference(x->worst);
}

static bool is_rate(const struct calibration *c)
{
	return c->false_runs <= c->runs && c->low >= 0 && c->low <= c->high && c->high <= 1;
}

static bool is_sound(const struct calibration *c)
{
	if (!c->at || !c->base || !c->launches || !c->slices || !c->slice_ns || !c->runs || !c->n ||
		!is_rate(c))
		return false;
	for (size_t i = 0; i < c->n; i++)
		if (!is_scenario(&c->v[i], c->runs))
			return false;
	return true;
}

int calibration_read(const char *path, struct calibration *ret, struct error *err)
{
	auto_json json_t *o = NULL;
	struct calibration c = {0};

	*ret = c;
	if (!path_exists(path))
		return 0;
	o = json_read_file(path, err);
	if (!o)
		return -1;
	c.at = json_opt_str(o, "at");
	c.machine = json_opt_str(o, "machine");
	c.base = json_opt_str(o, "base");
	c.launches = (uint32_t)count(o, "launches", UINT32_MAX);
	c.slices = (uint32_t)count(o, "slices", UINT32_MAX);
	c.slice_ns = count(o, "slice_ns", UINT64_MAX);
	c.runs = count(o, "runs", SIZE_MAX);
	c.false_runs = count(o, "false_runs", SIZE_MAX);
	c.low = number(o, "low");
	c.high = number(o, "high");
	read_scenarios(json_object_get(o, "scenarios"), &c);
	if (!is_sound(&c)) {
		calibration_release(&c);
		return error_set(err, ERR_CORRUPT,
			"'%s' is no calibration: `whet bench --calibrate` writes it anew", path);
	}
	*ret = c;
	return 0;
}
