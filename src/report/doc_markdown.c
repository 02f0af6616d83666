/* The blocks of a document as Markdown: CommonMark with GitHub's tables. */
#include <string.h>

#include "base/mem.h"
#include "report/doc_format.h"

static void block(struct doc *d, const char *before, const char *text)
{
	buf_adds(d->out, before);
	markdown_text(d->out, text);
	buf_adds(d->out, "\n\n");
}

static void section(struct doc *d, const char *id, const char *title)
{
	block(d, "## ", title);
}

static void end_section(struct doc *d)
{
}

static void heading(struct doc *d, const char *title)
{
	block(d, "### ", title);
}

static void text(struct doc *d, const char *s)
{
	block(d, "", s);
}

static void note(struct doc *d, enum doc_mark mark, const char *s)
{
	block(d, "> ", s);
}

/* Indented code holds everything, whatever it says. */
static void lines(struct doc *d, const char *s)
{
	auto_free char *clean = doc_clean(s);

	for (const char *p = clean; *p;) {
		size_t n = strcspn(p, "\n");

		buf_adds(d->out, "    ");
		buf_add(d->out, p, n);
		buf_addc(d->out, '\n');
		p += n + (p[n] == '\n');
	}
	buf_addc(d->out, '\n');
}

static void facts(struct doc *d, bool begin)
{
	buf_adds(d->out, begin ? "" : "\n");
}

static void fact(
	struct doc *d, const char *title, enum doc_mark mark, const char *value, const char *detail)
{
	buf_adds(d->out, "- ");
	markdown_text(d->out, title);
	buf_adds(d->out, ": **");
	markdown_text(d->out, value);
	buf_adds(d->out, *detail ? "**, " : "**");
	markdown_text(d->out, detail);
	buf_addc(d->out, '\n');
}

static void list(struct doc *d, bool begin)
{
	buf_adds(d->out, begin ? "" : "\n");
}

static void item(struct doc *d, const char *s)
{
	buf_adds(d->out, "- ");
	markdown_text(d->out, s);
	buf_addc(d->out, '\n');
}

static void more(struct doc *d, const char *title)
{
	if (title)
		block(d, "#### ", title);
}

static void table(struct doc *d, const char *caption)
{
	block(d, "", caption);
	for (size_t i = 0; i < d->n_columns; i++) {
		buf_adds(d->out, "| ");
		markdown_text(d->out, doc_title(d->columns[i]));
		buf_addc(d->out, ' ');
	}
	buf_adds(d->out, "|\n");
	for (size_t i = 0; i < d->n_columns; i++)
		buf_adds(d->out, doc_is_number(d->columns[i]) ? "|---:" : "|---");
	buf_adds(d->out, "|\n");
}

static void cell(struct doc *d, enum doc_mark mark, const char *s)
{
	buf_adds(d->out, "| ");
	if (doc_is_code(d->columns[d->column]))
		markdown_code(d->out, s);
	else
		markdown_text(d->out, s);
	buf_addc(d->out, ' ');
	if (d->column + 1 == d->n_columns)
		buf_adds(d->out, "|\n");
}

static void share(struct doc *d, double share)
{
	auto_buf struct buf text = BUF_INIT;

	buf_addf(&text, "%.1f %%", share * 100);
	cell(d, DOC_PLAIN, buf_str(&text));
}

static void end_table(struct doc *d)
{
	buf_addc(d->out, '\n');
}

static void figure(struct doc *d, const char *svg, const char *caption)
{
}

const struct doc_ops doc_markdown = {
	.section = section,
	.end_section = end_section,
	.heading = heading,
	.text = text,
	.note = note,
	.lines = lines,
	.facts = facts,
	.fact = fact,
	.list = list,
	.item = item,
	.more = more,
	.table = table,
	.cell = cell,
	.share = share,
	.end_table = end_table,
	.figure = figure,
};
