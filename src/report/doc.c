/* Documents: what HTML and Markdown have in common, and the escaping of both. */
#include "report/doc.h"

#include <stdarg.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "report/doc_format.h"

/* ---- escaping -------------------------------------------------------------------------------- */

/* Characters that turn the direction of the text around them: a name would read as another one. */
static size_t turning(const unsigned char *u)
{
	if (u[0] == 0xd8 && u[1] == 0x9c) /* U+061C */
		return 2;
	if (u[0] != 0xe2)
		return 0;
	if (u[1] == 0x80) /* U+200E, U+200F, U+202A to U+202E */
		return u[2] == 0x8e || u[2] == 0x8f || (u[2] >= 0xaa && u[2] <= 0xae) ? 3 : 0;
	return u[1] == 0x81 && u[2] >= 0xa6 && u[2] <= 0xa9 ? 3 : 0; /* U+2066 to U+2069 */
}

/* What no text should hold, but a name from outside may; also control characters (0x1b would do
 * something where the document is looked at with a terminal). Its length in bytes, or 0. */
static size_t unwanted(const char *p)
{
	unsigned char c = (unsigned char)*p;

	if (c == 0x7f || (c < 0x20 && c != '\n' && c != '\t'))
		return 1;
	return turning((const unsigned char *)p);
}

char *doc_clean(const char *text)
{
	auto_json json_t *valid = json_text(text);
	struct buf out = BUF_INIT;

	for (const char *p = json_string_value(valid); p && *p;) {
		size_t bad = unwanted(p);

		if (bad)
			buf_adds(&out, "\xef\xbf\xbd");
		else
			buf_addc(&out, *p);
		p += bad ? bad : 1;
	}
	return buf_detach(&out);
}

static void html_char(struct buf *out, char c)
{
	switch (c) {
	case '&':
		buf_adds(out, "&amp;");
		break;
	case '<':
		buf_adds(out, "&lt;");
		break;
	case '>':
		buf_adds(out, "&gt;");
		break;
	case '"':
		buf_adds(out, "&quot;");
		break;
	case '\'':
		buf_adds(out, "&#39;");
		break;
	default:
		buf_addc(out, c);
	}
}

void html_text(struct buf *out, const char *text)
{
	auto_free char *clean = doc_clean(text);

	for (const char *p = clean; *p; p++)
		html_char(out, *p);
}

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (unsigned char)c >= 0x80;
}

/* At the start of a block these would make a list or a heading of it. */
static bool is_start_markup(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	if (digits)
		return (text[digits] == '.' || text[digits] == ')') && text[digits + 1] == ' ';
	return *text && strchr("-+=", *text) && text[1] && strchr(" -=", text[1]);
}

/* Whether a character would be taken for markup. An underscore inside a word is none. */
static bool is_markup(const char *text, const char *p)
{
	switch (*p) {
	case '_':
		return p == text || !is_word(p[-1]) || !is_word(p[1]);
	case '&':
		return is_word(p[1]) || p[1] == '#';
	case ']': /* what closes the text of a link */
		return p[1] && strchr("([:", p[1]);
	default:
		return strchr("\\`*<>#|~", *p) != NULL;
	}
}

static void markdown_char(struct buf *out, char c)
{
	buf_addc(out, c == '\n' || c == '\t' ? ' ' : c);
}

void markdown_text(struct buf *out, const char *text)
{
	auto_free char *clean = doc_clean(text);
	const char *mark = is_start_markup(clean) ? clean + strspn(clean, "0123456789") : NULL;

	for (const char *p = clean; *p; p++) {
		if (p == mark || is_markup(clean, p))
			buf_addc(out, '\\');
		markdown_char(out, *p);
	}
}

/* The longest run of backticks. */
static size_t longest_ticks(const char *text)
{
	size_t longest = 0;

	while (*text) {
		size_t n = strspn(text, "`");

		longest = n > longest ? n : longest;
		text += n ? n : 1;
	}
	return longest;
}

static void add_ticks(struct buf *out, size_t n)
{
	while (n--)
		buf_addc(out, '`');
}

void markdown_code(struct buf *out, const char *text)
{
	auto_free char *clean = doc_clean(text);
	size_t longest = longest_ticks(clean);

	if (!*clean)
		return;
	add_ticks(out, longest + 1);
	buf_adds(out, longest ? " " : "");
	for (const char *p = clean; *p; p++) {
		if (*p == '|') /* a table takes the backslash away before the span is read */
			buf_addc(out, '\\');
		markdown_char(out, *p);
	}
	buf_adds(out, longest ? " " : "");
	add_ticks(out, longest + 1);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static const struct doc_ops *ops_of(const struct doc *d)
{
	return d->format == DOC_HTML ? &doc_html : &doc_markdown;
}

void doc_section(struct doc *d, const char *id, const char *title)
{
	doc_end_sections(d);
	strv_add(&d->sections, id);
	strv_add(&d->sections, title);
	ops_of(d)->section(d, id, title);
	d->in_section = true;
}

void doc_release(struct doc *d)
{
	strv_release(&d->sections);
}

void doc_end_sections(struct doc *d)
{
	if (d->in_section)
		ops_of(d)->end_section(d);
	d->in_section = false;
}

void doc_heading(struct doc *d, const char *title)
{
	ops_of(d)->heading(d, title);
}

/* The text of a call, formatted, in a buffer named `text`. */
#define FORMAT_TEXT                                                                                \
	auto_buf struct buf text = BUF_INIT;                                                       \
	va_list ap;                                                                                \
                                                                                                   \
	va_start(ap, fmt);                                                                         \
	buf_vaddf(&text, fmt, ap);                                                                 \
	va_end(ap)

void doc_text(struct doc *d, const char *fmt, ...)
{
	FORMAT_TEXT;
	ops_of(d)->text(d, buf_str(&text));
}

void doc_note(struct doc *d, enum doc_mark mark, const char *fmt, ...)
{
	FORMAT_TEXT;
	ops_of(d)->note(d, mark, buf_str(&text));
}

void doc_lines(struct doc *d, const char *text)
{
	ops_of(d)->lines(d, text);
}

void doc_begin_facts(struct doc *d)
{
	ops_of(d)->facts(d, true);
}

void doc_fact(
	struct doc *d, const char *title, enum doc_mark mark, const char *value, const char *detail)
{
	ops_of(d)->fact(d, title, mark, value, detail);
}

void doc_end_facts(struct doc *d)
{
	ops_of(d)->facts(d, false);
}

void doc_begin_list(struct doc *d)
{
	ops_of(d)->list(d, true);
}

void doc_item(struct doc *d, const char *fmt, ...)
{
	FORMAT_TEXT;
	ops_of(d)->item(d, buf_str(&text));
}

void doc_end_list(struct doc *d)
{
	ops_of(d)->list(d, false);
}

void doc_items(struct doc *d, const char *lines, const char *end)
{
	if (!*lines)
		return;
	doc_begin_list(d);
	while (*lines) {
		size_t n = strcspn(lines, "\n");

		doc_item(d, "%.*s%s", (int)n, lines, end);
		lines += n + (lines[n] == '\n');
	}
	doc_end_list(d);
}

void doc_begin_more(struct doc *d, const char *title)
{
	ops_of(d)->more(d, title);
}

void doc_end_more(struct doc *d)
{
	ops_of(d)->more(d, NULL);
}

void doc_table(struct doc *d, const char *caption, const char *const *columns, size_t n)
{
	d->columns = columns;
	d->n_columns = n;
	d->column = 0;
	d->n_tables++;
	ops_of(d)->table(d, caption);
}

static void cell(struct doc *d, enum doc_mark mark, const char *text)
{
	ops_of(d)->cell(d, mark, text);
	d->column = (d->column + 1) % d->n_columns;
}

void doc_share_cell(struct doc *d, double share)
{
	ops_of(d)->share(d, share);
	d->column = (d->column + 1) % d->n_columns;
}

void doc_cell(struct doc *d, const char *fmt, ...)
{
	FORMAT_TEXT;
	cell(d, DOC_PLAIN, buf_str(&text));
}

void doc_mark_cell(struct doc *d, enum doc_mark mark, const char *fmt, ...)
{
	FORMAT_TEXT;
	cell(d, mark, buf_str(&text));
}

void doc_end_table(struct doc *d)
{
	ops_of(d)->end_table(d);
	d->columns = NULL;
}

void doc_figure(struct doc *d, const char *svg, const char *caption)
{
	ops_of(d)->figure(d, svg, caption);
}
