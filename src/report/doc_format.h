/* What a format does with each kind of block. Private to src/report. */
#pragma once

#include "report/doc.h"

/* Valid UTF-8 without control characters and without those that turn the direction of text; U+FFFD
 * in their place. Caller frees. */
char *doc_clean(const char *text);

struct doc_ops {
	void (*section)(struct doc *d, const char *id, const char *title);
	void (*end_section)(struct doc *d);
	void (*heading)(struct doc *d, const char *title);
	void (*text)(struct doc *d, const char *text);
	void (*note)(struct doc *d, enum doc_mark mark, const char *text);
	void (*lines)(struct doc *d, const char *text);
	void (*facts)(struct doc *d, bool begin);
	void (*fact)(struct doc *d, const char *title, enum doc_mark mark, const char *value,
		const char *detail);
	void (*list)(struct doc *d, bool begin);
	void (*item)(struct doc *d, const char *text);
	void (*more)(struct doc *d, const char *title); /* NULL: its end */
	void (*table)(struct doc *d, const char *caption);
	void (*cell)(struct doc *d, enum doc_mark mark, const char *text);
	void (*share)(struct doc *d, double share);
	void (*end_table)(struct doc *d);
	void (*figure)(struct doc *d, const char *svg, const char *caption);
};

extern const struct doc_ops doc_html, doc_markdown;

static inline bool doc_is_number(const char *column)
{
	return *column == '>';
}

static inline bool doc_is_code(const char *column)
{
	return *column == '`';
}

static inline bool doc_is_figure(const char *column)
{
	return *column == '=';
}

static inline const char *doc_title(const char *column)
{
	return doc_is_number(column) || doc_is_code(column) || doc_is_figure(column) ? column + 1
										     : column;
}
