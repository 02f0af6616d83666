/* The variants as a section of the document. */
#include <string.h>

#include "base/mem.h"
#include "report/sections.h"
#include "report/variants.h"

static void add_row(struct doc *d, const struct decision *all, const struct decided *v)
{
	bool proposed = all->proposed && strcmp(all->proposed, v->name) == 0;
	auto_free char *added = strv_shell_quote(&v->added);
	auto_buf struct buf figure = BUF_INIT;

	variants_figure_text(v, &figure);
	doc_cell(d, "%s", v->name);
	doc_cell(d, "%s", v->settings ? v->settings : "");
	doc_mark_cell(d,
		v->state != DECIDED_PASSES ? DOC_BAD
		: proposed                 ? DOC_GOOD
					   : DOC_PLAIN,
		"%s", variants_state_text(all, v));
	doc_cell(d, "%s", buf_str(&figure));
	doc_cell(d, "%s", v->why);
	doc_cell(d, "%s", v->added.n ? added : "nothing");
}

void section_variants(struct doc *d, const struct report *r)
{
	static const char *const heads[] = {
		"variant", "what differs", "state", "=all scenarios", "why", "`added flags"};
	const char *label = report_label(r);
	auto_free char *proposal = variants_proposal_text(&r->decision);
	auto_free char *caption =
		xasprintf("CPU time of each variant against plain, all scenarios together by "
			  "weight%s%s%s",
			*label ? " (" : "", label, *label ? ")" : "");

	if (!r->decision.n)
		return;
	doc_section(d, "variants", "Variants");
	if (proposal)
		doc_note(d, decision_find(&r->decision, r->decision.proposed) ? DOC_PLAIN : DOC_BAD,
			"%s", proposal);
	doc_table(d, caption, heads, ARRAY_SIZE(heads));
	for (size_t i = 0; i < r->decision.n; i++)
		add_row(d, &r->decision, &r->decision.v[i]);
	doc_end_table(d);
}
