/* A table of text cells, printed aligned. Numbers are formatted by the caller and right-aligned by
 * the column's mark. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct table;

/* columns: headings, a leading '>' marks a right-aligned column. */
struct table *table_new(const char *const *columns, size_t n);
void table_cell(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Appends the table to out: headings, then the rows; two spaces between columns. Text is UTF-8 and
 * one column per code point. */
void table_print(const struct table *t, struct buf *out);
void table_free(struct table *t);
