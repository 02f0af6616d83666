/* What `whet bench --calibrate` found. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/report.h"
#include "report/text.h"
#include "stats/stats.h"

static int calibrate(const struct report *r, struct calibration *ret, struct error *err)
{
	size_t n = r->n_repeats + 1;
	auto_free const struct comparisons **runs = xcalloc(n, sizeof(*runs));

	runs[0] = &r->comparisons;
	for (size_t i = 0; i < r->n_repeats; i++)
		runs[i + 1] = &r->repeats[i].comparisons;
	return stats_calibrate(runs, n, ret, err);
}

int report_calibration_text(const struct report *r, struct buf *out, struct error *err)
{
	static const char *const heads[] = {
		"scenario", ">ns", ">false", ">half-width", ">difference", ">largest"};
	struct calibration c = {0};
	struct table *t;

	if (calibrate(r, &c, err) < 0)
		return -1;
	buf_addf(out, "%s against itself, %zu comparisons of %u launches\n",
		r->comparisons.v[0].base, c.runs, r->comparisons.v[0].launches);
	t = table_new(heads, ARRAY_SIZE(heads));
	for (size_t i = 0; i < c.n; i++) {
		const struct calibrated *x = &c.v[i];

		table_cell(t, "%s", x->scenario);
		table_cell(t, "%.0f", r->comparisons.v[i].base_ns);
		table_cell(t, "%zu of %zu", x->shown, x->runs);
		table_cell(t, "%.2f %%", x->half_width * 100);
		table_cell(t, "%.2f %%", x->typical * 100);
		table_cell(t, "%.2f %%", x->worst * 100);
	}
	report_print_table(t, out);
	buf_addf(out,
		"  false differences in %zu of %zu comparisons: %.1f %%, 95 %% interval %.1f to "
		"%.1f %%\n"
		"  half-width: median of the intervals' (noise floor: what is smaller stays "
		"unseen);\n"
		"  difference: median and largest that was estimated where there is none\n",
		c.false_runs, c.runs, 100.0 * (double)c.false_runs / (double)c.runs, c.low * 100,
		c.high * 100);
	free(c.v);
	return 0;
}

static json_t *real(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

json_t *report_calibration_json(const struct report *r, struct error *err)
{
	json_t *o, *scenarios;
	struct calibration c = {0};

	if (calibrate(r, &c, err) < 0)
		return NULL;
	o = json_object();
	scenarios = json_array();
	for (size_t i = 0; i < c.n; i++) {
		const struct calibrated *x = &c.v[i];
		json_t *one = json_object();

		json_set_text(one, "scenario", x->scenario);
		json_object_set_new(one, "runs", json_u64(x->runs));
		json_object_set_new(one, "shown", json_u64(x->shown));
		json_object_set_new(one, "half_width", real(x->half_width));
		json_object_set_new(one, "typical", real(x->typical));
		json_object_set_new(one, "worst", real(x->worst));
		json_array_append_new(scenarios, one);
	}
	json_object_set_new(o, "runs", json_u64(c.runs));
	json_object_set_new(o, "false_runs", json_u64(c.false_runs));
	json_object_set_new(o, "low", json_real(c.low));
	json_object_set_new(o, "high", json_real(c.high));
	json_object_set_new(o, "scenarios", scenarios);
	free(c.v);
	return o;
}
