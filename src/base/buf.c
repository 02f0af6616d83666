#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

char *buf_reserve(struct buf *b, size_t n)
{
	size_t max = b->max ? b->max : BUF_MAX_DEFAULT;
	size_t cap;

	if (b->failed || n > max - b->n) {
		b->failed = true;
		return NULL;
	}
	if (b->n + n + 1 > b->cap) {
		cap = b->cap ? b->cap * 2 : 64;
		if (cap < b->n + n + 1)
			cap = b->n + n + 1;
		b->p = xreallocarray(b->p, cap, 1);
		b->cap = cap;
	}
	return b->p + b->n;
}

void buf_add(struct buf *b, const void *data, size_t n)
{
	char *to = buf_reserve(b, n);

	if (!to)
		return;
	if (n)
		memcpy(to, data, n);
	b->n += n;
	b->p[b->n] = '\0';
}

void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_addc(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_vaddf(struct buf *b, const char *fmt, va_list ap)
{
	char *s = NULL;
	int n = vasprintf(&s, fmt, ap);

	if (n < 0)
		mem_exhausted();
	buf_add(b, s, (size_t)n);
	free(s);
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(b, fmt, ap);
	va_end(ap);
}

bool buf_failed(const struct buf *b)
{
	return b->failed;
}

void buf_clear(struct buf *b)
{
	b->n = 0;
	b->failed = false;
	if (b->p)
		b->p[0] = '\0';
}

void buf_release(struct buf *b)
{
	free(b->p);
	b->p = NULL;
	b->n = b->cap = 0;
	b->failed = false;
}

char *buf_detach(struct buf *b)
{
	char *s = b->p ? b->p : xstrdup("");

	b->p = NULL;
	b->n = b->cap = 0;
	return s;
}

const char *buf_str(const struct buf *b)
{
	return b->p ? b->p : "";
}
