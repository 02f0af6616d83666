#include "config/problems.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "config/yaml.h"

__attribute__((format(printf, 4, 0))) static void add(
	struct problems *ps, int line, int column, const char *fmt, va_list ap)
{
	struct buf text = BUF_INIT;

	if (ps->n >= PROBLEMS_MAX) {
		ps->dropped++;
		return;
	}
	buf_vaddf(&text, fmt, ap);
	array_reserve(ps->v, ps->n, ps->cap);
	ps->v[ps->n] = (struct problem){
		.line = line, .column = column, .order = ps->n, .text = buf_detach(&text)};
	ps->n++;
}

void problem_at(struct problems *ps, int line, int column, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(ps, line, column, fmt, ap);
	va_end(ap);
}

void problem_add(struct problems *ps, const struct node *n, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add(ps, n->line, n->column, fmt, ap);
	va_end(ap);
}

static int by_place(const void *a, const void *b)
{
	const struct problem *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->column != y->column)
		return x->column < y->column ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

int problems_error(struct problems *ps, struct error *err)
{
	auto_buf struct buf text = BUF_INIT;

	if (!ps->n)
		return 0;
	qsort(ps->v, ps->n, sizeof(*ps->v), by_place);
	for (size_t i = 0; i < ps->n; i++)
		buf_addf(&text, "%s%s:%d:%d: %s", i ? "\n" : "", ps->file, ps->v[i].line,
			ps->v[i].column, ps->v[i].text);
	if (ps->dropped)
		buf_addf(&text, "\nand %zu more in '%s'", ps->dropped, ps->file);
	return error_set(err, ERR_CONFIG, "%s", buf_str(&text));
}

void problems_release(struct problems *ps)
{
	for (size_t i = 0; i < ps->n; i++)
		free(ps->v[i].text);
	free(ps->v);
	ps->v = NULL;
	ps->n = ps->cap = ps->dropped = 0;
}
