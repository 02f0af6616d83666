#include "report/variants.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"
#include "report/text.h"

static bool is(const char *a, const char *b)
{
	return a && strcmp(a, b) == 0;
}

void variants_figure_text(const struct decided *v, struct buf *out)
{
	if (!isfinite(v->ratio))
		return;
	buf_addf(out, "%+.1f %%", ratio_percent(v->ratio));
	if (isfinite(v->low) && isfinite(v->high))
		buf_addf(out, " [%+.1f, %+.1f]", ratio_percent(v->low), ratio_percent(v->high));
}

const char *variants_state_text(const struct decision *d, const struct decided *v)
{
	if (is(d->released, v->name))
		return is(d->proposed, v->name) ? "released, proposed" : "released";
	return is(d->proposed, v->name) ? "proposed" : decided_state_name(v->state);
}

char *variants_proposal_text(const struct decision *d)
{
	auto_free char *other = NULL;

	if (!d->proposed)
		return NULL;
	other = decision_proposal(d, d->released ? d->released : "");
	if (!decision_find(d, d->proposed))
		return xasprintf(
			"None of %zu variants may be released, and plain is what remains: %s", d->n,
			d->why);
	return other ? xasprintf("whet %s", other)
		     : xasprintf("'%s' is released, which is what whet proposes: %s", d->proposed,
			       d->why);
}

void variants_text(const struct decision *d, const char *label, struct buf *out)
{
	static const char *const heads[] = {
		"variant", "what differs", "state", "all scenarios", "why"};
	auto_free char *proposal = variants_proposal_text(d);
	struct table *t;

	if (!d->n)
		return;
	buf_addf(out, "Variants against plain%s%s%s\n", *label ? " (" : "", label,
		*label ? ")" : "");
	t = table_new(heads, ARRAY_SIZE(heads));
	for (size_t i = 0; i < d->n; i++) {
		auto_buf struct buf figure = BUF_INIT;

		variants_figure_text(&d->v[i], &figure);
		table_cell(t, "%s", d->v[i].name);
		table_cell(t, "%s", d->v[i].settings ? d->v[i].settings : "");
		table_cell(t, "%s", variants_state_text(d, &d->v[i]));
		table_cell(t, "%s", buf_str(&figure));
		table_cell(t, "%s", d->v[i].why);
	}
	report_print_table(t, out);
	if (proposal)
		buf_addf(out, "  %s\n", proposal);
	buf_addc(out, '\n');
}
