#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"
#include "report/luck.h"
#include "report/text.h"

void luck_spread_text(const struct luck_spread *s, struct buf *out)
{
	if (isfinite(s->range))
		buf_addf(out, "±%.1f %%", s->range * 100);
	if (!isfinite(s->range) || !isfinite(s->sd))
		return;
	if (s->p > 0.05)
		buf_adds(out, " (noise)");
	else
		buf_addf(out, " (layout sd %.1f %%)", s->sd * 100);
}

void luck_gain_text(const struct luck_row *r, struct buf *out)
{
	if (!isfinite(r->ratio))
		return;
	buf_addf(out, "%+.1f %%", ratio_percent(r->ratio));
	if (isfinite(r->low) && isfinite(r->high))
		buf_addf(out, " [%+.1f, %+.1f]", ratio_percent(r->low), ratio_percent(r->high));
}

void luck_verdict_text(const struct luck_row *r, struct buf *out)
{
	if (!isfinite(r->shipped) || !isfinite(r->base.range))
		return;
	buf_addf(out, "%s mere relinks (±%.1f %%)",
		r->inside ? "inside the spread of" : "beyond the spread of", r->base.range * 100);
}

/* "GNU ld and gold" */
static char *own_linkers(const struct luck *l)
{
	return strv_join(&l->own_linker, " and ");
}

void luck_reading_text(const struct luck *l, struct buf *out)
{
	auto_free char *own = own_linkers(l);

	buf_addf(out,
		"±: two relinks of one build, measured as these, differ by less than this (95 %%)\n"
		"layout sd: between relinks by layout alone; noise: measuring explains all of it "
		"(F test, p > 0.05)\n"
		"over relinks: average of all layouts; its 95 %% interval counts layouts and "
		"launches as chance\n"
		"the order of functions is that of the build; only the padding between sections "
		"is random\n");
	if (*own && strcmp(own, "lld") != 0)
		buf_addf(out,
			"the builds as they ship are linked by %s, the relinks by %s: the spread "
			"is "
			"that of its layouts\n",
			own, l->linker);
}

static void row(struct table *t, const struct luck_row *r, const char *label)
{
	auto_buf struct buf gain = BUF_INIT, base = BUF_INIT, own = BUF_INIT, verdict = BUF_INIT;

	luck_gain_text(r, &gain);
	luck_spread_text(&r->base, &base);
	luck_spread_text(&r->variant, &own);
	luck_verdict_text(r, &verdict);
	table_cell(t, "%s%s", r->scenario ? r->scenario : "all, by weight",
		r->held_out ? " (held out)" : "");
	if (isfinite(r->shipped))
		table_cell(t, "%+.1f %%", ratio_percent(r->shipped));
	else
		table_cell(t, "%s", "");
	table_cell(t, "%s", buf_str(&gain));
	table_cell(t, "%s", buf_str(&base));
	table_cell(t, "%s", buf_str(&own));
	table_cell(t, "%s", buf_str(&verdict));
	if (*label)
		table_cell(t, "(%s)", label);
}

void luck_text(const struct luck *l, const char *label, struct buf *out)
{
	auto_free char *base = xasprintf("%s, relinks", l->base ? l->base : "");
	auto_free char *own = xasprintf("%s, relinks", l->variant ? l->variant : "");
	const char *heads[] = {"scenario", ">as shipped", "over relinks", base, own, "", ""};
	auto_buf struct buf reading = BUF_INIT;
	struct table *t;

	if (!l->relinks)
		return;
	if (l->problem) {
		buf_addf(out, "Relinks: none are compared: %s\n\n", l->problem);
		return;
	}
	if (!l->n)
		return;
	buf_addf(out, "%u relinks of each build with random padding by %s, %u launches%s%s%s\n",
		l->relinks, l->linker, l->launches, *label ? " (" : "", label, *label ? ")" : "");
	t = table_new(heads, ARRAY_SIZE(heads) - !*label);
	for (size_t i = 0; i < l->n; i++)
		row(t, &l->v[i], label);
	report_print_table(t, out);
	luck_reading_text(l, &reading);
	report_add_indented(out, buf_str(&reading));
	if (l->warnings && *l->warnings)
		report_add_indented(out, l->warnings);
	buf_addc(out, '\n');
}
