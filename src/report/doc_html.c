/* The blocks of a document as HTML. The page around them: page.c. */
#include "report/doc_format.h"

static const char *const classes[] = {
	[DOC_PLAIN] = "plain",
	[DOC_GOOD] = "good",
	[DOC_BAD] = "bad",
	[DOC_WARN] = "warn",
	[DOC_QUIET] = "quiet",
};

static void element(struct doc *d, const char *name, const char *text)
{
	buf_addf(d->out, "<%s>", name);
	html_text(d->out, text);
	buf_addf(d->out, "</%s>\n", name);
}

static void section(struct doc *d, const char *id, const char *title)
{
	buf_addf(d->out, "<section id=\"%s\" aria-labelledby=\"%s-title\">\n<h2 id=\"%s-title\">",
		id, id, id);
	html_text(d->out, title);
	buf_adds(d->out, "</h2>\n");
}

static void end_section(struct doc *d)
{
	buf_adds(d->out, "</section>\n");
}

static void heading(struct doc *d, const char *title)
{
	element(d, "h3", title);
}

static void text(struct doc *d, const char *s)
{
	element(d, "p", s);
}

static void note(struct doc *d, enum doc_mark mark, const char *s)
{
	buf_addf(d->out, "<p class=\"note %s\">", classes[mark]);
	html_text(d->out, s);
	buf_adds(d->out, "</p>\n");
}

static void lines(struct doc *d, const char *s)
{
	buf_adds(d->out, "<pre tabindex=\"0\">");
	html_text(d->out, s);
	buf_adds(d->out, "</pre>\n");
}

static void facts(struct doc *d, bool begin)
{
	buf_adds(d->out, begin ? "<dl class=\"facts\">\n" : "</dl>\n");
}

static void fact(
	struct doc *d, const char *title, enum doc_mark mark, const char *value, const char *detail)
{
	buf_adds(d->out, "<div><dt>");
	html_text(d->out, title);
	buf_addf(d->out, "</dt><dd class=\"value %s\">", classes[mark]);
	html_text(d->out, value);
	buf_adds(d->out, "</dd><dd>");
	html_text(d->out, detail);
	buf_adds(d->out, "</dd></div>\n");
}

static void list(struct doc *d, bool begin)
{
	buf_adds(d->out, begin ? "<ul>\n" : "</ul>\n");
}

static void item(struct doc *d, const char *s)
{
	element(d, "li", s);
}

static void more(struct doc *d, const char *title)
{
	if (!title) {
		buf_adds(d->out, "</details>\n");
		return;
	}
	buf_adds(d->out, "<details>");
	element(d, "summary", title);
}

/* A table that is wider than the window scrolls by itself, by the keyboard too. */
static void table(struct doc *d, const char *caption)
{
	buf_addf(d->out,
		"<div class=\"scroll\" role=\"region\" tabindex=\"0\" "
		"aria-labelledby=\"table-%zu\"><table>\n<caption id=\"table-%zu\">",
		d->n_tables, d->n_tables);
	html_text(d->out, caption);
	buf_adds(d->out, "</caption>\n<thead><tr>");
	for (size_t i = 0; i < d->n_columns; i++) {
		buf_addf(d->out, "<th scope=\"col\"%s>",
			doc_is_number(d->columns[i]) ? " class=\"number\"" : "");
		html_text(d->out, doc_title(d->columns[i]));
		buf_adds(d->out, "</th>");
	}
	buf_adds(d->out, "</tr></thead>\n<tbody>\n");
}

static const char *column_class(const char *column)
{
	return doc_is_number(column)   ? " class=\"number\""
	       : doc_is_figure(column) ? " class=\"figure\""
				       : "";
}

static void begin_cell(struct doc *d)
{
	if (d->column == 0)
		buf_adds(d->out, "<tr><th scope=\"row\">");
	else
		buf_addf(d->out, "<td%s>", column_class(d->columns[d->column]));
}

static void end_cell(struct doc *d)
{
	buf_adds(d->out, d->column == 0 ? "</th>" : "</td>");
	if (d->column + 1 == d->n_columns)
		buf_adds(d->out, "</tr>\n");
}

static void cell(struct doc *d, enum doc_mark mark, const char *s)
{
	bool code = doc_is_code(d->columns[d->column]) && *s;

	begin_cell(d);
	if (mark != DOC_PLAIN)
		buf_addf(d->out, "<span class=\"mark %s\">", classes[mark]);
	buf_adds(d->out, code ? "<code>" : "");
	html_text(d->out, s);
	buf_adds(d->out, code ? "</code>" : "");
	buf_adds(d->out, mark != DOC_PLAIN ? "</span>" : "");
	end_cell(d);
}

static void share(struct doc *d, double share)
{
	begin_cell(d);
	buf_addf(d->out,
		"%.1f %% <svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" "
		"aria-hidden=\"true\"><rect width=\"%.1f\" height=\"10\"/></svg>",
		share * 100, share * 100);
	end_cell(d);
}

static void end_table(struct doc *d)
{
	buf_adds(d->out, "</tbody></table></div>\n");
}

static void figure(struct doc *d, const char *svg, const char *caption)
{
	buf_addf(d->out,
		"<figure><div class=\"scroll\" role=\"group\" tabindex=\"0\" "
		"aria-label=\"plot\">%s</div>\n",
		svg);
	element(d, "figcaption", caption);
	buf_adds(d->out, "</figure>\n");
}

const struct doc_ops doc_html = {
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
