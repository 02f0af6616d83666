/* What stands beside the comparison, for the terminal. */
#include <string.h>

#include "base/mem.h"
#include "report/counter_rows.h"
#include "report/text.h"

static void print_rows(
	const struct strv *heads, const struct strv *cells, const char *label, struct buf *out)
{
	const char **titles = xcalloc(heads->n + 1, sizeof(*titles));
	const char *last = "";
	struct table *t;
	size_t n = heads->n;

	for (size_t i = 0; i < n; i++)
		titles[i] = heads->v[i];
	titles[n] = "";
	t = table_new(titles, n + (*label != '\0'));
	for (size_t i = 0; i < cells->n; i++) {
		bool again = i % n == 0 && strcmp(cells->v[i], last) == 0;

		table_cell(t, "%s", again ? "" : cells->v[i]);
		if (i % n == 0)
			last = cells->v[i];
		if (i % n == n - 1 && *label)
			table_cell(t, "(%s)", label);
	}
	report_print_table(t, out);
	free(titles);
}

void report_counters_text(const struct comparisons *c, const char *label, struct buf *out)
{
	auto_strv struct strv heads = STRV_INIT, cells = STRV_INIT;
	auto_buf struct buf remarks = BUF_INIT;
	const char *unit = c->n ? report_unit(c) : "";

	counter_rows(c, &heads, &cells);
	counter_remarks(c, &remarks);
	if (cells.n) {
		buf_addf(out, "Counters per %s, beside the comparison%s%s%s\n",
			*unit ? unit : "request or run", *label ? " (" : "", label,
			*label ? ")" : "");
		print_rows(&heads, &cells, label, out);
	}
	if (remarks.n)
		report_add_indented(out, buf_str(&remarks));
}
