/* The build in the report: at a glance, gates, tools and flags, stages, artefacts. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "report/sections.h"
#include "report/text.h"

/* ---- at a glance ----------------------------------------------------------------------------- */

static void gates_fact(struct doc *d, const struct verdicts *vs)
{
	size_t passed = 0, failed = 0;
	auto_free char *value = NULL, *detail = NULL;

	for (size_t i = 0; i < vs->n; i++) {
		passed += vs->v[i].state == VERDICT_PASS;
		failed += vs->v[i].state == VERDICT_FAIL;
	}
	if (!vs->n)
		return;
	value = failed ? xasprintf("%zu FAILED", failed) : xasprintf("%zu passed", passed);
	detail = xasprintf("of %zu asked, %zu skipped", vs->n, vs->n - passed - failed);
	doc_fact(d, "Gates", failed ? DOC_BAD : DOC_GOOD, value, detail);
}

/* The figure of each variant that stands for all scenarios. */
static void change_facts(struct doc *d, const struct report *r)
{
	const struct comparisons *c = &r->comparisons;
	const struct comparison *all = c->n_weighted ? c->weighted : c->v;
	size_t n = c->n_weighted ? c->n_weighted : comparisons_scenarios(c) == 1 ? c->n : 0;
	const char *label = report_label(r);

	for (size_t i = 0; i < n; i++) {
		const struct comparison *x = &all[i];
		bool shown = x->shown != SHOWN_NONE;
		auto_free char *title = xasprintf("CPU time, %s", x->variant);
		auto_free char *value = shown ? xasprintf("%+.1f %%", ratio_percent(x->ratio))
					      : xstrdup("no difference shown");
		auto_free char *detail =
			xasprintf("%s%s%s", *label ? "(" : "", label, *label ? ") " : "");
		auto_free char *interval =
			isfinite(x->low) && isfinite(x->high)
				? xasprintf("%s95 %% interval %+.1f to %+.1f %%", detail,
					  ratio_percent(x->low), ratio_percent(x->high))
				: xasprintf("%stoo few launches", detail);

		if (c->n_weighted ? i + 1 == n && strcmp(x->variant, "null") == 0
				  : comparisons_is_null(c, i))
			continue;
		doc_fact(d, title,
			!shown                   ? DOC_PLAIN
			: x->shown == SHOWN_LESS ? DOC_GOOD
						 : DOC_BAD,
			value, interval);
	}
}

static void training_fact(struct doc *d, const char *title, const struct training_facts *t)
{
	uint64_t done = 0;
	size_t ok = 0;
	auto_free char *value = NULL, *detail = NULL;

	for (size_t i = 0; i < t->n_phases; i++) {
		ok += t->phases[i].status == PHASE_OK;
		done += t->phases[i].done;
	}
	if (!t->n_phases)
		return;
	value = xasprintf("%" PRIu64 " answers", done);
	detail = xasprintf("as expected, in %zu of %zu phases", ok, t->n_phases);
	doc_fact(d, title, DOC_PLAIN, value, detail);
}

static void profile_fact(struct doc *d, const struct profile_facts *p)
{
	auto_free char *value = xasprintf("%" PRIu64 " functions", p->executed);
	auto_free char *detail = xasprintf("executed, of %" PRIu64, p->functions);

	if (p->sha256)
		doc_fact(d, "Profile", DOC_PLAIN, value, detail);
}

static void time_fact(struct doc *d, const struct report *r)
{
	uint64_t wall = 0;
	double multiple = report_multiple(r);
	auto_free char *value = NULL, *detail = NULL;

	for (size_t i = 0; i < r->n_stages; i++)
		wall += r->stages[i].wall_ns;
	value = report_duration(wall);
	detail = multiple > 0 ? xasprintf("%.1f times the plain build", multiple) : xstrdup("");
	if (r->n_stages)
		doc_fact(d, "Time", DOC_PLAIN, value, detail);
}

void section_glance(struct doc *d, const struct report *r)
{
	const char *label = report_label(r);

	doc_section(d, "glance", "At a glance");
	if (*label)
		doc_note(d, DOC_BAD,
			"Not to be published: %s. Every figure below belongs to such a build.",
			label);
	doc_begin_facts(d);
	change_facts(d, r);
	gates_fact(d, &r->verdicts);
	training_fact(d, "Training", &r->training);
	training_fact(d, "Second training", &r->second_training);
	profile_fact(d, &r->profile);
	time_fact(d, r);
	doc_end_facts(d);
}

/* ---- gates ----------------------------------------------------------------------------------- */

static void evidence(struct doc *d, const struct verdict *v)
{
	if (!*v->evidence && !*v->remedy)
		return;
	if (v->state == VERDICT_FAIL)
		doc_note(d, DOC_BAD, "%s failed: %s", v->gate, v->summary);
	else
		doc_begin_more(d, v->gate);
	if (*v->evidence)
		doc_lines(d, v->evidence);
	if (*v->remedy)
		doc_text(d, "What to do: %s", v->remedy);
	if (v->state != VERDICT_FAIL)
		doc_end_more(d);
}

void section_gates(struct doc *d, const struct report *r)
{
	static const char *const heads[] = {"gate", "state", "finding"};
	static const enum doc_mark marks[] = {
		[VERDICT_PASS] = DOC_GOOD,
		[VERDICT_FAIL] = DOC_BAD,
		[VERDICT_SKIPPED] = DOC_QUIET,
	};
	const struct verdicts *vs = &r->verdicts;

	if (!vs->n)
		return;
	doc_section(d, "gates", "Gates");
	doc_text(d, "Each gate looks for one way in which a build goes wrong without an error.");
	doc_table(d, "Gates that were asked", heads, ARRAY_SIZE(heads));
	for (size_t i = 0; i < vs->n; i++) {
		doc_cell(d, "%s", vs->v[i].gate);
		doc_mark_cell(d, marks[vs->v[i].state], "%s", verdict_state_name(vs->v[i].state));
		doc_cell(d, "%s", vs->v[i].summary);
	}
	doc_end_table(d);
	for (size_t i = 0; i < vs->n; i++)
		evidence(d, &vs->v[i]);
}

/* ---- tools and flags ------------------------------------------------------------------------- */

static void flags_row(struct doc *d, const char *build, const struct strv *added)
{
	auto_free char *text = strv_shell_quote(added);

	doc_cell(d, "%s", build);
	doc_cell(d, "%s", added->n ? text : "nothing");
}

static void flags_table(struct doc *d, const struct report *r)
{
	static const char *const heads[] = {"build", "`added flags"};

	if (!r->added_plain.n && !r->added_instrumented.n && !r->added_optimised.n)
		return;
	doc_table(d, "What whet added to the commands of each build, complete", heads,
		ARRAY_SIZE(heads));
	flags_row(d, "plain", &r->added_plain);
	flags_row(d, "instrumented", &r->added_instrumented);
	if (r->added_second.n)
		flags_row(d, "second instrumented", &r->added_second);
	flags_row(d, "optimised", &r->added_optimised);
	doc_end_table(d);
}

static void launchers_table(struct doc *d, const struct report *r)
{
	static const char *const heads[] = {"program", ">calls", "what became of it"};

	if (!r->n_launchers)
		return;
	doc_table(d, "Programs that the build put in front of its compilers", heads,
		ARRAY_SIZE(heads));
	for (size_t i = 0; i < r->n_launchers; i++) {
		doc_cell(d, "%s", r->launchers[i].name);
		doc_cell(d, "%" PRIu64, r->launchers[i].calls);
		doc_cell(d, "%s",
			r->launchers[i].bypassed ? "bypassed" : "ran behind whet's wrapper");
	}
	doc_end_table(d);
}

void section_build(struct doc *d, const struct report *r)
{
	static const char *const heads[] = {"tool", "`version"};
	bool flags = r->added_plain.n || r->added_instrumented.n || r->added_optimised.n;

	if (!r->tools.n && !r->n_launchers && !flags)
		return;
	doc_section(d, "build", "Build");
	if (r->tools.n) {
		doc_table(d, "Tools", heads, ARRAY_SIZE(heads));
		for (size_t i = 0; i < r->tools.n; i++) {
			doc_cell(d, "%s", i ? "compiler" : "whet");
			doc_cell(d, "%s", r->tools.v[i]);
		}
		doc_end_table(d);
	}
	flags_table(d, r);
	launchers_table(d, r);
}

/* ---- stages and artefacts -------------------------------------------------------------------- */

void section_stages(struct doc *d, const struct report *r)
{
	static const char *const heads[] = {"stage", ">wall", ">CPU", "share of the time", "from"};
	uint64_t wall = 0;

	if (!r->n_stages)
		return;
	doc_section(d, "stages", "Stages");
	for (size_t i = 0; i < r->n_stages; i++)
		wall += r->stages[i].wall_ns;
	doc_table(d, "Stages of the build and their times", heads, ARRAY_SIZE(heads));
	for (size_t i = 0; i < r->n_stages; i++) {
		const struct report_stage *s = &r->stages[i];
		auto_free char *wall_text = report_duration(s->wall_ns);
		auto_free char *cpu_text = report_duration(s->cpu_ns);

		doc_cell(d, "%s", s->name);
		doc_cell(d, "%s", wall_text);
		doc_cell(d, "%s", cpu_text);
		doc_share_cell(d, wall ? (double)s->wall_ns / (double)wall : 0);
		doc_cell(d, "%s%s%s", s->reused ? "an earlier build" : "this build",
			s->why ? ": " : "", s->why ? s->why : "");
	}
	doc_end_table(d);
}

void section_artefacts(struct doc *d, const struct report *r)
{
	static const char *const heads[] = {"artefact", "variant", ">bytes", "`SHA-256"};

	if (!r->n_artefacts)
		return;
	doc_section(d, "artefacts", "Artefacts");
	doc_table(d, "Files of the release", heads, ARRAY_SIZE(heads));
	for (size_t i = 0; i < r->n_artefacts; i++) {
		doc_cell(d, "%s", r->artefacts[i].name);
		doc_cell(d, "%s", r->artefacts[i].variant);
		doc_cell(d, "%" PRIu64, r->artefacts[i].bytes);
		doc_cell(d, "%s", r->artefacts[i].sha256);
	}
	doc_end_table(d);
}
