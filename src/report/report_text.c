#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/table.h"
#include "report/layout.h"
#include "report/luck.h"
#include "report/report.h"
#include "report/text.h"
#include "report/variants.h"

void report_change_text(const struct comparison *c, struct buf *out)
{
	if (!isfinite(c->low) || !isfinite(c->high)) {
		buf_addf(out, "not shown by %u launches", c->launches);
		return;
	}
	if (c->shown == SHOWN_NONE && c->more_launches)
		buf_addf(out, "too noisy: needs about %u more launches", c->more_launches);
	else if (c->shown == SHOWN_NONE)
		buf_adds(out, "no difference shown");
	else
		buf_addf(out, "%+.1f %%", ratio_percent(c->ratio));
	buf_addf(out, " [%+.1f, %+.1f]", ratio_percent(c->low), ratio_percent(c->high));
	if (c->by_launch)
		buf_addf(out, " %u/%u", c->better_launches, c->launches);
}

/* ---- Comparison ----------------------------------------------------------------------------- */

const char *report_unit(const struct comparisons *c)
{
	size_t scenarios = comparisons_scenarios(c), runs = 0;

	for (size_t s = 0; s < scenarios; s++)
		runs += c->v[s].per_run;
	return !runs ? "request" : runs == scenarios ? "run" : "";
}

/* The scenarios together, one cell for each variant. */
static void weighted_row(struct table *t, const struct comparisons *c, const char *label)
{
	table_cell(t, "all, by weight");
	table_cell(t, "%s", "");
	for (size_t i = 0; i < c->n_weighted && i < 29; i++) {
		auto_buf struct buf change = BUF_INIT;

		report_change_text(&c->weighted[i], &change);
		table_cell(t, "%s", buf_str(&change));
	}
	if (*label)
		table_cell(t, "(%s)", label);
}

static void scenario_row(
	struct table *t, const struct comparisons *c, size_t s, size_t scenarios, const char *label)
{
	bool mixed = !*report_unit(c);

	table_cell(t, "%s%s", c->v[s].scenario, c->v[s].held_out ? " (held out)" : "");
	table_cell(t, "%.0f%s", c->v[s].base_ns,
		!mixed            ? ""
		: c->v[s].per_run ? " ns/run"
				  : " ns/request");
	for (size_t i = s; i < c->n && i / scenarios < 29; i += scenarios) {
		auto_buf struct buf change = BUF_INIT;

		report_change_text(&c->v[i], &change);
		table_cell(t, "%s", buf_str(&change));
	}
	if (*label)
		table_cell(t, "(%s)", label);
}

/* "outliers, kept: 'mix' with pgo: launch 3 (+12.4 %)". */
static void add_outliers(const struct comparison *c, struct buf *out)
{
	size_t n = 0;

	for (uint32_t i = 0; c->outlier && i < c->launches; i++) {
		if (!c->outlier[i])
			continue;
		if (!n++)
			buf_addf(out, "  outliers, kept: '%s' with %s: launch", c->scenario,
				c->variant);
		buf_addf(out, "%s %u (%+.1f %%)", n > 1 ? "," : "", i + 1,
			ratio_percent(c->by_launch[i]));
	}
	if (n)
		buf_addc(out, '\n');
}

bool report_has_held_out(const struct comparisons *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].held_out)
			return true;
	return false;
}

/* Why it ended when it did, and what is wider than was asked. */
static void add_end(const struct comparisons *c, struct buf *out)
{
	double asked = c->until_resolved * 100;
	uint32_t launches = c->v[0].launches;

	if (c->end == TRIAL_TIME)
		buf_addf(out, "  the time limit of %.0f s ended it after %u launches\n",
			(double)c->time_limit_ns / NS_PER_S, launches);
	else if (c->end == TRIAL_MOST)
		buf_addf(out, "  ended after %u launches, the most that are made\n", launches);
	else if (c->end == TRIAL_RESOLVED)
		buf_addf(out,
			"  resolved: after %u launches no interval is wider than %.2g %% to "
			"each side\n",
			launches, asked);
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].more_launches)
			buf_addf(out,
				"  not resolved: '%s' with %s needs about %u more launches for "
				"%.2g %% to each "
				"side\n",
				c->v[i].scenario, c->v[i].variant, c->v[i].more_launches, asked);
}

void report_course_text(const struct comparisons *c, struct buf *out)
{
	add_end(c, out);
	for (size_t i = 0; i < c->n; i++)
		add_outliers(&c->v[i], out);
}

void report_comparison_reading(const struct comparisons *c, struct buf *out)
{
	buf_addf(out,
		"  percent of %s's CPU time, negative costs less; 95 %% intervals, holding "
		"together\n"
		"  over the scenarios; the null arm is %s against its own copy\n",
		c->v[0].base, c->v[0].base);
	if (c->n_weighted)
		buf_adds(out, "  all, by weight: geometric mean of the ratios by the phases' "
			      "`weight`; its interval\n  holds for this figure alone\n");
	if (c->v[0].by_launch)
		buf_adds(out, "  n/m: in n of m launches it cost less\n");
	if (report_has_held_out(c))
		buf_adds(out, "  held out: not trained\n");
}

void report_comparison_notes(const struct comparisons *c, struct buf *out)
{
	report_course_text(c, out);
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].shown == SHOWN_MORE && !comparisons_is_null(c, i))
			buf_addf(out,
				"  warning: '%s' costs more with %s: see docs/measuring.md before "
				"you "
				"publish it\n",
				c->v[i].scenario, c->v[i].variant);
	if (c->warnings && *c->warnings)
		report_add_indented(out, c->warnings);
	if (c->drift_alarm)
		report_add_indented(out, c->drift_alarm);
}

void report_comparison_text(const struct comparisons *c, const char *label, struct buf *out)
{
	size_t scenarios = comparisons_scenarios(c), columns = 0;
	const char *heads[32] = {"scenario"}, *unit;
	auto_free char *base = NULL;
	struct table *t;

	if (!c->n)
		return;
	unit = report_unit(c);
	heads[1] = base = *unit ? xasprintf(">%s, ns/%s", c->v[0].base, unit)
				: xasprintf(">%s", c->v[0].base);
	for (columns = 2; columns < 31 && (columns - 2) * scenarios < c->n; columns++) {
		size_t i = (columns - 2) * scenarios;

		heads[columns] = comparisons_is_null(c, i) ? "null arm" : c->v[i].variant;
	}
	if (*label)
		heads[columns++] = "";
	t = table_new(heads, columns);
	for (size_t s = 0; s < scenarios; s++)
		scenario_row(t, c, s, scenarios, label);
	if (c->n_weighted)
		weighted_row(t, c, label);
	buf_addf(out, "CPU time%s%s against %s, %u launches%s%s%s\n", *unit ? " per " : "", unit,
		c->v[0].base, c->v[0].launches, *label ? " (" : "", label, *label ? ")" : "");
	report_print_table(t, out);
	report_comparison_reading(c, out);
	report_comparison_notes(c, out);
	report_counters_text(c, label, out);
	buf_addc(out, '\n');
}

/* ---- Stages, gates, artefacts --------------------------------------------------------------- */

char *report_duration(uint64_t ns)
{
	double s = (double)ns / NS_PER_S;

	if (s < 119.95)
		return xasprintf("%.1f s", s);
	return xasprintf("%u min %02u s", (unsigned)(s + 0.5) / 60, (unsigned)(s + 0.5) % 60);
}

static void stage_row(
	struct table *t, const char *name, uint64_t wall, uint64_t cpu, const char *note)
{
	auto_free char *wall_text = report_duration(wall), *cpu_text = report_duration(cpu);

	table_cell(t, "%s", name);
	table_cell(t, "%s", wall_text);
	table_cell(t, "%s", cpu_text);
	table_cell(t, "%s", note);
}

static void add_stages(const struct report *r, struct buf *out)
{
	static const char *const heads[] = {"stage", ">wall", ">CPU", ""};
	struct table *t;
	uint64_t wall = 0, cpu = 0;
	double multiple = report_multiple(r);
	auto_free char *note = NULL;

	if (!r->n_stages)
		return;
	t = table_new(heads, ARRAY_SIZE(heads));
	for (size_t i = 0; i < r->n_stages; i++) {
		const struct report_stage *s = &r->stages[i];

		stage_row(t, s->name, s->wall_ns, s->cpu_ns, s->reused ? "reused" : "");
		wall += s->wall_ns;
		cpu += s->cpu_ns;
	}
	note = multiple > 0 ? xasprintf("%.1f times the plain build", multiple) : xstrdup("");
	stage_row(t, "total", wall, cpu, note);
	buf_adds(out, "Stages\n");
	report_print_table(t, out);
	buf_addc(out, '\n');
}

static void add_gates(const struct report *r, struct buf *out)
{
	static const char *const heads[] = {"gate", "verdict", "finding"};
	struct table *t;

	if (!r->verdicts.n)
		return;
	t = table_new(heads, ARRAY_SIZE(heads));
	for (size_t i = 0; i < r->verdicts.n; i++) {
		const struct verdict *v = &r->verdicts.v[i];

		table_cell(t, "%s", v->gate);
		table_cell(t, "%s", verdict_state_name(v->state));
		table_cell(t, "%s", v->summary);
	}
	buf_adds(out, "Gates\n");
	report_print_table(t, out);
	buf_addc(out, '\n');
}

static void add_artefacts(const struct report *r, struct buf *out)
{
	static const char *const heads[] = {"artefact", ">bytes", "sha256"};
	struct table *t;

	if (!r->n_artefacts)
		return;
	t = table_new(heads, ARRAY_SIZE(heads));
	for (size_t i = 0; i < r->n_artefacts; i++) {
		table_cell(t, "%s", r->artefacts[i].name);
		table_cell(t, "%llu", (unsigned long long)r->artefacts[i].bytes);
		table_cell(t, "%s", r->artefacts[i].sha256);
	}
	buf_addf(out, "Artefacts%s%s\n", r->dist ? " in " : "", r->dist ? r->dist : "");
	report_print_table(t, out);
	buf_addc(out, '\n');
}

/* ---- Training and what was added ------------------------------------------------------------ */

#define LOST_LISTED 5

static void add_staleness(const struct staleness *s, struct buf *out)
{
	auto_free char *from = staleness_from(s), *text = staleness_text(s);

	if (!s->judged)
		return;
	buf_addf(out, "  %s: %s\n", from, text);
	for (size_t i = 0; i < s->n && i < LOST_LISTED; i++) {
		auto_free char *share = staleness_percent(s->v[i].share);

		buf_addf(out, "    lost: %s, %s of all counts: %s%s%s\n", s->v[i].name, share,
			lost_how_name(s->v[i].how), s->v[i].now ? ", now " : "",
			s->v[i].now ? s->v[i].now : "");
	}
	if (s->all_lost > LOST_LISTED)
		buf_addf(out, "    and %llu colder ones\n",
			(unsigned long long)(s->all_lost - LOST_LISTED));
	if (staleness_near(s))
		buf_adds(
			out, "  More than half of the budget is used: `whet build` trains anew.\n");
}

static void training_line(const char *name, const struct training_facts *t, struct buf *out)
{
	uint64_t done = 0;
	size_t ok = 0;

	for (size_t i = 0; i < t->n_phases; i++) {
		ok += t->phases[i].status == PHASE_OK;
		done += t->phases[i].done;
	}
	if (t->n_phases)
		buf_addf(out,
			"%s: %zu of %zu phases, %llu requests and runs answered as expected, "
			"%zu processes%s%s%s\n",
			name, ok, t->n_phases, (unsigned long long)done, t->n_processes,
			t->emulator ? "; trained under emulation (" : "",
			t->emulator ? t->emulator : "",
			t->emulator ? "), without a comparison: its time says nothing" : "");
	if (t->failure)
		report_add_indented(out, t->failure);
}

static void add_training(const struct report *r, struct buf *out)
{
	training_line("Training", &r->training, out);
	training_line("Second training", &r->second_training, out);
	if (r->profile.sha256)
		buf_addf(out, "Profile: %llu functions, %llu executed, sha256 %s%s\n",
			(unsigned long long)r->profile.functions,
			(unsigned long long)r->profile.executed, r->profile.sha256,
			r->profile.reused  ? " (reused, not trained in this build)"
			: r->profile.given ? " (given, not trained in this build)"
					   : "");
	if (r->profile.beside_sha256)
		buf_addf(out,
			"  %llu of them counted by gcc, %llu executed; the file of the other kind: "
			"sha256 %s\n",
			(unsigned long long)r->profile.gcc_functions,
			(unsigned long long)r->profile.gcc_executed, r->profile.beside_sha256);
	if (r->profile.context_sensitive)
		buf_addf(out,
			"Put in after inlining, by the second round: counters of %llu functions, "
			"%llu executed\n",
			(unsigned long long)r->profile.second_functions,
			(unsigned long long)r->profile.second_executed);
	if (r->profile.left_out)
		buf_adds(out, "Untrained functions: compiled as without a profile (pgo: untrained: "
			      "neutral)\n");
	add_staleness(&r->staleness, out);
}

static void add_strays(const struct report *r, struct buf *out)
{
	for (size_t i = 0; i < r->n_strays; i++)
		buf_addf(out, "Profile file in the project: %s%s%s\n", r->strays[i].path,
			r->strays[i].tracked ? ", tracked by git" : "",
			r->strays[i].source ? ", part of the source digest" : "");
}

static void added_line(struct buf *out, const char *build, const struct strv *added)
{
	auto_free char *text = strv_shell_quote(added);

	buf_addf(out, "Added to the %s build: %s\n", build, added->n ? text : "nothing");
}

static void add_added(const struct report *r, struct buf *out)
{
	if (r->added_plain.n || r->added_instrumented.n || r->added_optimised.n) {
		added_line(out, "plain", &r->added_plain);
		added_line(out, "instrumented", &r->added_instrumented);
		if (r->added_second.n)
			added_line(out, "second instrumented", &r->added_second);
		added_line(out, "optimised", &r->added_optimised);
	}
	for (size_t i = 0; i < r->n_launchers; i++)
		buf_addf(out, "In front of the compilers: %s, %llu calls: %s\n",
			r->launchers[i].name, (unsigned long long)r->launchers[i].calls,
			r->launchers[i].bypassed ? "bypassed" : "ran behind whet's wrapper");
}

void report_text(const struct report *r, struct buf *out)
{
	const char *label = report_label(r);

	buf_addf(out, "%s%s%s%s%s, started %s\n", r->project ? r->project : "?",
		r->version ? " " : "", r->version ? r->version : "", r->target ? " for " : "",
		r->target ? r->target : "", r->started ? r->started : "?");
	if (*label)
		buf_addf(out,
			"Not to be published: %s. Every figure below belongs to such a build.\n",
			label);
	add_training(r, out);
	add_strays(r, out);
	add_added(r, out);
	buf_addc(out, '\n');
	add_stages(r, out);
	add_gates(r, out);
	add_artefacts(r, out);
	if (r->has_coverage) {
		report_coverage_text(&r->coverage, false, out);
		buf_addc(out, '\n');
	}
	report_bench_text(r, label, out);
	variants_text(&r->decision, label, out);
	luck_text(&r->luck, label, out);
	layout_text(r, label, out);
	while (out->n > 1 && out->p[out->n - 1] == '\n' && out->p[out->n - 2] == '\n')
		out->p[--out->n] = '\0';
}
