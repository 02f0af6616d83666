#include <inttypes.h>

#include "base/mem.h"
#include "gate/rules.h"

static size_t judge_record(const struct compile_record *r, struct evidence *e)
{
	auto_free char *label = record_label(r);
	size_t n = 0;

	for (size_t i = 0; i < r->n_diags; i++) {
		const struct profile_diag *d = &r->diags[i];

		if (d->kind != DIAG_MISMATCH)
			continue;
		n++;
		if (d->hash)
			evidence_add(e, "function '%s' in %s: its structure is %016" PRIx64 " now",
				d->function, label, d->hash);
		else
			evidence_add(e, "function '%s' in %s: %s", d->function, label,
				d->text ? d->text : "its structure differs");
	}
	return n;
}

static void add_evidence(const struct staleness *s, struct evidence *e)
{
	static const char *const meanings[LOST_KINDS] = {
		[LOST_STALE] = "its structure differs now",
		[LOST_MOVED] = "it is in another file now",
		[LOST_RENAMED] = "one of its structure has another name now",
		[LOST_GONE] = "no compilation looked it up",
	};

	for (size_t i = 0; i < s->n; i++) {
		const struct lost_function *l = &s->v[i];
		auto_free char *share = staleness_percent(l->share);

		evidence_add(e, "%s: %s, %s of all counts: %s%s%s", l->key, lost_how_name(l->how),
			share, meanings[l->how], l->now ? ": " : "", l->now ? l->now : "");
	}
	if (s->untrained)
		evidence_add(e, "%llu functions of this build are not in the profile",
			(unsigned long long)s->untrained);
}

/* The budget takes the place of the strict rule: another revision is what was asked for. */
static void judge_reused(const struct gate_facts *f, struct verdicts *vs)
{
	auto_evidence struct evidence e = EVIDENCE_INIT;
	struct staleness s;
	auto_free char *text = NULL, *from = NULL;

	gate_staleness(f, &s);
	text = staleness_text(&s);
	from = staleness_from(&s);
	add_evidence(&s, &e);
	if (s.all_share <= s.budget && staleness_at_stake(&s) > s.budget)
		verdict_fail(vs, "stale", &e,
			"train this revision: `whet build` without --profile does; or compile with "
			"clang 19, rustc 1.82 or newer, which tell what they look up",
			"%s: %s", from, text);
	else if (s.all_share > s.budget)
		verdict_fail(vs, "stale", &e,
			"train this revision: `whet build` without --profile does; or allow more, "
			"knowing what is lost: gates: {stale: 5%}",
			"%s: %s", from, text);
	else
		verdict_pass(vs, "stale", &e, "%s: %s%s", from, text,
			staleness_near(&s) ? "; more than half of it is used: train again soon"
					   : "");
	staleness_release(&s);
}

/* *reached: compilations that were judged. */
static size_t judge_build(const struct build_facts *b, size_t *reached, struct evidence *e)
{
	auto_records struct records all = {0};
	size_t n = 0;

	records_reached(b, NULL, &all);
	for (size_t i = 0; i < all.n; i++)
		n += judge_record(all.v[i], e);
	*reached += all.n;
	return n;
}

void gate_stale(const struct gate_facts *f, struct verdicts *vs)
{
	auto_evidence struct evidence e = EVIDENCE_INIT;
	const char *owner;
	size_t n, reached = 0;

	if (!f->optimised) {
		verdict_skip(vs, "stale", "not judged: no optimised build (same-flags)");
		return;
	}
	owner = earlier_fault(f);
	if (owner) {
		verdict_skip(vs, "stale", "not judged: the builds differ already (%s)", owner);
		return;
	}
	if (f->profile && f->profile->reused) {
		judge_reused(f, vs);
		return;
	}
	n = judge_build(f->optimised, &reached, &e);
	/* That of a second round used a profile, too. */
	if (f->instrumented && f->instrumented->profile_name)
		n += judge_build(f->instrumented, &reached, &e);
	if (n)
		verdict_fail(vs, "stale", &e,
			"train again on these sources; where they did not change, look for "
			"generated code "
			"or headers outside the project that did",
			"%zu functions differ in structure from the trained ones, 0 allowed", n);
	else
		verdict_pass(vs, "stale", NULL,
			"0 functions differ in structure from the trained ones, 0 allowed (%zu "
			"compilations)",
			reached);
}
