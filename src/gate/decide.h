/* The decision between variants: pure, facts in, decision out. docs/variants.md. */
#pragma once

#include "config/plan.h"
#include "facts/decision.h"
#include "facts/trial.h"

struct candidate {
	const char *name; /* as in the comparison */
	const char *out;  /* why it can be neither measured nor released; NULL: it can */
	/* Of one that is laid out: the name of the one that it is held against, the same without
	 * that, or the plan's own; else NULL. */
	const char *unlaid;
	unsigned differs; /* in how many settings from the plan's own: the simpler has fewer */
};

struct decide_facts {
	const struct candidate *candidates; /* the plan's own first */
	size_t n;
	const struct plan_gates *bounds; /* the margin of no-scenario-worse */
	const struct comparisons *bench; /* of all that are not out, and the null arm; n 0: nothing
					  * was measured */
	const struct samples *samples;   /* that it was made of */
	uint64_t seed;
};

/* One that is laid out may be released, too, only when it is shown to be better than without that:
 * compared slice by slice, no scenario is shown to cost more, and all together are shown to cost
 * less. A candidate may be released when it is not out and no scenario is shown to be worse than
 * plain by more than the margin (with `undecided: stop`: when each is shown not to be), and all
 * together are not shown to cost more than plain. Among those the best is the one with the lowest
 * figure of all scenarios together; those that are not shown to cost more than it, compared with it
 * slice by slice, are its equals, and the simplest of them is proposed. Fills names, states,
 * reasons and figures of *ret. ERR_MISMATCH when comparison and samples do not belong together. */
int decide(const struct decide_facts *f, struct decision *ret, struct error *err);
