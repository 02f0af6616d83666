#include "wrap/diag.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "wrap/diag_gcc.h"

#define HASH_MARK " Hash = "
/* How each message of rustc --error-format=json begins. */
#define RUSTC_MESSAGE "{\"$message_type\""

static const char *const unreadable_texts[] = {"Could not read profile", "Error in reading profile",
	"unsupported instrumentation profile", "invalid instrumentation profile data",
	"malformed instrumentation profile data", "truncated profile data",
	"empty raw profile file", "Not an IR level instrumentation profile",
	"unrecognized instrumentation profile", "profile uses zlib compression",
	"raw profile version mismatch", "passed to `-C profile-use` does not exist"};

static const char *const other_texts[] = {"Inconsistent number of value sites",
	"[-Wbackend-plugin]", "[-Wprofile-instr", "is a profile of a different"};

/* The name between `from` and the mark " Hash = ". */
static void take_function(const char *from, struct profile_diag *d)
{
	const char *mark = strstr(from, HASH_MARK);

	if (!mark)
		return;
	d->function = xstrndup(from, (size_t)(mark - from));
	d->hash = strtoull(mark + strlen(HASH_MARK), NULL, 10);
}

static bool any_of(const char *const *texts, size_t n, const char *line)
{
	for (size_t i = 0; i < n; i++)
		if (strstr(line, texts[i]))
			return true;
	return false;
}

/* 'Inconsistent … profiling in "F", possibly …' names the function in quotes. */
static void take_quoted(const char *line, struct profile_diag *d)
{
	const char *open = strchr(line, '"');
	const char *close = open ? strchr(open + 1, '"') : NULL;

	if (close)
		d->function = xstrndup(open + 1, (size_t)(close - open - 1));
}

bool diag_parse(const char *line, const char *profile, struct profile_diag *ret)
{
	static const char missing[] = "no profile data available for function ";
	static const char *const changed[] = {
		"(hash mismatch) ", "(counter mismatch) ", "(bitmap mismatch) "};
	struct profile_diag d = {.kind = DIAG_OTHER};
	const char *p;
	bool found = false;

	for (size_t i = 0; !found && i < ARRAY_SIZE(changed); i++)
		if ((p = strstr(line, changed[i])) && strstr(p, HASH_MARK)) {
			d.kind = DIAG_MISMATCH;
			take_function(p + strlen(changed[i]), &d);
			found = true;
		}
	if (!found && (p = strstr(line, missing))) {
		d.kind = DIAG_MISSING;
		take_function(p + strlen(missing), &d);
		found = true;
	}
	if (!found && (any_of(unreadable_texts, ARRAY_SIZE(unreadable_texts), line) ||
			      (profile && strstr(line, profile)))) {
		d.kind = DIAG_UNREADABLE;
		found = true;
	}
	if (!found && any_of(other_texts, ARRAY_SIZE(other_texts), line)) {
		take_quoted(line, &d);
		found = true;
	}
	if (!found)
		return false;
	if (!d.function)
		d.function = xstrdup("");
	d.text = xstrdup(line);
	*ret = d;
	return true;
}

static void record_diag(struct diag_filter *f, struct profile_diag *d)
{
	struct compile_record *r = f->record;

	array_reserve(r->diags, r->n_diags, r->cap_diags);
	r->diags[r->n_diags++] = *d;
}

/* A copy without colour codes (ESC [ … letter) and line end. */
static char *plain_text(const char *line, size_t n)
{
	char *s = xmalloc(n + 1);
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		if (line[i] == '\033' && i + 1 < n && line[i + 1] == '[') {
			for (i += 2; i < n && !isalpha((unsigned char)line[i]); i++)
				;
		} else if (line[i] != '\n' && line[i] != '\r' && line[i]) {
			s[k++] = line[i];
		}
	}
	s[k] = 0;
	return s;
}

enum severity { SEVERITY_NONE, SEVERITY_NOTE, SEVERITY_WARNING, SEVERITY_ERROR };

/* Of "file:1:2: warning: text", "clang: error: text", "warning: text", "warning[E0]: text". */
static enum severity severity_of(const char *s)
{
	static const struct {
		const char *word;
		enum severity severity;
	} words[] = {{"warning", SEVERITY_WARNING}, {"error", SEVERITY_ERROR},
		{"fatal error", SEVERITY_ERROR}, {"note", SEVERITY_NOTE},
		{"remark", SEVERITY_NOTE}};

	for (const char *p = s; p && !isspace((unsigned char)*s);) {
		for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
			size_t n = strlen(words[i].word);

			if (strncmp(p, words[i].word, n) == 0 && (p[n] == ':' || p[n] == '['))
				return words[i].severity;
		}
		p = strstr(p, ": ");
		p = p ? p + 2 : NULL;
	}
	return SEVERITY_NONE;
}

/* "3 warnings generated." or "3 warnings and 1 error generated.": the number that the user sees
 * must be that of the plain build. Returns false when this is no such line. */
static bool rewrite_count(struct diag_filter *f, const char *text, struct buf *out)
{
	const char *rest;
	unsigned long n;
	char *end;

	n = strtoul(text, &end, 10);
	if (end == text || strncmp(end, " warning", 8) != 0)
		return false;
	rest = end + 8 + (end[8] == 's');
	if (strcmp(rest, " generated.") != 0 && strncmp(rest, " and ", 5) != 0)
		return false;
	n = n > f->hidden ? n - f->hidden : 0;
	if (n)
		buf_addf(out, "%lu warning%s%s\n", n, n == 1 ? "" : "s", rest);
	else if (strncmp(rest, " and ", 5) == 0)
		buf_addf(out, "%s\n", rest + 5);
	return true;
}

/* Whether a profile diagnostic of this kind is kept from the user. */
static bool silent_kind(
	const struct diag_filter *f, const struct profile_diag *d, enum severity severity)
{
	if (severity == SEVERITY_ERROR)
		return false;
	return f->rust || d->kind == DIAG_MISSING || (f->gcc && d->kind == DIAG_OTHER);
}

/* gcc: "a.c: In function 'f':", "a.cc: At global scope:". */
static bool is_place(const char *text)
{
	const char *at = strstr(text, ": ");
	size_t n = strlen(text);

	return at && n && text[n - 1] == ':' &&
	       (strncmp(at + 2, "In ", 3) == 0 || strncmp(at + 2, "At ", 3) == 0);
}

/* "In file included from a.h:1:" stands in front of the diagnostic that it belongs to. */
static bool is_preamble(const char *text)
{
	return is_place(text) || strncmp(text, "In file included from ", 22) == 0 ||
	       strncmp(text, "In module ", 10) == 0 ||
	       (text[0] == ' ' && strstr(text, " from ") && text[strlen(text) - 1] == ':');
}

/* A line that begins a diagnostic: decides whether its block is forwarded. */
static void begin_block(struct diag_filter *f, const char *text, enum severity severity)
{
	struct profile_diag d;
	bool mine = (f->gcc && diag_parse_gcc(text, &d)) || diag_parse(text, f->profile, &d);
	bool drop = f->hide_warnings && severity == SEVERITY_WARNING;

	if (mine) {
		drop = silent_kind(f, &d, severity) || (drop && d.kind == DIAG_OTHER);
		record_diag(f, &d);
	}
	if (drop)
		f->hidden++;
	f->dropping = drop;
}

static void filter_text(
	struct diag_filter *f, const char *line, size_t n, const char *text, struct buf *out)
{
	enum severity severity = severity_of(text);

	if (f->hidden && rewrite_count(f, text, out))
		return;
	if (severity == SEVERITY_WARNING || severity == SEVERITY_ERROR) {
		begin_block(f, text, severity);
		if (!f->dropping)
			buf_add(out, f->preamble.p, f->preamble.n);
		buf_clear(&f->preamble);
	} else if ((f->hide_warnings || f->gcc) && is_preamble(text)) {
		buf_add(&f->preamble, line, n);
		f->dropping = false;
		return;
	}
	if (!f->dropping)
		buf_add(out, line, n);
	if (f->rust && !*text)
		f->dropping = false; /* an empty line ends rustc's diagnostics */
}

/* rustc --error-format=json: one object a line. Only lines that may matter are decoded. */
static bool rust_json_hidden(struct diag_filter *f, const char *text)
{
	auto_free char *level = NULL;
	struct profile_diag d;
	json_t *o = json_loads(text, 0, NULL);
	const char *message = json_string_value(json_object_get(o, "message"));
	const char *l = json_string_value(json_object_get(o, "level"));
	unsigned emitted = 0;
	bool hide = false;

	level = xstrdup(l ? l : "");
	if (message && diag_parse(message, f->profile, &d)) {
		record_diag(f, &d);
		hide = strcmp(level, "warning") == 0;
		f->hidden += hide;
	} else if (message && f->hide_warnings && strcmp(level, "warning") == 0) {
		hide = true;
	} else if (message && strstr(message, " emitted")) {
		emitted = (unsigned)strtoul(message, NULL, 10);
		hide = f->hidden && strcmp(level, "warning") == 0 && emitted <= f->hidden;
	}
	json_decref(o);
	return hide;
}

/* "warning: `x` (bin) generated …" and "warning: 2 warnings emitted" of rustc's text form. */
static bool rust_count_hidden(const struct diag_filter *f, const char *text)
{
	const char *p = strstr(text, "warning: ");

	return f->hidden && p == text && isdigit((unsigned char)p[9]) && strstr(p, " emitted") &&
	       strtoul(p + 9, NULL, 10) <= f->hidden;
}

/* Of a traced call: takes down a lookup. Messages of rustc come from another thread and may begin
 * in the midst of one; returns where such a message begins in the line, its end when there is none.
 */
static const char *take_lookup(struct diag_filter *f, const char *line, size_t n, const char *text)
{
	struct sought *s = &f->record->sought;
	const char *message = f->rust && s->n ? strstr(text, RUSTC_MESSAGE) : NULL;
	auto_free char *before = message ? xstrndup(text, (size_t)(message - text)) : NULL;

	if (before && *before && sought_parse(s, before, true))
		return memmem(line, n, RUSTC_MESSAGE, strlen(RUSTC_MESSAGE));
	return sought_parse(s, text, f->rust) ? line + n : line;
}

/* Takes down the lookup that another thread wrote right behind a message of rustc; the message's
 * length, or 0 when there is nothing behind it. */
static size_t take_behind(struct diag_filter *f, const char *text)
{
	json_error_t at = {0};
	json_t *o = NULL;
	size_t n = 0;

	if (!f->rust || !f->record->sought.n || text[0] != '{')
		return 0;
	o = json_loads(text, JSON_DISABLE_EOF_CHECK, &at);
	if (o && at.position > 0 && text[at.position] &&
		sought_parse(&f->record->sought, text + at.position, true))
		n = (size_t)at.position;
	json_decref(o);
	return n;
}

void diag_filter_line(struct diag_filter *f, const char *line, size_t n, struct buf *out)
{
	auto_free char *text = plain_text(line, n);
	size_t message = take_behind(f, text);
	auto_free char *alone = message ? xasprintf("%.*s\n", (int)message, text) : NULL;
	const char *rest;

	if (alone) {
		diag_filter_line(f, alone, message + 1, out);
		return;
	}
	rest = take_lookup(f, line, n, text);

	if (rest == line + n && n)
		return;
	if (rest && rest != line) {
		diag_filter_line(f, rest, n - (size_t)(rest - line), out);
		return;
	}
	if (f->rust && text[0] == '{') {
		if (!rust_json_hidden(f, text))
			buf_add(out, line, n);
		return;
	}
	if (f->rust && rust_count_hidden(f, text)) {
		f->dropping = true;
		return;
	}
	filter_text(f, line, n, text, out);
}

void diag_filter_end(struct diag_filter *f, struct buf *out)
{
	buf_add(out, f->preamble.p, f->preamble.n);
	buf_release(&f->preamble);
}
