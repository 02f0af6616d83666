/* What two builds of the history have in common. Private to src/report. */
#pragma once

#include "base/strv.h"
#include "facts/past.h"
#include "stats/stats.h"

/* A scenario and variant in two builds; scenario NULL: all by weight. */
struct history_change {
	const char *scenario, *variant;
	const struct comparison *before, *after; /* NULL: that build did not measure it */
	struct stats_change change;              /* when both did */
};
struct history_changes {
	struct history_change *v;
	size_t n, cap;
};
/* Rows of the later build first, in its order, without the null arm. All by weight is left out
 * unless both have the same scenarios and shares. */
void history_changes(const struct past_build *before, const struct past_build *after,
	struct history_changes *ret);
/* Lines: what else is different and has its part in a change. */
void history_differences(
	const struct past_build *before, const struct past_build *after, struct strv *ret);
/* 0: no change shown, 1: costs more beside its plain build than it did, -1: less. */
int history_shown(const struct history_change *c);
