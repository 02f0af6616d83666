/* bench: */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "config/keys.h"
#include "config/values.h"

/* The name of a phase, or a scenario of its own. */
static void read_scenario(struct problems *ps, const struct node *n, struct plan_bench *b)
{
	struct plan_phase *one;
	char *name = NULL;

	if (n->kind != NODE_MAPPING) {
		if (value_text(ps, n, "scenarios", &name))
			strv_take(&b->scenarios, name);
		return;
	}
	b->held_out = xreallocarray(b->held_out, b->n_held_out + 1, sizeof(*b->held_out));
	one = &b->held_out[b->n_held_out++];
	read_held_out(ps, n, one);
	if (one->name)
		strv_add(&b->scenarios, one->name);
}

static void read_scenarios(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	if (n->kind == NODE_MAPPING)
		problem_add(ps, n,
			"'scenarios' must be a name or a list of names and definitions, not a "
			"mapping");
	else if (n->kind == NODE_SCALAR)
		read_scenario(ps, n, target);
	for (size_t i = 0; n->kind == NODE_SEQUENCE && i < n->n; i++)
		read_scenario(ps, n->items[i], target);
}

static void read_counters(
	struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	static const char *const names[] = {[BENCH_COUNTERS_AUTO] = "auto",
		[BENCH_COUNTERS_CALLGRIND] = "callgrind",
		[BENCH_COUNTERS_OFF] = "off",
		NULL};
	size_t i;

	if (value_choice(ps, n, k->name, names, &i))
		((struct plan_bench *)target)->counters = (enum bench_counters)i;
}

#define BENCH(field) offsetof(struct plan_bench, field)
static const struct key bench[] = {
	{"scenarios", KEY_PART, .read = read_scenarios,
		.doc = "What is measured: names of phases, and mappings as in `train.phases` that "
		       "are not trained (held out); default: all phases."},
	{"peers", KEY_PART, .read = read_peers,
		.doc = "Other servers for `whet bench --peer NAME`: a mapping of names to how each "
		       "is run."},
	{"launches", KEY_U32, BENCH(launches), 2, 1000,
		.doc = "Fresh starts of every variant; default 10. With `until-resolved`: at "
		       "least."},
	{"slices", KEY_U32, BENCH(slices), 2, 1000,
		.doc = "Slices per launch, scenario and variant; default 12."},
	{"slice", KEY_DURATION, BENCH(slice_ns), NS_PER_MS, 10 * NS_PER_S,
		.doc = "Length of a slice; default 50ms."},
	{"until-resolved", KEY_PERCENT, BENCH(until_resolved),
		.doc = "Go on with further launches until no interval reaches farther than this "
		       "from its middle, such as `0.5%`."},
	{"resolve", KEY_LIST, BENCH(resolve),
		.doc = "The scenarios whose intervals must be so narrow; default: all."},
	{"time-limit", KEY_DURATION, BENCH(time_limit_ns), NS_PER_S, 7 * 24 * 3600 * NS_PER_S,
		.doc = "No launch begins that would end later; default: none, with "
		       "`until-resolved` 30m."},
	{"counters", KEY_PART, .read = read_counters,
		.doc = "What is counted beside CPU time: `auto` (default): hardware counters, "
		       "where "
		       "the machine has them and allows them; `callgrind`: also one run of each "
		       "variant in a simulation, which is slow; `off`: nothing."},
	{"relinks", KEY_U32, BENCH(relinks), PLAN_RELINKS_MIN, PLAN_RELINKS_MAX,
		.doc = "Relinks of each build with random padding, 3 to 12: their spread is "
		       "measured after the comparison; default: none."},
	{"seed", KEY_U64, BENCH(seed), 0, UINT64_MAX, .doc = "Of the order of slices; default 1."},
};
const struct key_table table_bench = {"bench", bench, ARRAY_SIZE(bench)};
