#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "gate/rules.h"
#include "stats/stats.h"

static const char gate_name[] = "no-scenario-worse";

enum outcome { WORSE, UNDECIDED, NOT_WORSE, OUTCOMES };
static const char *const outcome_names[OUTCOMES] = {
	"worse by more than the margin", "undecided", "not worse by more than the margin"};

struct judged {
	struct evidence e;
	size_t n[OUTCOMES];
	bool missing; /* an interval is, so that nothing can be shown */
};

static void add_text(struct buf *b, double at, double low, double high)
{
	buf_addf(b, "%+.1f %%", ratio_percent(at));
	if (isfinite(low) && isfinite(high))
		buf_addf(b, " [%+.1f, %+.1f]", ratio_percent(low), ratio_percent(high));
	else
		buf_adds(b, " (no interval)");
}

static enum outcome outcome_of(const struct gate_facts *f, const struct stats_change *c)
{
	double margin = 1 + f->bounds->worse_margin;

	if (!c->known)
		return UNDECIDED;
	return c->ratio.low > margin ? WORSE : c->ratio.high < margin ? NOT_WORSE : UNDECIDED;
}

/* Counts and tells a scenario when its outcome is the wanted one. */
static void judge(const struct gate_facts *f, const struct comparison *before,
	const struct comparison *now, enum outcome wanted, struct judged *j)
{
	struct stats_change c = stats_change(before, now);
	auto_buf struct buf then = BUF_INIT, here = BUF_INIT, change = BUF_INIT;

	if (outcome_of(f, &c) != wanted)
		return;
	j->n[wanted]++;
	j->missing = j->missing || !c.known;
	add_text(&then, before->ratio, before->low, before->high);
	add_text(&here, now->ratio, now->low, now->high);
	add_text(&change, c.ratio.at, c.ratio.low, c.ratio.high);
	evidence_add(&j->e, "scenario '%s'%s, %s: %s then, %s now, change %s: %s", now->scenario,
		now->held_out ? " (held out)" : "", now->variant, buf_str(&then), buf_str(&here),
		buf_str(&change), outcome_names[wanted]);
}

/* The row of the last release that row i can be compared with, or NULL: what a request or a run
 * costs is one thing under one name. */
static const struct comparison *counterpart(const struct gate_facts *f, size_t i)
{
	const struct comparison *c = &f->bench->v[i];
	const struct comparison *then =
		past_scenario(&f->last_release->bench, c->scenario, c->variant);

	return then && then->per_run == c->per_run ? then : NULL;
}

/* Whether a row is about the build that is judged. */
static bool is_about(const struct gate_facts *f, const struct comparisons *c, size_t i)
{
	return !comparisons_is_null(c, i) &&
	       (!f->variant || strcmp(c->v[i].variant, f->variant) == 0);
}

static void tell_unmatched(const struct gate_facts *f, struct judged *j)
{
	const struct comparisons *now = f->bench, *then = &f->last_release->bench;

	for (size_t i = 0; i < now->n; i++)
		if (is_about(f, now, i) && !counterpart(f, i))
			evidence_add(&j->e, "scenario '%s', %s: not in the last release",
				now->v[i].scenario, now->v[i].variant);
	for (size_t i = 0; i < then->n; i++)
		if (is_about(f, then, i) &&
			!past_scenario(now, then->v[i].scenario, then->v[i].variant))
			evidence_add(&j->e, "scenario '%s', %s: not measured any more",
				then->v[i].scenario, then->v[i].variant);
}

/* The worst first: of evidence only so many lines are kept. */
static void judge_all(const struct gate_facts *f, struct judged *j)
{
	for (int o = 0; o < OUTCOMES; o++)
		for (size_t i = 0; i < f->bench->n; i++)
			if (is_about(f, f->bench, i) && counterpart(f, i))
				judge(f, counterpart(f, i), &f->bench->v[i], (enum outcome)o, j);
	tell_unmatched(f, j);
}

static bool differ(const char *a, const char *b)
{
	return a && b && strcmp(a, b) != 0;
}

static void add_release(const struct gate_facts *f, struct judged *j)
{
	const struct past_build *last = f->last_release;

	evidence_add(&j->e, "the last release: build %" PRId64 ", %s, started %s", last->id,
		last->version, last->started ? last->started : "?");
	if (f->bench->drift_alarm || last->bench.drift_alarm)
		evidence_add(&j->e, "the canary's alarm went off in %s: the machine drifted",
			!last->bench.drift_alarm ? "this build"
			: f->bench->drift_alarm  ? "both"
						 : "the last release");
	if (differ(f->training_digest, last->training))
		evidence_add(&j->e, "the training part of the plan has changed since");
}

static const char remedy_worse[] =
	"see what changed in the training or in the code that the scenario executes (whet history "
	"--compare); measure again when the machine was busy; when the loss is understood and "
	"wanted, let one build pass with gates: {no-scenario-worse: off}";
static const char remedy_undecided[] =
	"measure with more launches, or on a quieter machine; or widen the margin";
static const char remedy_missing[] =
	"measure with six launches or more: with fewer there is no interval";

static void conclude(const struct gate_facts *f, struct judged *j, struct verdicts *vs)
{
	double margin = f->bounds->worse_margin * 100;
	size_t n = j->n[WORSE] + j->n[NOT_WORSE] + j->n[UNDECIDED];

	if (!n)
		verdict_skip(vs, gate_name, "no scenario of the last release is measured any more");
	else if (!j->n[WORSE] && f->bounds->worse_undecided && j->n[UNDECIDED])
		verdict_fail(vs, gate_name, &j->e, j->missing ? remedy_missing : remedy_undecided,
			"%zu of %zu scenarios not shown to be within %g %% of the last release, 0 "
			"allowed (undecided: stop)",
			j->n[UNDECIDED], n, margin);
	else if (j->n[WORSE])
		verdict_fail(vs, gate_name, &j->e, remedy_worse,
			"%zu of %zu scenarios shown to gain less than in the last release by more "
			"than %g %%, 0 allowed (%zu shown not to, %zu undecided)",
			j->n[WORSE], n, margin, j->n[NOT_WORSE], j->n[UNDECIDED]);
	else
		verdict_pass(vs, gate_name, &j->e,
			"0 of %zu scenarios shown to gain less than in the last release by more "
			"than %g %%, 0 allowed (%zu shown not to, %zu undecided)",
			n, margin, j->n[NOT_WORSE], j->n[UNDECIDED]);
}

void gate_no_scenario_worse(const struct gate_facts *f, struct verdicts *vs)
{
	struct judged j = {.e = EVIDENCE_INIT};

	if (!f->bounds || f->bounds->worse_margin < 0) {
		verdict_skip(vs, gate_name, "the plan says off");
		return;
	}
	if (!f->bench || !f->bench->n) {
		verdict_skip(vs, gate_name, "nothing was measured");
		return;
	}
	if (f->history_problem) {
		verdict_skip(vs, gate_name, "no history to compare with: %s", f->history_problem);
		return;
	}
	if (!f->last_release) {
		verdict_skip(
			vs, gate_name, "the history holds no earlier release that was measured");
		return;
	}
	if (differ(f->machine, f->last_release->machine)) {
		verdict_skip(vs, gate_name, "the last release was measured on another machine (%s)",
			f->last_release->machine);
		return;
	}
	add_release(f, &j);
	judge_all(f, &j);
	conclude(f, &j, vs);
	evidence_release(&j.e);
}
