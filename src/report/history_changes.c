#include "report/history_changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void add(struct history_changes *to, const char *scenario, const struct comparison *before,
	const struct comparison *after)
{
	struct history_change c = {.scenario = scenario,
		.variant = after ? after->variant : before->variant,
		.before = before,
		.after = after};

	/* A run is no request, whatever both are called. */
	if (before && after && before->per_run != after->per_run) {
		add(to, scenario, NULL, after);
		add(to, scenario, before, NULL);
		return;
	}
	if (before && after)
		c.change = stats_change(before, after);
	array_reserve(to->v, to->n, to->cap);
	to->v[to->n++] = c;
}

static bool same_scenarios(const struct comparisons *a, const struct comparisons *b)
{
	size_t n = comparisons_scenarios(a);

	if (n != comparisons_scenarios(b) || a->n_shares != n || b->n_shares != n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (strcmp(a->v[i].scenario, b->v[i].scenario) != 0 ||
			fabs(a->shares[i] - b->shares[i]) > 1e-9)
			return false;
	return true;
}

static void add_weighted(
	const struct comparisons *then, const struct comparisons *now, struct history_changes *ret)
{
	size_t n = comparisons_scenarios(now);

	if (!same_scenarios(then, now))
		return;
	for (size_t i = 0; i < now->n_weighted; i++)
		for (size_t k = 0; k < then->n_weighted; k++)
			if (!comparisons_is_null(now, i * n) && !comparisons_is_null(then, k * n) &&
				strcmp(now->weighted[i].variant, then->weighted[k].variant) == 0)
				add(ret, NULL, &then->weighted[k], &now->weighted[i]);
}

void history_changes(const struct past_build *before, const struct past_build *after,
	struct history_changes *ret)
{
	const struct comparisons *then = &before->bench, *now = &after->bench;

	for (size_t i = 0; i < now->n; i++) {
		const struct comparison *c = &now->v[i];

		if (!comparisons_is_null(now, i))
			add(ret, c->scenario, past_scenario(then, c->scenario, c->variant), c);
	}
	for (size_t i = 0; i < then->n; i++) {
		const struct comparison *c = &then->v[i];

		if (!comparisons_is_null(then, i) && !past_scenario(now, c->scenario, c->variant))
			add(ret, c->scenario, c, NULL);
	}
	add_weighted(then, now, ret);
}

int history_shown(const struct history_change *c)
{
	if (!c->before || !c->after || !c->change.known)
		return 0;
	return c->change.ratio.low > 1 ? 1 : c->change.ratio.high < 1 ? -1 : 0;
}

/* ---- what else is different ---- */

static void say_text(struct strv *ret, const char *what, const char *then, const char *now)
{
	if (then && now && strcmp(then, now) != 0)
		strv_addf(ret, "%s: %s then, %s now", what, then, now);
}

static bool same_tools(const struct past_build *a, const struct past_build *b)
{
	if (a->n_tools != b->n_tools)
		return false;
	for (size_t i = 0; i < a->n_tools; i++)
		if (strcmp(a->tools[i].name, b->tools[i].name) != 0 ||
			strcmp(a->tools[i].version, b->tools[i].version) != 0)
			return false;
	return true;
}

void history_differences(
	const struct past_build *before, const struct past_build *after, struct strv *ret)
{
	say_text(ret, "machine", before->machine, after->machine);
	say_text(ret, "target", before->target, after->target);
	say_text(ret, "whet", before->whet, after->whet);
	if (!same_tools(before, after))
		strv_add(ret, "compilers");
	if (before->source && after->source && strcmp(before->source, after->source) != 0)
		strv_add(ret, "sources");
	if (before->training && after->training && strcmp(before->training, after->training) != 0)
		strv_add(ret, "the training part of the plan");
}
