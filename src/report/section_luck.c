/* What a mere relink changes, as a section of the document. */
#include <math.h>

#include "base/mem.h"
#include "report/luck.h"
#include "report/sections.h"

static void spread_cell(struct doc *d, const struct luck_spread *s)
{
	auto_buf struct buf b = BUF_INIT;

	luck_spread_text(s, &b);
	doc_cell(d, "%s", buf_str(&b));
}

static void add_row(struct doc *d, const struct luck_row *r, const char *label)
{
	auto_buf struct buf gain = BUF_INIT, verdict = BUF_INIT;

	luck_gain_text(r, &gain);
	luck_verdict_text(r, &verdict);
	doc_cell(d, "%s%s", r->scenario ? r->scenario : "all, by weight",
		r->held_out ? " (held out)" : "");
	if (isfinite(r->shipped))
		doc_cell(d, "%+.1f %%", ratio_percent(r->shipped));
	else
		doc_cell(d, "%s", "");
	doc_cell(d, "%s", buf_str(&gain));
	spread_cell(d, &r->base);
	spread_cell(d, &r->variant);
	doc_mark_cell(d, r->inside ? DOC_WARN : DOC_PLAIN, "%s", buf_str(&verdict));
	if (*label)
		doc_mark_cell(d, DOC_WARN, "%s", label);
}

static void add_table(struct doc *d, const struct luck *l, const char *label)
{
	auto_free char *base = xasprintf("=%s, relinks", l->base);
	auto_free char *own = xasprintf("=%s, relinks", l->variant);
	const char *const heads[] = {"scenario", ">as shipped", "=over relinks", base, own,
		"as shipped, against relinks", "=label"};
	auto_free char *caption = xasprintf(
		"CPU time of %s against %s, %u relinks of each, %u launches, percent%s%s%s",
		l->variant, l->base, l->relinks, l->launches, *label ? " (" : "", label,
		*label ? ")" : "");

	doc_table(d, caption, heads, ARRAY_SIZE(heads) - !*label);
	for (size_t i = 0; i < l->n; i++)
		add_row(d, &l->v[i], label);
	doc_end_table(d);
}

void section_luck(struct doc *d, const struct report *r)
{
	const struct luck *l = &r->luck;
	const char *label = report_label(r);
	auto_buf struct buf reading = BUF_INIT;

	if (!l->relinks || (!l->n && !l->problem))
		return;
	doc_section(d, "relinks", "Relinks");
	if (l->problem) {
		doc_note(d, DOC_WARN, "No relinks are compared: %s.", l->problem);
		return;
	}
	doc_text(d,
		"Where a link happens to put the code changes what it costs. Both builds were "
		"linked %u times more with random padding between the sections, by %s, and the "
		"relinks measured against each other. A gain inside their spread may be luck.",
		l->relinks, l->linker);
	add_table(d, l, label);
	if (l->warnings && *l->warnings)
		doc_lines(d, l->warnings);
	luck_reading_text(l, &reading);
	doc_items(d, buf_str(&reading), ".");
}
