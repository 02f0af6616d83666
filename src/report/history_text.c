#include "report/history.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/table.h"
#include "report/history_changes.h"
#include "report/report.h"
#include "report/text.h"

#define COMMIT_DIGITS 12

/* ---- the list ---- */

char *report_revision(const struct past_build *b)
{
	static const char *const marks[] = {
		[PAST_CLEAN] = "", [PAST_DIRTY] = "+", [PAST_DIRTY_UNKNOWN] = "?"};

	return b->revision ? xasprintf("%.*s%s", COMMIT_DIGITS, b->revision, marks[b->dirty])
			   : xstrdup("-");
}

static void build_row(struct table *t, const struct past_build *b)
{
	const struct comparison *c = past_overall(&b->bench);
	auto_buf struct buf gain = BUF_INIT;
	auto_free char *revision = report_revision(b);
	char when[CLOCK_TEXT];

	clock_utc_text(b->finished_ns / NS_PER_S, when);
	if (c)
		report_change_text(c, &gain);
	table_cell(t, "%" PRId64, b->id);
	table_cell(t, "%s", when);
	table_cell(t, "%s", b->version);
	table_cell(t, "%s", revision);
	table_cell(t, "%s", c ? buf_str(&gain) : "not measured");
	table_cell(t, "%zu", comparisons_scenarios(&b->bench));
}

void report_history_list(const char *project, const struct past_builds *b, struct buf *out)
{
	static const char *const heads[] = {
		">build", "ended", "version", "revision", "against plain", ">scenarios"};
	struct table *t = table_new(heads, ARRAY_SIZE(heads));

	for (size_t i = 0; i < b->n; i++)
		build_row(t, &b->v[i]);
	buf_addf(out, "%s: %zu build%s\n", project, b->n, b->n == 1 ? "" : "s");
	report_print_table(t, out);
	buf_adds(out,
		"  against plain: CPU time, all scenarios by weight; percent of the plain build's "
		"of "
		"the same\n"
		"  sources, negative costs less; 95 % intervals\n"
		"  revision: '+' tracked files differed from it, '?' that is not known\n"
		"  builds whose gates failed or whose profile was given are not in the history\n");
}

/* ---- one build ---- */

static void add_origin(const struct past_build *b, struct buf *out)
{
	static const char *const trees[] = {[PAST_CLEAN] = "",
		[PAST_DIRTY] = ", tracked files differed from it",
		[PAST_DIRTY_UNKNOWN] = ", whether tracked files differed is not known"};
	char when[CLOCK_TEXT];

	clock_utc_text(b->finished_ns / NS_PER_S, when);
	buf_addf(out, "Build %" PRId64 " of the history, ended %s, by whet %s\n", b->id, when,
		b->whet);
	if (b->revision)
		buf_addf(out, "Revision: %s%s\n", b->revision, trees[b->dirty]);
	if (b->machine)
		buf_addf(out, "Machine: %s\n", b->machine);
	for (size_t i = 0; i < b->n_tools; i++)
		buf_addf(out, "Compiler: %s: %s\n", b->tools[i].name, b->tools[i].version);
	if (b->source)
		buf_addf(out, "Sources: %s\n", b->source);
	if (b->training)
		buf_addf(out, "Training: %s\n", b->training);
	if (b->profile)
		buf_addf(out, "Profile: %s\n", b->profile);
}

/* The tables are those of the build's own report; everything in r is borrowed. */
void report_history_build(const struct past_build *b, struct buf *out)
{
	struct report r = {
		.project = b->project,
		.version = b->version,
		.target = b->target,
		.started = b->started,
		.n_stages = b->n_stages,
		.n_artefacts = b->n_artefacts,
		.comparisons = b->bench,
	};

	r.stages = xcalloc(b->n_stages + 1, sizeof(*r.stages));
	r.artefacts = xcalloc(b->n_artefacts + 1, sizeof(*r.artefacts));
	for (size_t i = 0; i < b->n_stages; i++) {
		const struct past_stage *s = &b->stages[i];

		r.stages[i] = (struct report_stage){.name = s->name,
			.wall_ns = s->wall_ns,
			.cpu_ns = s->cpu_ns,
			.reused = s->reused};
	}
	for (size_t i = 0; i < b->n_artefacts; i++) {
		r.artefacts[i].name = b->artefacts[i].name;
		r.artefacts[i].variant = b->artefacts[i].variant;
		r.artefacts[i].sha256 = b->artefacts[i].sha256;
		r.artefacts[i].bytes = b->artefacts[i].bytes;
	}
	add_origin(b, out);
	report_text(&r, out);
	if (!b->bench.n)
		buf_adds(out, "\nNothing was measured.\n");
	free(r.stages);
	free(r.artefacts);
}

/* ---- two builds ---- */

static void figure_cell(struct table *t, const struct comparison *c)
{
	auto_buf struct buf b = BUF_INIT;

	if (c)
		report_change_text(c, &b);
	table_cell(t, "%s", c ? buf_str(&b) : "not measured");
}

static void change_row(struct table *t, const struct history_change *c)
{
	const struct interval *i = &c->change.ratio;

	const struct comparison *one = c->after ? c->after : c->before;

	table_cell(t, "%s%s", c->scenario ? c->scenario : "all, by weight",
		one->held_out ? " (held out)" : "");
	table_cell(t, "%s", c->variant);
	figure_cell(t, c->before);
	figure_cell(t, c->after);
	if (!c->before || !c->after) {
		table_cell(t, "-");
		table_cell(t, "-");
	} else if (!c->change.known) {
		table_cell(t, "%+.1f %% (no interval)", ratio_percent(i->at));
		table_cell(t, "-");
	} else {
		auto_free char *at = history_shown(c) ? xasprintf("%+.1f %%", ratio_percent(i->at))
						      : xstrdup("no change shown");

		table_cell(
			t, "%s [%+.1f, %+.1f]", at, ratio_percent(i->low), ratio_percent(i->high));
		table_cell(t, "%s", c->change.overlap ? "overlap" : "apart");
	}
}

static const char reading[] =
	"  change: what a request or run costs beside its own plain build, now against then; '+' "
	"gains\n"
	"  less than before, '-' more; intervals: whether those of the two builds overlap\n"
	"\n"
	"  Each build was measured against its own plain build, at its own time. The change says\n"
	"  whether the profile brings more or less than it did. It does not say which of the two\n"
	"  builds is faster: plain is another program in each of them, and times of different "
	"days\n"
	"  cannot be compared. `whet bench` with both binaries tells that.\n"
	"  Intervals that overlap do not show that nothing changed, and can go with a change that\n"
	"  is shown: the interval of the change decides. It holds what differs between launches,\n"
	"  not what every new link moves.\n";

void report_history_compare(
	const struct past_build *before, const struct past_build *after, struct buf *out)
{
	auto_free char *then = xasprintf("build %" PRId64, before->id);
	auto_free char *now = xasprintf("build %" PRId64, after->id);
	const char *const heads[] = {
		"scenario", "variant", then, now, "change of the gain", "intervals"};
	auto_strv struct strv others = STRV_INIT;
	struct history_changes c = {0};
	struct table *t = table_new(heads, ARRAY_SIZE(heads));

	history_changes(before, after, &c);
	history_differences(before, after, &others);
	buf_addf(out,
		"Build %" PRId64 " (%s, started %s) against build %" PRId64 " (%s, started %s)\n",
		after->id, after->version, after->started ? after->started : "?", before->id,
		before->version, before->started ? before->started : "?");
	for (size_t i = 0; i < c.n; i++)
		change_row(t, &c.v[i]);
	report_print_table(t, out);
	buf_adds(out, reading);
	if (others.n)
		buf_adds(out, "\n  also different, and part of any change:\n");
	for (size_t i = 0; i < others.n; i++)
		buf_addf(out, "    %s\n", others.v[i]);
	free(c.v);
}
