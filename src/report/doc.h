/* A document that is written block by block, as HTML or as Markdown: whoever writes it says what it
 * holds and not how it looks. All text may come from outside (paths, names of functions and phases,
 * what a program printed) and is escaped here and nowhere else. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/strv.h"

enum doc_format { DOC_HTML, DOC_MARKDOWN };

/* What a piece of text says about the build. It is always in the words too, never in a colour
 * alone. */
enum doc_mark { DOC_PLAIN, DOC_GOOD, DOC_BAD, DOC_WARN, DOC_QUIET };

struct doc {
	struct buf *out;
	enum doc_format format;
	const char *const *columns; /* of the table that is open */
	size_t n_columns, column, n_tables;
	bool in_section;
	struct strv sections; /* id and title of each, one after the other: the contents */
};
void doc_release(struct doc *d);

/* id: of the section, plain letters; it is what the contents of the page link to. */
void doc_section(struct doc *d, const char *id, const char *title);
void doc_end_sections(struct doc *d);
void doc_heading(struct doc *d, const char *title); /* below a section */

void doc_text(struct doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A sentence that must not be overlooked. */
void doc_note(struct doc *d, enum doc_mark mark, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void doc_lines(struct doc *d, const char *text); /* as it stands, line by line */

/* The few figures that stand above all others. */
void doc_begin_facts(struct doc *d);
void doc_fact(struct doc *d, const char *title, enum doc_mark mark, const char *value,
	const char *detail);
void doc_end_facts(struct doc *d);

void doc_begin_list(struct doc *d);
void doc_item(struct doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void doc_end_list(struct doc *d);
/* A list of an item for each line, with `end` behind it; nothing without lines. */
void doc_items(struct doc *d, const char *lines, const char *end);

/* What a reader need not see at once. */
void doc_begin_more(struct doc *d, const char *title);
void doc_end_more(struct doc *d);

/* A leading '>' marks a column of numbers, '=' one of figures in words, which stay on one line, '`'
 * one of names as a program has them. The first column names the row. Cells follow row by row;
 * columns must live until the table's end. */
void doc_table(struct doc *d, const char *caption, const char *const *columns, size_t n);
void doc_cell(struct doc *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void doc_mark_cell(struct doc *d, enum doc_mark mark, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void doc_share_cell(struct doc *d, double share); /* 0 to 1, as percent and as a bar */
void doc_end_table(struct doc *d);

/* A drawing, with what it shows in words; svg is markup already. In HTML alone. */
void doc_figure(struct doc *d, const char *svg, const char *caption);

/* ---- escaping ---- */

/* Text as HTML, fit for an element and for an attribute in double quotes. */
void html_text(struct buf *out, const char *text);
/* Text as one line of Markdown (GitHub's kind), fit for a cell of a table. */
void markdown_text(struct buf *out, const char *text);
void markdown_code(struct buf *out, const char *text); /* the same as a code span */
