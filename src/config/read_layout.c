/* layout: */
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/keys.h"
#include "config/values.h"

static const char *const mode_names[] = {
	[PLAN_LAYOUT_OFF] = "off",
	[PLAN_LAYOUT_AUTO] = "auto",
	[PLAN_LAYOUT_LBR] = "lbr",
	[PLAN_LAYOUT_INSTRUMENT] = "instrument",
	NULL,
};

const char *plan_layout_name(enum plan_layout_mode m)
{
	return mode_names[m];
}

static void read_mode(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	const char *near;
	size_t i;

	for (i = 0; n->kind == NODE_SCALAR && !node_is_null(n) && mode_names[i]; i++)
		if (strcmp(n->text, mode_names[i]) == 0) {
			((struct plan_layout *)target)->mode = (enum plan_layout_mode)i;
			return;
		}
	near = n->kind == NODE_SCALAR && !node_is_null(n) ? nearest_word(n->text, mode_names, i)
							  : NULL;
	if (near)
		problem_add(ps, n,
			"'%s' must be off, auto, lbr or instrument, not '%s'; did you mean '%s'?",
			k->name, n->text, near);
	else
		(void)value_choice(ps, n, k->name, mode_names, &i);
}

/* "bolt" or "bolt-22" */
static void read_tool(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	struct plan_layout *l = target;
	auto_free char *text = NULL;
	const char *number;

	if (!value_text(ps, n, k->name, &text))
		return;
	number = strncmp(text, "bolt-", 5) == 0 ? text + 5 : NULL;
	if (strcmp(text, "bolt") != 0 &&
		(!number || !*number || number[strspn(number, "0123456789")])) {
		problem_add(ps, n,
			"'tool' must be bolt, or bolt with the version of LLVM that it is of, such "
			"as bolt-22, not '%s'",
			text);
		return;
	}
	free(l->tool);
	l->tool = take_ptr(text);
}

#define LAYOUT(field) offsetof(struct plan_layout, field)
static const struct key layout[] = {
	{"mode", KEY_PART, .read = read_mode, .required = true,
		.doc = "`off`; `instrument`: by counters that the tool puts into the program; "
		       "`lbr`: by samples of taken branches, where the processor has them; `auto`: "
		       "the one of them that this machine can, and nothing where it can none."},
	{"tool", KEY_PART, .read = read_tool,
		.doc = "`bolt`, or `bolt-22` for that of one LLVM; default: the newest one found."},
};
const struct key_table table_layout = {"layout", layout, ARRAY_SIZE(layout)};

void read_layout_value(
	struct problems *ps, const struct key *k, const struct node *n, struct plan_layout *ret)
{
	ret->at = (struct place){n->line, n->column};
	if (n->kind == NODE_MAPPING)
		keys_read(ps, &table_layout, n, ret);
	else
		read_mode(ps, k, n, ret);
}

void read_layout(struct problems *ps, const struct key *k, const struct node *n, void *target)
{
	read_layout_value(ps, k, n, &((struct plan *)target)->layout);
}
