/* Parts of the text report. Private to src/report. */
#pragma once

#include "base/buf.h"
#include "base/table.h"

/* Indented by two spaces, without spaces at the ends of lines. */
void report_add_indented(struct buf *out, const char *text);
/* The same of a table, which it frees. */
void report_print_table(struct table *t, struct buf *out);
