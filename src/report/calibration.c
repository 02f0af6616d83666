/* What `whet bench --calibrate` found. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/report.h"
#include "report/text.h"
#include "stats/stats.h"

int report_calibrate(struct report *r, struct error *err)
{
	size_t n = r->n_repeats + 1;
	auto_free const struct comparisons **runs = xcalloc(n, sizeof(*runs));

	runs[0] = &r->comparisons;
	for (size_t i = 0; i < r->n_repeats; i++)
		runs[i + 1] = &r->repeats[i].comparisons;
	return stats_calibrate(runs, n, &r->calibration, err);
}

/* Of one scenario; too few launches give no interval, and so no figure. */
static void percent_cell(struct table *t, double v)
{
	if (isfinite(v))
		table_cell(t, "%.2f %%", v * 100);
	else
		table_cell(t, "%s", "-");
}

void report_calibration_text(const struct report *r, struct buf *out)
{
	static const char *const heads[] = {
		"scenario", ">ns", ">false", ">half-width", ">difference", ">largest"};
	const struct calibration *c = &r->calibration;
	struct table *t;

	buf_addf(out, "%s against itself, %zu comparisons of %u launches\n", c->base, c->runs,
		c->launches);
	t = table_new(heads, ARRAY_SIZE(heads));
	for (size_t i = 0; i < c->n; i++) {
		const struct calibrated *x = &c->v[i];

		table_cell(t, "%s", x->scenario);
		table_cell(t, "%.0f", r->comparisons.v[i].base_ns);
		table_cell(t, "%zu of %zu", x->shown, x->runs);
		percent_cell(t, x->half_width);
		percent_cell(t, x->typical);
		percent_cell(t, x->worst);
	}
	report_print_table(t, out);
	buf_addf(out,
		"  false differences in %zu of %zu comparisons: %.1f %%, 95 %% interval %.1f to "
		"%.1f %%\n"
		"  half-width: median of the intervals' (noise floor: what is smaller stays "
		"unseen);\n"
		"  difference: median and largest that was estimated where there is none\n",
		c->false_runs, c->runs, 100.0 * (double)c->false_runs / (double)c->runs,
		c->low * 100, c->high * 100);
}

static bool is_measured(const struct comparisons *now, const char *scenario)
{
	for (size_t i = 0; i < now->n; i++)
		if (strcmp(now->v[i].scenario, scenario) == 0)
			return true;
	return false;
}

/* The noise floors of the scenarios that were measured now, too: the smallest and the largest. */
static bool floors(
	const struct calibration *c, const struct comparisons *now, double *low, double *high)
{
	*low = INFINITY;
	*high = 0;
	for (size_t i = 0; i < c->n; i++) {
		if (!isfinite(c->v[i].half_width) || !is_measured(now, c->v[i].scenario))
			continue;
		*low = fmin(*low, c->v[i].half_width);
		*high = fmax(*high, c->v[i].half_width);
	}
	return *high > 0;
}

void report_calibration_note(
	const struct calibration *c, const struct comparisons *now, struct buf *out)
{
	double low, high;

	if (!c->runs || !c->at)
		return;
	buf_addf(out,
		"this machine on %.10s: %s against itself, %zu comparisons of %u launches, showed "
		"a false difference in %zu (95 %%: %.1f to %.1f %%)",
		c->at, c->base, c->runs, c->launches, c->false_runs, c->low * 100, c->high * 100);
	if (now->n && now->v[0].launches != c->launches)
		buf_addf(out, "; here are %u launches", now->v[0].launches);
	if (floors(c, now, &low, &high) && low < high)
		buf_addf(out, "; noise floor %.2f to %.2f %% by scenario", low * 100, high * 100);
	else if (high > 0)
		buf_addf(out, "; noise floor %.2f %%", high * 100);
	else
		buf_adds(out, "; of these scenarios it knows no noise floor");
}
