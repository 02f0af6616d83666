#include <string.h>

#include "base/mem.h"
#include "gate/rules.h"

/* Less is another order. What is left to it: sections that the project itself gave a place. */
#define SHARE_MIN 0.95

static void list_names(const char *what, const struct strv *names, struct evidence *e)
{
	auto_free char *text = names->n ? strv_join(names, ", ") : NULL;

	if (text)
		evidence_add(e, "%s: %s", what, text);
}

/* Why the functions of one binary are not in order; NULL: they are. Caller frees. */
static char *fault_of(const struct function_order *o)
{
	if (!o)
		return xstrdup("its link is not known");
	if (o->why)
		return xstrdup(o->why);
	if (!o->file)
		return xstrdup("its link got no order");
	if (o->listed && !o->present)
		return xasprintf("0 of %zu listed functions are in its symbol table", o->listed);
	if (o->present && function_order_share(o) < SHARE_MIN)
		return xasprintf("%zu of %zu listed functions lie in the order that the linker was "
				 "told (%.1f %%)",
			o->placed, o->present, 100 * function_order_share(o));
	return NULL;
}

void gate_function_order(const struct gate_facts *f, struct verdicts *vs)
{
	const struct build_facts *b = f->optimised;
	auto_evidence struct evidence e = EVIDENCE_INIT;
	size_t faults = 0, placed = 0, present = 0;

	if (!f->ordered || !b)
		return;
	for (size_t i = 0; i < b->n_binaries; i++) {
		const struct compile_record *link = build_facts_link(b, &b->binaries[i]);
		const struct function_order *o = link ? &link->functions : NULL;
		auto_free char *fault = fault_of(o);
		const char *name = b->binaries[i].name;

		placed += o ? o->placed : 0;
		present += o ? o->present : 0;
		faults += fault != NULL;
		if (fault)
			evidence_add(&e, "%s: %s", name, fault);
		else
			evidence_add(&e,
				"%s: %zu of %zu functions in order, by %s; their %llu bytes lie in "
				"%llu",
				name, o->placed, o->present, link->linker ? link->linker : "?",
				(unsigned long long)o->bytes, (unsigned long long)o->span);
		if (o)
			list_names("listed, but inlined or removed", &o->missing, &e);
		if (o)
			list_names("listed, but elsewhere", &o->astray, &e);
	}
	if (faults || !placed)
		verdict_fail(vs, "function-order", &e, gate_find("function-order")->remedy,
			"%zu of %zu binaries without the order of functions that was asked for, 0 "
			"allowed; %zu functions placed, at least 1 must be",
			faults, b->n_binaries, placed);
	else
		verdict_pass(vs, "function-order", &e,
			"%zu of %zu listed functions lie in their order (%.1f %%), at least %.0f "
			"%% must",
			placed, present, 100.0 * (double)placed / (double)present, 100 * SHARE_MIN);
}
