/* The training in the report: phases, and what each of them executed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/sections.h"
#include "report/text.h"

#define LISTED 10 /* functions of a list */
#define UNREACHED 40
#define HOT 25
#define PHASES_LISTED 40 /* whose functions are listed: a matrix may have hundreds */

static enum doc_mark status_mark(enum phase_status s)
{
	return s == PHASE_OK ? DOC_GOOD : s == PHASE_SKIPPED ? DOC_QUIET : DOC_BAD;
}

static void duration_cell(struct doc *d, uint64_t ns)
{
	auto_free char *text = report_duration(ns);

	doc_cell(d, "%s", text);
}

static void phase_rows(struct doc *d, const struct training_facts *t)
{
	for (size_t i = 0; i < t->n_phases; i++) {
		const struct phase_result *p = &t->phases[i];

		doc_cell(d, "%s", p->name);
		doc_mark_cell(d, status_mark(p->status), "%s", phase_status_name(p->status));
		doc_cell(d, "%" PRIu64, p->planned);
		doc_cell(d, "%" PRIu64, p->done);
		duration_cell(d, p->wall_ns);
		duration_cell(d, p->subject_cpu_ns);
		duration_cell(d, p->driver_cpu_ns);
	}
}

void section_training(struct doc *d, const struct report *r)
{
	static const char *const heads[] = {"phase", "state", ">asked", ">answered as expected",
		">time", ">CPU, program", ">CPU, driver"};
	const struct training_facts *t = &r->training;

	if (!t->n_phases && !t->failure)
		return;
	doc_section(d, "training", "Training");
	if (t->failure)
		doc_note(d, DOC_BAD, "The training stopped early: %s", t->failure);
	doc_text(d,
		"Every answer was compared with what the plan expects. %zu processes ran "
		"instrumented code and left %zu raw profiles.",
		t->n_processes, t->n_raws);
	if (t->emulator)
		doc_note(d, DOC_WARN,
			"Trained under emulation (%s): what the programs counted is what they "
			"count on the target, but how long they took says nothing, so nothing was "
			"compared.",
			t->emulator);
	doc_table(d, "Phases of the training: requests or runs", heads, ARRAY_SIZE(heads));
	phase_rows(d, t);
	doc_end_table(d);
	if (r->second_training.n_phases) {
		doc_text(d,
			"The same load trained once more, with counters that were put in after "
			"inlining. %zu processes left %zu raw profiles.",
			r->second_training.n_processes, r->second_training.n_raws);
		doc_table(d, "Phases of the second training", heads, ARRAY_SIZE(heads));
		phase_rows(d, &r->second_training);
		doc_end_table(d);
	}
	for (size_t i = 0; i < t->n_phases; i++) {
		if (!t->phases[i].problem)
			continue;
		doc_note(d, DOC_BAD, "Phase '%s':", t->phases[i].name);
		doc_lines(d, t->phases[i].problem);
		if (t->phases[i].log)
			doc_lines(d, t->phases[i].log);
	}
}

/* ---- coverage -------------------------------------------------------------------------------- */

/* "phase", and with settings "phase [setting]". Caller frees. */
static char *part_name(const struct coverage_phase *p)
{
	return p->setting ? xasprintf("%s [%s]", report_phase_name(p), p->setting)
			  : xstrdup(report_phase_name(p));
}

static void coverage_table(struct doc *d, const struct coverage_facts *c)
{
	static const char *const heads[] = {"phase", ">counted", ">functions", ">first here",
		">mostly here", ">times in the profile", "remark"};

	doc_table(d, "What each phase executed", heads, ARRAY_SIZE(heads));
	for (size_t i = 0; i < c->n_phases; i++) {
		const struct coverage_phase *p = &c->phases[i];
		auto_free char *name = part_name(p), *remark = report_phase_remark(p);

		doc_cell(d, "%s", name);
		doc_cell(d, "%" PRIu64, p->count);
		doc_cell(d, "%" PRIu64, p->functions);
		doc_cell(d, "%" PRIu64, p->new_functions);
		doc_cell(d, "%" PRIu64, p->mostly.all);
		doc_cell(d, p->part == COVERAGE_PHASE ? "%.4g" : "", p->times);
		doc_mark_cell(d, p->useless ? DOC_WARN : DOC_PLAIN, "%s", remark);
	}
	doc_end_table(d);
}

static void settings_table(struct doc *d, const struct coverage_facts *c)
{
	static const char *const heads[] = {
		"setting", ">counted", ">functions of its own", "reached"};

	if (!c->n_settings)
		return;
	doc_table(d, "Settings of the matrix", heads, ARRAY_SIZE(heads));
	for (size_t i = 0; i < c->n_settings; i++) {
		const struct coverage_setting *s = &c->settings[i];

		doc_cell(d, "%s", s->name);
		doc_cell(d, "%" PRIu64, s->count);
		doc_cell(d, "%" PRIu64, s->only.all);
		doc_mark_cell(d, s->reached ? DOC_PLAIN : DOC_WARN, "%s",
			s->reached ? "yes" : "no: its phases executed nothing");
	}
	doc_end_table(d);
}

/* The functions of one list of every phase; first: those that nothing executed before. */
static void functions_table(struct doc *d, const struct coverage_facts *c, bool first)
{
	static const char *const heads[] = {
		"phase", "`function", ">counted", ">of its all", "`file"};
	size_t phases = 0;

	doc_begin_more(d, first ? "Functions that a phase executes first"
				: "Functions that a phase executes more than all others together");
	doc_table(d,
		first ? "Functions that nothing executed before, most counted first"
		      : "Functions that count more here than in all other phases",
		heads, ARRAY_SIZE(heads));
	for (size_t i = 0; i < c->n_phases && phases < PHASES_LISTED; i++) {
		const struct coverage_phase *p = &c->phases[i];
		const struct coverage_functions *f = first ? &p->first : &p->mostly;
		auto_free char *name = part_name(p);

		if (p->part != COVERAGE_PHASE)
			continue;
		phases++;
		for (size_t k = 0; k < f->n && k < LISTED; k++) {
			doc_cell(d, "%s", name);
			doc_cell(d, "%s", report_function_name(&f->v[k]));
			doc_cell(d, "%" PRIu64, f->v[k].count);
			doc_cell(d, "%.1f %%", f->v[k].share * 100);
			doc_cell(d, "%s", f->v[k].file ? f->v[k].file : "");
		}
	}
	doc_end_table(d);
	doc_end_more(d);
}

static bool has_functions(const struct coverage_facts *c, bool first)
{
	for (size_t i = 0; i < c->n_phases; i++)
		if (c->phases[i].part == COVERAGE_PHASE &&
			(first ? c->phases[i].first.n : c->phases[i].mostly.n))
			return true;
	return false;
}

static void unreached_table(struct doc *d, const struct coverage_facts *c)
{
	static const char *const heads[] = {"`function", ">counters", "`file"};
	const struct coverage_functions *f = &c->unreached;

	if (!f->n)
		return;
	doc_begin_more(d, "Functions that nothing executes");
	doc_text(d, "%" PRIu64 " of %" PRIu64 " functions; the largest:", f->all, c->functions);
	doc_table(d, "Functions that nothing executes, largest first", heads, ARRAY_SIZE(heads));
	for (size_t i = 0; i < f->n && i < UNREACHED; i++) {
		doc_cell(d, "%s", report_function_name(&f->v[i]));
		doc_cell(d, "%" PRIu32, f->v[i].counters);
		doc_cell(d, "%s", f->v[i].file ? f->v[i].file : "");
	}
	doc_end_table(d);
	doc_end_more(d);
}

void section_coverage(struct doc *d, const struct report *r)
{
	const struct coverage_facts *c = &r->coverage;

	if (!r->has_coverage)
		return;
	doc_section(d, "coverage", "Coverage of the training");
	if (c->problem) {
		doc_note(d, DOC_WARN, "Not known: what each phase executes could not be read. %s",
			c->problem);
		return;
	}
	doc_text(d,
		"%" PRIu64 " of %" PRIu64 " functions are executed by phases, %" PRIu64
		" before and after them alone; %" PRIu64 " of %" PRIu64 " counters.",
		c->phase_functions, c->functions, c->outside_functions, c->executed_counters,
		c->counters);
	if (c->notes)
		doc_lines(d, c->notes);
	coverage_table(d, c);
	settings_table(d, c);
	if (has_functions(c, true))
		functions_table(d, c, true);
	if (has_functions(c, false))
		functions_table(d, c, false);
	unreached_table(d, c);
}

/* ---- profile --------------------------------------------------------------------------------- */

static int by_count(const void *pa, const void *pb)
{
	const struct profile_function *const *a = pa, *const *b = pb;

	if ((*a)->max_count != (*b)->max_count)
		return (*a)->max_count > (*b)->max_count ? -1 : 1;
	return strcmp((*a)->key, (*b)->key);
}

static const char *in_list(const struct coverage_functions *f, const char *name)
{
	for (size_t i = 0; i < f->n; i++)
		if (f->v[i].source_name && strcmp(f->v[i].name, name) == 0)
			return f->v[i].source_name;
	return NULL;
}

/* The name that the source has, where the coverage knows it. */
static const char *source_name(const struct report *r, const char *name)
{
	for (size_t i = 0; r->has_coverage && i < r->coverage.n_phases; i++) {
		const char *found = in_list(&r->coverage.phases[i].first, name);

		if (!found)
			found = in_list(&r->coverage.phases[i].mostly, name);
		if (found)
			return found;
	}
	return name;
}

static void hot_table(struct doc *d, const struct report *r)
{
	static const char *const heads[] = {"`function", ">largest counter", "`file"};
	const struct profile_facts *p = &r->profile;
	auto_free const struct profile_function **v = xcalloc(p->n + 1, sizeof(*v));
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++)
		if (!p->v[i].second)
			v[n++] = &p->v[i];
	qsort(v, n, sizeof(*v), by_count);
	doc_table(d, "Hot functions: those with the largest counters", heads, ARRAY_SIZE(heads));
	for (size_t i = 0; i < n && i < HOT && v[i]->max_count; i++) {
		const char *semicolon = strrchr(v[i]->key, ';');

		doc_cell(d, "%s", source_name(r, semicolon ? semicolon + 1 : v[i]->key));
		doc_cell(d, "%" PRIu64, v[i]->max_count);
		doc_cell(d, "%.*s", semicolon ? (int)(semicolon - v[i]->key) : 0, v[i]->key);
	}
	doc_end_table(d);
}

static void fact_row(struct doc *d, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	doc_cell(d, "%s", name);
	doc_cell(d, "%s", value);
}

static void staleness_note(struct doc *d, const struct staleness *s)
{
	auto_free char *from = staleness_from(s), *text = staleness_text(s);

	doc_note(d, DOC_WARN,
		"This profile was reused: it is that of the last trained build, not of this one.");
	if (!s->judged)
		return;
	doc_text(d, "%s: %s.", from, text);
	if (staleness_near(s))
		doc_note(d, DOC_WARN,
			"More than half of the budget is used: `whet build` trains anew.");
}

static void lost_table(struct doc *d, const struct staleness *s)
{
	static const char *const heads[] = {"`function", ">of all counts", "how", "`now"};

	doc_table(d, "Functions that lost their profile, hottest first", heads, ARRAY_SIZE(heads));
	for (size_t i = 0; i < s->n; i++) {
		auto_free char *share = staleness_percent(s->v[i].share);

		doc_cell(d, "%s", s->v[i].name);
		doc_cell(d, "%s", share);
		doc_cell(d, "%s", lost_how_name(s->v[i].how));
		doc_cell(d, "%s", s->v[i].now ? s->v[i].now : "");
	}
	doc_end_table(d);
}

void section_profile(struct doc *d, const struct report *r)
{
	static const char *const heads[] = {"what", "`value"};
	const struct profile_facts *p = &r->profile;
	auto_free char *compilers = strv_join(&r->provenance.compilers, ", ");

	if (!p->sha256)
		return;
	doc_section(d, "profile", "Profile");
	if (p->reused)
		staleness_note(d, &r->staleness);
	else if (p->given)
		doc_note(d, DOC_WARN, "This profile was given, not trained in this build.");
	doc_text(d,
		"%" PRIu64 " functions, %" PRIu64
		" of them executed; all counters together %" PRIu64 ".",
		p->functions, p->executed, p->total_count);
	if (p->beside_sha256)
		doc_text(d,
			"Of these gcc's counters counted %" PRIu64 " functions, %" PRIu64
			" of them executed; LLVM's the others.",
			p->gcc_functions, p->gcc_executed);
	if (p->context_sensitive)
		doc_text(d,
			"The second round put counters into %" PRIu64
			" functions after inlining; %" PRIu64 " of them were executed.",
			p->second_functions, p->second_executed);
	if (p->left_out)
		doc_text(d,
			"Functions that nothing executed were compiled as without a profile (pgo: "
			"untrained: neutral); all others have theirs.");
	doc_table(d, "Where the profile comes from", heads, ARRAY_SIZE(heads));
	fact_row(d, "digest (SHA-256)", p->sha256);
	if (p->beside_sha256)
		fact_row(d, "digest of the other kind's", p->beside_sha256);
	fact_row(d, "sources", r->provenance.source);
	fact_row(d, "commit", r->provenance.commit);
	fact_row(d, "training plan", r->provenance.training);
	fact_row(d, "target", r->provenance.target);
	fact_row(d, "made", r->provenance.created);
	fact_row(d, "compilers", compilers);
	doc_end_table(d);
	for (size_t i = 0; i < r->n_strays; i++)
		doc_note(d, DOC_WARN, "Profile file in the project: %s%s%s.", r->strays[i].path,
			r->strays[i].tracked ? ", tracked by git" : "",
			r->strays[i].source ? ", part of the source digest" : "");
	if (r->staleness.n)
		lost_table(d, &r->staleness);
	if (p->n && p->executed)
		hot_table(d, r);
}
