/* What stands beside the comparison, in the report. */
#include "base/mem.h"
#include "report/counter_rows.h"
#include "report/sections.h"

static void counter_table(
	struct doc *d, const struct strv *rows, const struct strv *cells, const char *label)
{
	auto_strv struct strv heads = STRV_INIT;
	auto_free char *caption = xasprintf(
		"Counters per request or run%s%s%s", *label ? " (" : "", label, *label ? ")" : "");

	for (size_t i = 0; i < rows->n; i++)
		strv_addf(&heads, "%s%s", i < 2 ? "" : "=", rows->v[i]);
	if (*label)
		strv_add(&heads, "=label");
	doc_table(d, caption, (const char *const *)heads.v, heads.n);
	for (size_t i = 0; i < cells->n; i++) {
		doc_cell(d, "%s", cells->v[i]);
		if (i % rows->n == rows->n - 1 && *label)
			doc_mark_cell(d, DOC_WARN, "%s", label);
	}
	doc_end_table(d);
}

static void add_functions(struct doc *d, const struct simulated *s, const char *label)
{
	static const char *const heads[] = {
		"`function", "`object", ">instructions", "share of all"};
	auto_free char *caption =
		xasprintf("Functions of '%s' with %s by simulated instructions per "
			  "%s, of %.0f%s%s%s",
			s->scenario, s->variant, s->per_run ? "run" : "request", s->instructions,
			*label ? " (" : "", label, *label ? ")" : "");

	doc_table(d, caption, heads, ARRAY_SIZE(heads));
	for (size_t i = 0; i < s->n_top; i++) {
		doc_cell(d, "%s", s->top[i].name);
		doc_cell(d, "%s", s->top[i].object);
		doc_cell(d, "%.0f", s->top[i].instructions);
		doc_share_cell(d, s->top[i].share);
	}
	doc_end_table(d);
}

void section_counters(
	struct doc *d, const char *title, const struct comparisons *c, const char *label)
{
	auto_strv struct strv rows = STRV_INIT, cells = STRV_INIT;
	auto_buf struct buf remarks = BUF_INIT;
	const struct counters *k = &c->counters;

	counter_rows(c, &rows, &cells);
	counter_remarks(c, &remarks);
	if (!cells.n && !remarks.n)
		return;
	doc_heading(d, title);
	if (cells.n)
		counter_table(d, &rows, &cells, label);
	doc_items(d, buf_str(&remarks), "");
	if (!k->n_simulated)
		return;
	doc_begin_more(d, "Functions with most instructions");
	for (size_t i = 0; i < k->n_simulated; i++)
		if (k->simulated[i].n_top)
			add_functions(d, &k->simulated[i], label);
	doc_end_more(d);
}
