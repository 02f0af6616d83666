#include "base/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/strv.h"

struct table {
	size_t columns;
	bool *right;
	struct strv cells; /* the headings first */
};

struct table *table_new(const char *const *columns, size_t n)
{
	struct table *t = xcalloc(1, sizeof(*t));

	t->columns = n;
	t->right = xcalloc(n, sizeof(*t->right));
	for (size_t i = 0; i < n; i++) {
		t->right[i] = columns[i][0] == '>';
		strv_add(&t->cells, columns[i] + t->right[i]);
	}
	return t;
}

void table_cell(struct table *t, const char *fmt, ...)
{
	va_list ap;
	struct buf b = BUF_INIT;

	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	strv_take(&t->cells, buf_detach(&b));
}

static size_t width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void add_cell(const struct table *t, struct buf *out, size_t i, const size_t *widths)
{
	size_t column = i % t->columns, pad = widths[column] - width(t->cells.v[i]);
	bool last = column + 1 == t->columns;

	if (t->right[column])
		buf_addf(out, "%*s%s", (int)pad, "", t->cells.v[i]);
	else if (last)
		buf_adds(out, t->cells.v[i]);
	else
		buf_addf(out, "%s%*s", t->cells.v[i], (int)pad, "");
	buf_adds(out, last ? "\n" : "  ");
}

void table_print(const struct table *t, struct buf *out)
{
	auto_free size_t *widths = xcalloc(t->columns, sizeof(*widths));

	for (size_t i = 0; i < t->cells.n; i++)
		if (width(t->cells.v[i]) > widths[i % t->columns])
			widths[i % t->columns] = width(t->cells.v[i]);
	for (size_t i = 0; i < t->cells.n; i++)
		add_cell(t, out, i, widths);
}

void table_free(struct table *t)
{
	if (!t)
		return;
	strv_release(&t->cells);
	free(t->right);
	free(t);
}
