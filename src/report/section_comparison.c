/* The comparison in the report: table, how to read it, intervals, drift. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "report/plot.h"
#include "report/sections.h"
#include "report/text.h"
#include "stats/stats.h"

static const struct comparison *of_variant(const struct comparisons *c, size_t variant, size_t row)
{
	size_t scenarios = comparisons_scenarios(c);

	if (row < scenarios)
		return &c->v[variant * scenarios + row];
	return variant < c->n_weighted ? &c->weighted[variant] : NULL;
}

static enum doc_mark change_mark(const struct comparison *x, bool null)
{
	if (x->shown == SHOWN_NONE)
		return DOC_PLAIN;
	return null ? DOC_WARN : x->shown == SHOWN_LESS ? DOC_GOOD : DOC_BAD;
}

static void change_cell(struct doc *d, const struct comparison *x, bool null)
{
	auto_buf struct buf words = BUF_INIT;

	if (x)
		report_change_text(x, &words);
	doc_mark_cell(d, x ? change_mark(x, null) : DOC_PLAIN, "%s", buf_str(&words));
}

static void comparison_row(
	struct doc *d, const struct comparisons *c, size_t row, size_t variants, const char *label)
{
	size_t scenarios = comparisons_scenarios(c);
	bool all = row == scenarios;

	doc_cell(d, "%s%s", all ? "all, by weight" : c->v[row].scenario,
		!all && c->v[row].held_out ? " (held out)" : "");
	if (all)
		doc_cell(d, "%s", "");
	else
		doc_cell(d, "%.0f ns/%s", c->v[row].base_ns, c->v[row].per_run ? "run" : "request");
	for (size_t v = 0; v < variants; v++)
		change_cell(d, of_variant(c, v, row), comparisons_is_null(c, v * scenarios));
	if (*label)
		doc_mark_cell(d, DOC_WARN, "%s", label);
}

/* run: what the caption says of it when there are several; "". */
static void comparison_table(
	struct doc *d, const struct comparisons *c, const char *run, const char *label)
{
	size_t scenarios = comparisons_scenarios(c), variants = c->n / scenarios;
	auto_strv struct strv heads = STRV_INIT;
	auto_free char *caption = xasprintf(
		"%sCPU time against %s, %u launches, percent with 95 %% intervals%s%s%s", run,
		c->v[0].base, c->v[0].launches, *label ? " (" : "", label, *label ? ")" : "");

	strv_add(&heads, "scenario");
	strv_addf(&heads, ">%s", c->v[0].base);
	for (size_t v = 0; v < variants; v++)
		strv_addf(&heads, "=%s",
			comparisons_is_null(c, v * scenarios) ? "null arm"
							      : c->v[v * scenarios].variant);
	if (*label)
		strv_add(&heads, "=label");
	doc_table(d, caption, (const char *const *)heads.v, heads.n);
	for (size_t row = 0; row < scenarios + (c->n_weighted > 0); row++)
		comparison_row(d, c, row, variants, label);
	doc_end_table(d);
}

/* ---- how to read it -------------------------------------------------------------------------- */

/* Lines that the comparison itself has to say: the null arm, a busy driver, drift, how it went. */
static void add_lines(struct doc *d, enum doc_mark mark, const char *lines)
{
	while (lines && *lines) {
		size_t n = strcspn(lines, "\n"), space = strspn(lines, " ");

		if (n > space)
			doc_note(d, mark, "%.*s", (int)(n - space), lines + space);
		lines += n + (lines[n] == '\n');
	}
}

static const struct comparison *null_of(const struct comparisons *c, size_t scenario)
{
	size_t scenarios = comparisons_scenarios(c);

	return comparisons_is_null(c, c->n - 1) ? &c->v[c->n - scenarios + scenario] : NULL;
}

/* Differences that are shown and yet need a word. */
static void add_remarks(struct doc *d, const struct comparisons *c)
{
	size_t scenarios = comparisons_scenarios(c);

	for (size_t i = 0; i < c->n; i++) {
		const struct comparison *x = &c->v[i], *null = null_of(c, i % scenarios);

		if (x->shown == SHOWN_NONE || comparisons_is_null(c, i))
			continue;
		if (x->shown == SHOWN_MORE)
			doc_note(d, DOC_BAD, "'%s' costs more with %s.", x->scenario, x->variant);
		if (null && x->ratio >= null->low && x->ratio <= null->high)
			doc_note(d, DOC_WARN,
				"'%s' with %s: a change of %+.1f %% lies inside the interval of "
				"the "
				"null arm (%+.1f to %+.1f %%). Measure it again before you rely on "
				"it.",
				x->scenario, x->variant, ratio_percent(x->ratio),
				ratio_percent(null->low), ratio_percent(null->high));
	}
}

/* What is known of the machine by comparisons of one build with itself. */
static void add_calibration(struct doc *d, const struct report *r)
{
	auto_buf struct buf note = BUF_INIT;

	report_calibration_note(&r->calibration, &r->comparisons, &note);
	if (note.n)
		doc_item(d, "T%s.", buf_str(&note) + 1);
	else
		doc_item(d,
			"This machine is not calibrated: whet bench --calibrate compares a build "
			"with itself again and again and keeps what it can tell apart.");
}

/* What is particular to a run. */
static void add_particulars(struct doc *d, const struct comparisons *c, size_t run)
{
	auto_buf struct buf course = BUF_INIT;

	if (run)
		doc_text(d, "Run %zu: the load driver used at most %.0f %% of its processor.", run,
			c->driver_busy * 100);
	report_course_text(c, &course);
	add_lines(d, DOC_WARN, c->drift_alarm);
	add_lines(d, DOC_WARN, c->warnings);
	add_remarks(d, c);
	add_lines(d, DOC_PLAIN, buf_str(&course));
}

static void add_reading(struct doc *d, const struct report *r)
{
	const struct comparisons *c = &r->comparisons;
	const char *base = c->v[0].base;

	doc_heading(d, "How to read the table");
	add_particulars(d, c, r->n_repeats ? 1 : 0);
	for (size_t i = 0; i < r->n_repeats; i++)
		if (r->repeats[i].comparisons.n)
			add_particulars(d, &r->repeats[i].comparisons, i + 2);
	doc_begin_list(d);
	doc_item(d,
		"A minus costs less CPU time than %s, a plus costs more. In brackets: the "
		"95 %% interval.",
		base);
	doc_item(d, "\"No difference shown\" means that the measurement cannot tell the difference "
		    "from "
		    "none; the interval says how large one may still be.");
	doc_item(d, "The null arm is %s against its own copy: what it shows is noise.", base);
	doc_item(d, "The intervals hold together over the scenarios of a variant.");
	if (c->n_weighted)
		doc_item(d, "\"All, by weight\" is the geometric mean of the ratios by the weights "
			    "of the phases; its interval holds for this figure alone.");
	if (c->v[0].by_launch)
		doc_item(d, "n/m: in n of m launches it cost less.");
	if (report_has_held_out(c))
		doc_item(d, "Held out: a scenario that was not trained.");
	add_calibration(d, r);
	if (!r->n_repeats)
		doc_item(d, "The load driver used at most %.0f %% of its processor.",
			c->driver_busy * 100);
	doc_end_list(d);
}

/* ---- drift ----------------------------------------------------------------------------------- */

static void ratio_cell(struct doc *d, double ratio)
{
	if (isfinite(ratio))
		doc_cell(d, "%+.1f %%", ratio_percent(ratio));
	else
		doc_cell(d, "%s", "");
}

/* A heading of what stands once for each run. */
static void run_heading(struct doc *d, const char *title, size_t run)
{
	auto_free char *text = run ? xasprintf("%s: run %zu", title, run) : xstrdup(title);

	doc_heading(d, text);
}

static void add_drift(struct doc *d, const struct report *r, size_t run, const char *label)
{
	static const char *const heads[] = {
		"launch", ">begun after, s", ">slices", ">base", ">null arm"};
	const char *base = r->comparisons.v[0].base;
	auto_buf struct buf svg = BUF_INIT;
	auto_free char *caption = NULL;
	struct drift drift;

	drift_of(r, &drift);
	if (drift.n) {
		run_heading(d, "Drift over the run", run);
		doc_text(d,
			"What a request or run of %s cost in each launch, against its median of "
			"the "
			"whole run. A machine that becomes slower or faster while it measures "
			"shows "
			"here; all variants of a launch see the same.",
			base);
		if (r->samples.n_canaries && isfinite(r->comparisons.drift))
			doc_text(d,
				"Fixed work on the same processor (the canary) changed by %.1f %% "
				"over the run; from %.0f %% on there is an alarm.",
				r->comparisons.drift * 100, DRIFT_TOLERANCE * 100);
		plot_drift(&drift, run, base, &svg);
		doc_figure(d, buf_str(&svg), "One point a launch: the median over the scenarios.");
		caption = xasprintf("Cost of %s by launch, against the whole run%s%s%s", base,
			*label ? " (" : "", label, *label ? ")" : "");
		doc_table(d, caption, heads, ARRAY_SIZE(heads));
		for (size_t i = 0; i < drift.n; i++) {
			doc_cell(d, "%zu", i + 1);
			doc_cell(d, "%.1f", drift.v[i].begun_s);
			doc_cell(d, "%zu", drift.v[i].slices);
			ratio_cell(d, drift.v[i].base);
			ratio_cell(d, drift.v[i].null);
		}
		doc_end_table(d);
	}
	drift_release(&drift);
}

/* ---- latencies ------------------------------------------------------------------------------- */

/* ns; NAN: the driver asked nothing. */
static double median_latency(
	const struct samples *s, uint32_t scenario, uint32_t arm, bool p99, double *scratch)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		const struct sample *x = &s->v[i];

		if (x->scenario == scenario && x->variant == arm && x->latency_p50_ns)
			scratch[n++] = (double)(p99 ? x->latency_p99_ns : x->latency_p50_ns);
	}
	return stats_median(scratch, n);
}

static const char *arm_name(const struct comparisons *c, size_t arm)
{
	size_t i = (arm - 1) * comparisons_scenarios(c);

	return !arm ? c->v[0].base : comparisons_is_null(c, i) ? "null arm" : c->v[i].variant;
}

static bool any_latency(const struct samples *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].latency_p50_ns)
			return true;
	return false;
}

static void add_latencies(struct doc *d, const struct report *r, size_t run, const char *label)
{
	static const char *const heads[] = {"scenario", "variant", ">median, µs", ">99 %, µs"};
	const struct comparisons *c = &r->comparisons;
	size_t scenarios = comparisons_scenarios(c), arms = c->n / scenarios + 1;
	auto_free double *scratch = xcalloc(r->samples.n + 1, sizeof(*scratch));
	auto_free char *caption =
		xasprintf("Latency of a request as the load driver saw it, medians over the slices"
			  "%s%s%s",
			*label ? " (" : "", label, *label ? ")" : "");

	if (!any_latency(&r->samples))
		return;
	run_heading(d, "Latencies", run);
	doc_table(d, caption, heads, ARRAY_SIZE(heads));
	for (size_t s = 0; s < scenarios; s++)
		for (size_t a = 0; a < arms; a++) {
			const struct samples *v = &r->samples;
			uint32_t si = (uint32_t)s, ai = (uint32_t)a;
			double p50 = median_latency(v, si, ai, false, scratch);

			if (!isfinite(p50))
				continue;
			doc_cell(d, "%s", c->v[s].scenario);
			doc_cell(d, "%s", arm_name(c, a));
			doc_cell(d, "%.0f", p50 / 1000);
			doc_cell(d, "%.0f", median_latency(v, si, ai, true, scratch) / 1000);
		}
	doc_end_table(d);
}

/* Table and plot of one run; run: from 1, of several; 0: the only one. */
static void comparison_run(
	struct doc *d, const struct comparisons *c, size_t run, const char *label)
{
	auto_free char *name = run ? xasprintf("Run %zu: ", run) : xstrdup("");
	auto_buf struct buf svg = BUF_INIT;

	comparison_table(d, c, name, label);
	plot_intervals(c, run, label, &svg);
	doc_figure(d, buf_str(&svg),
		"Filled points: a difference is shown. Hollow points: none is. Squares: the null "
		"arm. Lines: 95 % intervals.");
}

/* What stands beside the figures of one run. */
static void add_beside(struct doc *d, const struct report *r, size_t run, const char *label)
{
	auto_free char *title = run ? xasprintf("Counters: run %zu", run) : xstrdup("Counters");

	section_counters(d, title, &r->comparisons, label);
	add_drift(d, r, run, label);
	add_latencies(d, r, run, label);
}

void section_comparison(struct doc *d, const struct report *r)
{
	const struct comparisons *c = &r->comparisons;
	const char *label = report_label(r);

	if (!c->n)
		return;
	doc_section(d, "comparison", "Comparison");
	if (*label)
		doc_note(d, DOC_BAD, "These figures are not those of a release: %s.", label);
	comparison_run(d, c, r->n_repeats ? 1 : 0, label);
	for (size_t i = 0; i < r->n_repeats; i++)
		if (r->repeats[i].comparisons.n)
			comparison_run(d, &r->repeats[i].comparisons, i + 2, label);
	add_reading(d, r);
	add_beside(d, r, r->n_repeats ? 1 : 0, label);
	for (size_t i = 0; i < r->n_repeats; i++) {
		struct report one = *r; /* borrowed */

		one.comparisons = r->repeats[i].comparisons;
		one.samples = r->repeats[i].samples;
		if (one.comparisons.n)
			add_beside(d, &one, i + 2, label);
	}
}
