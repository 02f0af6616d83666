/* pgo: */
#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"
#include "config/keys.h"
#include "config/values.h"

void read_untrained(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	static const char *const names[] = {
		[UNTRAINED_COLD] = "cold", [UNTRAINED_NEUTRAL] = "neutral", NULL};
	size_t i;

	if (value_choice(ps, n, k->name, names, &i))
		((struct plan_pgo *)target)->untrained = (enum plan_untrained)i;
}

void read_order(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	static const char *const names[] = {[ORDER_NONE] = "none", [ORDER_HOT] = "hot", NULL};
	size_t i;

	if (value_choice(ps, n, k->name, names, &i))
		((struct plan_pgo *)target)->order = (enum plan_order)i;
}

#define PGO(field) offsetof(struct plan_pgo, field)
static const struct key pgo[] = {
	{"instrument-linker", KEY_TEXT, PGO(instrument_linker),
		.doc = "Linker (compiler driver) for the instrumented link alone."},
	{"context-sensitive", KEY_BOOL, PGO(context_sensitive),
		.doc = "Train twice: the second time with counters that are put in after inlining, "
		       "so that each inlined copy has its own (clang); default false."},
	{"untrained", KEY_PART, .read = read_untrained,
		.doc = "How functions are compiled that the training did not reach: `cold` "
		       "(default): for size, away from the rest; `neutral`: as without a "
		       "profile."},
	{"function-order", KEY_PART, .read = read_order,
		.doc = "In which order the linker places functions: `none` (default): as it does "
		       "by itself; `hot`: those that the training reached first, callers beside "
		       "what they call."},
};
const struct key_table table_pgo = {"pgo", pgo, ARRAY_SIZE(pgo)};

void read_pgo(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_pgo *p = &((struct plan *)target)->pgo;

	p->at = (struct place){n->line, n->column};
	keys_read(ps, &table_pgo, n, p);
}
