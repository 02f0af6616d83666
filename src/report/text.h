/* Parts of the text report. Private to src/report. */
#pragma once

#include "base/buf.h"
#include "base/table.h"
#include "facts/trial.h"

/* Indented by two spaces, without spaces at the ends of lines. */
void report_add_indented(struct buf *out, const char *text);
/* The same of a table, which it frees. */
void report_print_table(struct table *t, struct buf *out);
/* What stands below the table of a comparison: how to read it, and what should not be overlooked.
 */
void report_comparison_notes(const struct comparisons *c, struct buf *out);
