#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gate/rules.h"

void evidence_add(struct evidence *e, const char *fmt, ...)
{
	va_list ap;

	if (++e->lines > EVIDENCE_LINES)
		return;
	if (e->text.n)
		buf_addc(&e->text, '\n');
	va_start(ap, fmt);
	buf_vaddf(&e->text, fmt, ap);
	va_end(ap);
}

void evidence_release(struct evidence *e)
{
	buf_release(&e->text);
	e->lines = 0;
}

static const char *evidence_text(struct evidence *e)
{
	if (!e)
		return "";
	if (e->lines > EVIDENCE_LINES) {
		buf_addf(&e->text, "\n… and %zu more", e->lines - EVIDENCE_LINES);
		e->lines = EVIDENCE_LINES;
	}
	return buf_str(&e->text);
}

__attribute__((format(printf, 6, 0))) static void add(struct verdicts *vs, const char *gate,
	enum verdict_state state, struct evidence *e, const char *remedy, const char *fmt,
	va_list ap)
{
	auto_buf struct buf summary = BUF_INIT;

	buf_vaddf(&summary, fmt, ap);
	verdict_add(vs, gate, state, buf_str(&summary), evidence_text(e), remedy);
}

void verdict_pass(struct verdicts *vs, const char *gate, struct evidence *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(vs, gate, VERDICT_PASS, e, "", fmt, ap);
	va_end(ap);
}

void verdict_fail(struct verdicts *vs, const char *gate, struct evidence *e, const char *remedy,
	const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(vs, gate, VERDICT_FAIL, e, remedy, fmt, ap);
	va_end(ap);
}

void verdict_skip(struct verdicts *vs, const char *gate, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(vs, gate, VERDICT_SKIPPED, NULL, "", fmt, ap);
	va_end(ap);
}

void text_set_add(struct text_set *s, const char *text)
{
	array_reserve(s->v, s->n, s->cap);
	s->v[s->n++] = text;
	s->sorted = false;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void text_set_seal(struct text_set *s)
{
	size_t kept = 0;

	if (s->n)
		qsort(s->v, s->n, sizeof(*s->v), by_text);
	for (size_t i = 0; i < s->n; i++) {
		if (!kept || strcmp(s->v[kept - 1], s->v[i]) != 0)
			s->v[kept++] = s->v[i];
	}
	s->n = kept;
	s->sorted = true;
}

bool text_set_has(const struct text_set *s, const char *text)
{
	return s->n && bsearch(&text, s->v, s->n, sizeof(*s->v), by_text);
}

void text_set_release(struct text_set *s)
{
	free(s->v);
	memset(s, 0, sizeof(*s));
}
