/* Choose: which optimised build is released. The gates that need the comparison are asked of each,
 * and what is proposed is said, whether it is released or not. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "gate/decide.h"
#include "pipeline/run.h"

/* ---- what each one is ------------------------------------------------------------------------ */

static bool same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static void add_layout(const struct plan_variant *v, struct strv *parts)
{
	if (v->layout.mode != PLAN_LAYOUT_OFF)
		strv_addf(parts, "laid out (%s)", plan_layout_name(v->layout.mode));
}

/* "lto thin, cpu x86-64-v3", and in how many settings it differs from the plan's own. */
static char *settings_of(const struct run *r, const struct plan_variant *v, unsigned *differs)
{
	auto_strv struct strv parts = STRV_INIT;
	const char *lto = plan_lto_name(v->lto);

	if (v->lto != r->plan.build.lto)
		strv_addf(&parts, "lto %s", lto ? lto : "as the project says");
	if (!same_text(v->cpu, r->plan.build.cpu))
		strv_addf(&parts, "cpu %s", v->cpu ? v->cpu : "as the project says");
	if (!v->profile)
		strv_add(&parts, "no profile");
	if (v->profile && v->pgo.context_sensitive != r->plan.pgo.context_sensitive)
		strv_add(&parts,
			v->pgo.context_sensitive ? "context-sensitive" : "not context-sensitive");
	if (v->profile && v->pgo.untrained != r->plan.pgo.untrained)
		strv_addf(&parts, "untrained %s",
			v->pgo.untrained == UNTRAINED_NEUTRAL ? "neutral" : "cold");
	if (v->profile && v->pgo.order != r->plan.pgo.order)
		strv_addf(&parts, "function order %s", v->pgo.order == ORDER_HOT ? "hot" : "none");
	add_layout(v, &parts);
	*differs = (unsigned)parts.n;
	return strv_join(&parts, ", ");
}

static struct track *track_of(struct run *r, size_t i)
{
	return i ? &r->variants[i - 1] : &r->own;
}

/* Fills what the decision does not know: settings and the closed lists. */
static void describe(struct run *r)
{
	struct decision *d = &r->report->decision;

	for (size_t i = 0; i < d->n; i++) {
		const struct track *t = track_of(r, i);
		unsigned ignored;

		d->v[i].settings = t->variant ? settings_of(r, t->variant, &ignored)
					      : xstrdup("the plan's own");
		strv_add_all(&d->v[i].added, &t->optimised.added);
	}
}

/* ---- the gates that look at the comparison --------------------------------------------------- */

/* Of all that were measured. own: what stops the plan's own, which is not the end yet. */
static int ask_gates(struct run *r, struct error *own, struct error *err)
{
	if (node_gate(r, GATE_AFTER_BENCH, own) < 0) {
		if (own->code != ERR_GATE)
			return error_move(err, own);
		r->own.out = run_failed_gates(&r->report->verdicts);
	}
	for (size_t i = 0; i < r->n_variants; i++) {
		struct error why = ERROR_INIT;
		int result = 0;

		if (r->variants[i].out)
			continue;
		r->track = &r->variants[i];
		if (node_gate(r, GATE_AFTER_BENCH, &why) < 0)
			result = run_rule_out(r, r->track, &why, err);
		r->track = &r->own;
		if (result < 0)
			return -1;
	}
	return 0;
}

static int make_decision(struct run *r, struct error *err)
{
	struct candidate c[1 + PLAN_VARIANTS_MAX] = {{.name = PLAN_OWN, .out = r->own.out}};
	struct decide_facts f = {
		.candidates = c,
		.n = 1 + r->n_variants,
		.bounds = &r->plan.gates,
		.bench = &r->report->comparisons,
		.samples = &r->report->samples,
		.seed = r->plan.bench.seed,
	};

	for (size_t i = 0; i < r->n_variants; i++) {
		const struct track *t = &r->variants[i];

		c[i + 1] = (struct candidate){.name = t->variant->name, .out = t->out};
		if (t->variant->layout.mode != PLAN_LAYOUT_OFF)
			c[i + 1].unlaid = t->base_of ? run_variant_name(t->base_of) : PLAN_OWN;
		free(settings_of(r, t->variant, &c[i + 1].differs));
	}
	return decide(&f, &r->report->decision, err);
}

/* ---- the choice ------------------------------------------------------------------------------ */

static struct track *find_track(struct run *r, const char *name)
{
	for (size_t i = 0; i <= r->n_variants; i++)
		if (strcmp(run_variant_name(track_of(r, i)), name) == 0)
			return track_of(r, i);
	return NULL;
}

/* why: what stops it. The proposal is the way out. */
static int stop(struct run *r, const char *why, struct error *err)
{
	const char *wanted = r->plan.release.variant;
	auto_free char *proposal = decision_proposal(&r->report->decision, wanted);

	return error_set(
		err, ERR_GATE, "%s%s%s", why, proposal ? "\nwhet " : "", proposal ? proposal : "");
}

/* The release has the verdicts of what it holds: those of the training and of the chosen variant.
 */
static void take_verdicts(struct run *r, const struct verdicts *own, const struct track *t)
{
	struct verdicts all = {0};

	for (size_t i = 0; i < own->n + t->verdicts.n; i++) {
		const struct verdict *v = i < own->n ? &own->v[i] : &t->verdicts.v[i - own->n];
		bool replaced = false;

		for (size_t k = 0; i < own->n && k < t->verdicts.n; k++)
			replaced |= strcmp(t->verdicts.v[k].gate, v->gate) == 0;
		if (!replaced)
			verdict_add(&all, v->gate, v->state, v->summary, v->evidence, v->remedy);
	}
	verdicts_release(&r->report->verdicts);
	r->report->verdicts = all;
}

static int choose_named(struct run *r, const char *name, const struct error *own, struct error *err)
{
	struct track *t = find_track(r, name);

	if (t == &r->own && t->out)
		return stop(r, own->msg, err);
	if (t->out) {
		auto_free char *why = xasprintf(
			"the variant '%s' is to be released (release.variant), but it is out: %s",
			name, t->out);

		return stop(r, why, err);
	}
	r->chosen = t;
	return 0;
}

/* What the plan's own build is released as when no name was given: laid out, once that is shown to
 * be better. */
static const char *own_name(const struct run *r)
{
	const struct decision *d = &r->report->decision;
	const struct decided *laid = decision_find(d, PLAN_OWN_LAYOUT);

	return r->plan.release.or_layout && d->proposed && laid && laid->state == DECIDED_PASSES
		       ? PLAN_OWN_LAYOUT
		       : PLAN_OWN;
}

static void say_layout(const struct run *r)
{
	const struct decision *d = &r->report->decision;
	const struct decided *laid = decision_find(d, PLAN_OWN_LAYOUT);

	if (!r->plan.release.or_layout || !laid)
		return;
	if (strcmp(own_name(r), PLAN_OWN_LAYOUT) == 0)
		events_note(r->o->events,
			"layout accepted: no scenario worse, and better than '%s'", PLAN_OWN);
	else
		events_warning(r->o->events, "layout rejected, '%s' is released: %s", PLAN_OWN,
			!d->proposed ? "nothing was measured" : laid->why);
}

static int choose(struct run *r, const struct error *own, struct error *err)
{
	struct decision *d = &r->report->decision;
	const char *wanted = r->plan.release.or_layout ? own_name(r) : r->plan.release.variant;
	bool best = strcmp(wanted, PLAN_BEST) == 0;

	if (best && d->proposed && strcmp(d->proposed, PLAN_PLAIN) == 0)
		r->chosen = NULL;
	else if (choose_named(r,
			 best && d->proposed ? d->proposed
			 : best              ? PLAN_OWN
					     : wanted,
			 own, err) < 0)
		return -1;
	if (r->chosen && r->chosen->variant)
		take_verdicts(r, &r->report->verdicts, r->chosen);
	if (d->n)
		d->released = xstrdup(r->chosen ? run_variant_name(r->chosen) : PLAN_PLAIN);
	return 0;
}

static void say(const struct run *r)
{
	const struct decision *d = &r->report->decision;
	auto_free char *proposal = d->released ? decision_proposal(d, d->released) : NULL;

	if (proposal)
		events_warning(r->o->events, "whet %s", proposal);
	else if (d->released && strcmp(d->released, PLAN_PLAIN) == 0)
		events_warning(r->o->events,
			"release.variant is 'best', and plain alone is released: none of %zu "
			"variants may be: %s",
			d->n, d->why);
	else if (d->released && strcmp(r->plan.release.variant, PLAN_BEST) == 0)
		events_note(r->o->events, "release.variant is 'best': '%s' is released: %s",
			d->released, d->why ? d->why : "nothing was measured");
}

int node_choose(struct run *r, struct error *err)
{
	bool several = r->n_variants || strcmp(r->plan.release.variant, PLAN_BEST) == 0;
	struct error own = ERROR_INIT;
	int result = ask_gates(r, &own, err);

	if (result == 0 && several)
		result = make_decision(r, err);
	if (result == 0) {
		describe(r);
		result = choose(r, &own, err);
	}
	if (result == 0) {
		say(r);
		say_layout(r);
	}
	error_release(&own);
	return result;
}
