#include "report/plot.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "report/doc.h"
#include "report/text.h"

#define WIDTH 880.0
#define ROW 22.0
#define NAME_SHOWN 30 /* characters of a name beside a drawing */

/* ---- an axis of percent ---------------------------------------------------------------------- */

struct axis {
	double low, high, step; /* percent */
	double from, to;        /* where these two lie in the drawing */
};

static void axis_hold(struct axis *a, double v)
{
	if (!isfinite(v))
		return;
	a->low = fmin(a->low, v);
	a->high = fmax(a->high, v);
}

/* Whole steps, at most eight of them. */
static void axis_finish(struct axis *a)
{
	static const double steps[] = {0.25, 0.5, 1, 2, 5, 10, 20, 50, 100};
	size_t i = 0;

	/* One wild figure must not flatten all others; the table has it. */
	a->low = fmax(a->low, -100);
	a->high = fmin(a->high, 200);
	while (i + 1 < ARRAY_SIZE(steps) && (a->high - a->low) / steps[i] > 8)
		i++;
	a->step = steps[i];
	a->low = floor(a->low / a->step) * a->step;
	a->high = ceil(a->high / a->step) * a->step;
	if (a->high - a->low < a->step) {
		a->low -= a->step;
		a->high += a->step;
	}
}

static double axis_at(const struct axis *a, double v)
{
	double held = fmin(fmax(v, a->low), a->high);

	return a->from + (held - a->low) / (a->high - a->low) * (a->to - a->from);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* The first characters of a name, with an ellipsis when there are more. */
static char *shortened(const char *name)
{
	size_t bytes = 0, characters = 0;

	while (name[bytes] && characters < NAME_SHOWN) {
		bytes++;
		while (((unsigned char)name[bytes] & 0xc0) == 0x80)
			bytes++;
		characters++;
	}
	return name[bytes] ? xasprintf("%.*s…", (int)bytes, name) : xstrdup(name);
}

static void put_text(struct buf *b, double x, double y, const char *class, const char *text)
{
	auto_free char *shown = shortened(text);

	buf_addf(b, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
	html_text(b, shown);
	buf_adds(b, "</text>\n");
}

static void put_line(struct buf *b, const char *class, double x1, double y1, double x2, double y2)
{
	buf_addf(b, "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", class,
		x1, y1, x2, y2);
}

/* "-5", "0", "+2.5". */
static void put_tick(struct buf *b, const struct axis *a, double x, double y, double v)
{
	bool vertical = a->from > a->to;

	buf_addf(
		b, "<text x=\"%.1f\" y=\"%.1f\" class=\"tick%s\">", x, y, vertical ? " right" : "");
	if (fabs(v) < a->step / 2)
		buf_addc(b, '0');
	else
		buf_addf(b, "%+.4g", v);
	buf_addf(b, "%s</text>\n", vertical ? " %" : "");
}

static void begin_svg(struct buf *b, double height, const char *id, const char *title)
{
	buf_addf(b,
		"<svg class=\"plot\" role=\"img\" aria-labelledby=\"%s\" viewBox=\"0 0 %.0f %.0f\" "
		"width=\"%.0f\" height=\"%.0f\">\n<title id=\"%s\">",
		id, WIDTH, height, WIDTH, height, id);
	html_text(b, title);
	buf_adds(b, "</title>\n");
}

/* ---- intervals ------------------------------------------------------------------------------- */

#define PLOT_FROM 330.0
#define PLOT_TO 640.0

static const char *change_class(const struct comparison *x, bool null)
{
	return null                     ? "null"
	       : x->shown == SHOWN_LESS ? "less"
	       : x->shown == SHOWN_MORE ? "more"
					: "none";
}

/* Filled: a difference is shown; hollow: none is; a square: the null arm. */
static void put_interval(
	struct buf *b, const struct axis *a, const struct comparison *x, bool null, double y)
{
	const char *class = change_class(x, null);
	double low, high, at;
	auto_buf struct buf words = BUF_INIT;

	report_change_text(x, &words);
	if (isfinite(x->low) && isfinite(x->high)) {
		low = axis_at(a, ratio_percent(x->low));
		high = axis_at(a, ratio_percent(x->high));
		at = axis_at(a, ratio_percent(x->ratio));
		put_line(b, class, low, y, high, y);
		put_line(b, class, low, y - 4, low, y + 4);
		put_line(b, class, high, y - 4, high, y + 4);
		if (null)
			buf_addf(b,
				"<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"8\" "
				"height=\"8\"/>\n",
				class, at - 4, y - 4);
		else
			buf_addf(b, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>\n",
				class, at, y);
	}
	buf_addf(b, "<text x=\"%.1f\" y=\"%.1f\" class=\"words\">", PLOT_TO + 14, y + 4);
	html_text(b, buf_str(&words));
	buf_adds(b, "</text>\n");
}

/* One scenario, or all together: a row for each variant. */
static double put_group(
	struct buf *b, const struct axis *a, const struct comparisons *c, size_t s, double y)
{
	size_t scenarios = comparisons_scenarios(c), variants = c->n / scenarios;
	bool all = s == scenarios;

	put_text(b, 0, y + 4, all ? "name all" : "name", all ? "all, by weight" : c->v[s].scenario);
	for (size_t v = 0; v < variants; v++) {
		size_t i = v * scenarios + (all ? 0 : s);
		bool null = comparisons_is_null(c, i);

		put_text(b, PLOT_FROM - 14, y + 4, "variant", null ? "null arm" : c->v[i].variant);
		if (!all || v < c->n_weighted)
			put_interval(b, a, all ? &c->weighted[v] : &c->v[i], null, y);
		y += ROW;
	}
	return y + 8;
}

static void put_grid(struct buf *b, const struct axis *a, double top, double bottom)
{
	for (double v = a->low; v <= a->high + a->step / 2; v += a->step) {
		double x = axis_at(a, v);

		put_line(b, fabs(v) < a->step / 2 ? "zero" : "grid", x, top, x, bottom);
		put_tick(b, a, x, bottom + 16, v);
	}
}

/* Of several runs each has its own. Caller frees. */
static char *plot_id(const char *name, size_t run)
{
	return run > 1 ? xasprintf("%s-%zu", name, run) : xstrdup(name);
}

void plot_intervals(const struct comparisons *c, size_t run, const char *label, struct buf *svg)
{
	struct axis a = {.low = -1, .high = 1, .from = PLOT_FROM, .to = PLOT_TO};
	size_t scenarios = comparisons_scenarios(c), groups = scenarios + (c->n_weighted > 0);
	size_t variants = scenarios ? c->n / scenarios : 0;
	double height = (double)groups * ((double)variants * ROW + 8), y = 40;
	auto_free char *id = plot_id("plot-intervals", run);
	auto_free char *which = run ? xasprintf("Run %zu: ", run) : xstrdup("");
	auto_free char *title = xasprintf("%sChange of CPU time against %s with 95 %% "
					  "intervals%s%s%s. The same figures are in "
					  "the table.",
		which, c->n ? c->v[0].base : "", *label ? " (" : "", label, *label ? ")" : "");

	for (size_t i = 0; i < c->n; i++) {
		axis_hold(&a, ratio_percent(c->v[i].low));
		axis_hold(&a, ratio_percent(c->v[i].high));
	}
	axis_finish(&a);
	begin_svg(svg, height + 84, id, title);
	buf_addf(svg,
		"<text x=\"%.1f\" y=\"14\" class=\"side left\">← costs less</text>\n"
		"<text x=\"%.1f\" y=\"14\" class=\"side right\">costs more →</text>\n",
		axis_at(&a, 0) - 8, axis_at(&a, 0) + 8);
	put_grid(svg, &a, 24, height + 32);
	for (size_t s = 0; s < groups; s++)
		y = put_group(svg, &a, c, s, y);
	buf_addf(svg,
		"<text x=\"%.1f\" y=\"%.1f\" class=\"tick\">%spercent of CPU time%s%s%s</text>\n",
		(PLOT_FROM + PLOT_TO) / 2, height + 70, which, *label ? " (" : "", label,
		*label ? ")" : "");
	buf_adds(svg, "</svg>\n");
}

/* Lines across a drawing whose axis stands upright. */
static void put_levels(struct buf *b, const struct axis *a, double left, double right)
{
	for (double v = a->low; v <= a->high + a->step / 2; v += a->step) {
		double y = axis_at(a, v);

		put_line(b, fabs(v) < a->step / 2 ? "zero" : "grid", left, y, right, y);
		put_tick(b, a, left - 8, y + 4, v);
	}
}

/* ---- drift ----------------------------------------------------------------------------------- */

#define DRIFT_TOP 14.0
#define DRIFT_BOTTOM 190.0
#define DRIFT_LEFT 60.0
#define DRIFT_RIGHT 720.0

static double launch_x(const struct drift *d, size_t i)
{
	return DRIFT_LEFT + 20 +
	       (DRIFT_RIGHT - DRIFT_LEFT - 40) * (double)i / (d->n > 1 ? (double)d->n - 1 : 1);
}

static void put_series(struct buf *b, const struct axis *a, const struct drift *d, bool null)
{
	const char *class = null ? "null" : "base";

	buf_addf(b, "<polyline class=\"%s\" points=\"", class);
	for (size_t i = 0; i < d->n; i++) {
		double v = ratio_percent(null ? d->v[i].null : d->v[i].base);

		if (isfinite(v))
			buf_addf(b, "%.1f,%.1f ", launch_x(d, i), axis_at(a, v));
	}
	buf_adds(b, "\"/>\n");
	for (size_t i = 0; i < d->n; i++) {
		double v = ratio_percent(null ? d->v[i].null : d->v[i].base);

		if (!isfinite(v))
			continue;
		if (null)
			buf_addf(b,
				"<rect class=\"null\" x=\"%.1f\" y=\"%.1f\" width=\"8\" "
				"height=\"8\"/>\n",
				launch_x(d, i) - 4, axis_at(a, v) - 4);
		else
			buf_addf(b, "<circle class=\"base\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n",
				launch_x(d, i), axis_at(a, v));
	}
}

static void put_key(struct buf *b, const char *base)
{
	buf_addf(b, "<circle class=\"base\" cx=\"%.1f\" cy=\"40\" r=\"4\"/>\n", DRIFT_RIGHT + 20);
	put_text(b, DRIFT_RIGHT + 32, 44, "words", base);
	buf_addf(b, "<rect class=\"null\" x=\"%.1f\" y=\"60\" width=\"8\" height=\"8\"/>\n",
		DRIFT_RIGHT + 16);
	put_text(b, DRIFT_RIGHT + 32, 68, "words", "null arm (its copy)");
}

void plot_drift(const struct drift *d, size_t run, const char *base, struct buf *svg)
{
	struct axis a = {.low = -0.5, .high = 0.5, .from = DRIFT_BOTTOM, .to = DRIFT_TOP};
	size_t every = d->n / 20 + 1;
	auto_free char *id = plot_id("plot-drift", run);

	for (size_t i = 0; i < d->n; i++) {
		axis_hold(&a, ratio_percent(d->v[i].base));
		axis_hold(&a, ratio_percent(d->v[i].null));
	}
	axis_finish(&a);
	begin_svg(svg, DRIFT_BOTTOM + 50, id,
		"What the base cost in each launch, against its median of the whole run. The same "
		"figures are in the table.");
	put_levels(svg, &a, DRIFT_LEFT, DRIFT_RIGHT);
	for (size_t i = 0; i < d->n; i += every)
		buf_addf(svg, "<text x=\"%.1f\" y=\"%.1f\" class=\"tick\">%zu</text>\n",
			launch_x(d, i), DRIFT_BOTTOM + 18, i + 1);
	buf_addf(svg, "<text x=\"%.1f\" y=\"%.1f\" class=\"tick\">launch</text>\n",
		(DRIFT_LEFT + DRIFT_RIGHT) / 2, DRIFT_BOTTOM + 40);
	put_series(svg, &a, d, true);
	put_series(svg, &a, d, false);
	put_key(svg, base);
	buf_adds(svg, "</svg>\n");
}

/* ---- history --------------------------------------------------------------------------------- */

#define HISTORY_TOP 14.0
#define HISTORY_BOTTOM 210.0
#define HISTORY_LEFT 60.0
#define HISTORY_STEP 40.0

static void put_build(struct buf *b, const struct axis *a, const struct report_past *p, double x)
{
	const struct comparison *c = p->figure;
	const char *class = change_class(c, false);
	double low = axis_at(a, ratio_percent(c->low)), high = axis_at(a, ratio_percent(c->high));

	if (isfinite(c->low) && isfinite(c->high)) {
		put_line(b, class, x, low, x, high);
		put_line(b, class, x - 4, low, x + 4, low);
		put_line(b, class, x - 4, high, x + 4, high);
	}
	buf_addf(b, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"5\"/>\n", class, x,
		axis_at(a, ratio_percent(c->ratio)));
	buf_addf(b, "<text x=\"%.1f\" y=\"%.1f\" class=\"tick\">", x, HISTORY_BOTTOM + 18);
	if (p->build->id)
		buf_addf(b, "%" PRId64 "</text>\n", p->build->id);
	else
		buf_adds(b, "this</text>\n");
}

void plot_history(const struct report_past *v, size_t n, struct buf *svg)
{
	struct axis a = {.low = -1, .high = 0, .from = HISTORY_BOTTOM, .to = HISTORY_TOP};
	double right = HISTORY_LEFT + HISTORY_STEP * (double)(n + 1);

	right = fmin(fmax(right, 300), WIDTH - 20);
	for (size_t i = 0; i < n; i++) {
		axis_hold(&a, ratio_percent(v[i].figure->ratio));
		axis_hold(&a, ratio_percent(v[i].figure->low));
		axis_hold(&a, ratio_percent(v[i].figure->high));
	}
	axis_finish(&a);
	begin_svg(svg, HISTORY_BOTTOM + 50, "plot-history",
		"CPU time of the builds in the history against their own plain builds, with 95 % "
		"intervals. The same figures are in the table.");
	put_levels(svg, &a, HISTORY_LEFT, right);
	for (size_t i = 0; i < n; i++)
		put_build(svg, &a, &v[i],
			HISTORY_LEFT + (right - HISTORY_LEFT) * (double)(i + 1) / (double)(n + 1));
	buf_addf(svg, "<text x=\"%.1f\" y=\"%.1f\" class=\"tick\">build%s%s%s</text>\n",
		(HISTORY_LEFT + right) / 2, HISTORY_BOTTOM + 40,
		*v[n - 1].label ? " (this one: " : "", v[n - 1].label, *v[n - 1].label ? ")" : "");
	buf_adds(svg, "</svg>\n");
}
