/* Which of several optimised builds may be released, which one is proposed, and why. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"

enum decided_state {
	DECIDED_PASSES, /* it may be released */
	DECIDED_OUT,    /* a gate or a compiler is against it */
	DECIDED_WORSE, /* a scenario is shown to be worse than plain by more than the margin, or all
			  together to be worse at all */
	DECIDED_UNDECIDED, /* a scenario is not shown not to be, and the plan wants that */
	DECIDED_NO_BETTER  /* laid out, and not shown to be better than without that, or a scenario
			    is shown to be worse */
};

struct decided {
	char *name;
	char *settings; /* in which it differs from the plan's own: "lto thin, cpu x86-64-v3" */
	enum decided_state state;
	char *why;               /* what is against it, or how it stands to the proposed one; "" */
	double ratio, low, high; /* all scenarios together against plain; NAN: not known */
	struct strv added;       /* the closed list of what whet added to this build */
};

struct decision {
	struct decided *v; /* the plan's own, then its variants in their order; none: no variants */
	size_t n, cap;
	char *proposed; /* name of a variant, or "plain" when none may be released; NULL: nothing
			 * was measured */
	char *why;      /* the reason, one line; NULL like proposed */
	char *released; /* name of the one that is, or "plain": none beside it; NULL: not yet */
};

void decision_release(struct decision *d);
const char *decided_state_name(enum decided_state s); /* "passes", "out", "worse", "undecided" */
const struct decided *decision_find(const struct decision *d, const char *name); /* or NULL */
/* "proposes 'pgo+lto': no scenario worse, …; set release.variant to it", or NULL when nothing
 * else is proposed than what is released, or what wanted names. Caller frees. */
char *decision_proposal(const struct decision *d, const char *wanted);
json_t *decision_json(const struct decision *d); /* docs/report-json.md */
