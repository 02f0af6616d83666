/* A growing byte buffer with a maximum. Always NUL-terminated after the content, so that text can
 * be used as a C string. Going over the maximum makes it sticky-failed: later additions are no-ops
 * and buf_failed() says so once, at the end. */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
	char *p;    /* NULL while empty; otherwise p[n] == 0 */
	size_t n;   /* bytes of content */
	size_t cap; /* allocated */
	size_t max; /* bytes of content allowed; 0 means BUF_MAX_DEFAULT */
	bool failed;
};

#define BUF_MAX_DEFAULT ((size_t)1 << 30)
#define BUF_INIT {0}

void buf_add(struct buf *b, const void *data, size_t n);
void buf_adds(struct buf *b, const char *s);
void buf_addc(struct buf *b, char c);
void buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vaddf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));
/* Makes room for n more bytes and returns where they go, or NULL when over the maximum; the caller
 * adds what it wrote to b->n (and may not exceed the room). */
char *buf_reserve(struct buf *b, size_t n);
bool buf_failed(const struct buf *b);
void buf_clear(struct buf *b);            /* empty, memory kept */
void buf_release(struct buf *b);          /* memory freed */
char *buf_detach(struct buf *b);          /* the caller owns the string ("" when empty) */
const char *buf_str(const struct buf *b); /* "" when empty */

#define auto_buf __attribute__((cleanup(buf_release)))
