/* What the forms of the report share. Private to src/report. */
#pragma once

#include "base/buf.h"
#include "base/table.h"
#include "report/report.h"

/* Indented by two spaces, without spaces at the ends of lines. */
void report_add_indented(struct buf *out, const char *text);
/* The same of a table, which it frees. */
void report_print_table(struct table *t, struct buf *out);
/* What stands below the table of a comparison: how to read it, and what should not be overlooked in
 * this one. */
void report_comparison_reading(const struct comparisons *c, struct buf *out);
void report_comparison_notes(const struct comparisons *c, struct buf *out);
/* What stands beside it: counters, and why there are none; nothing when they are off. */
void report_counters_text(const struct comparisons *c, const char *label, struct buf *out);

/* What a figure of the base counts: "request", "run", or "" when the rows differ. */
const char *report_unit(const struct comparisons *c);
bool report_has_held_out(const struct comparisons *c);
/* How the measurement went: why it ended, what it left open, outliers. Indented lines, or nothing.
 */
void report_course_text(const struct comparisons *c, struct buf *out);
/* "0123456789ab+", '+': tracked files differed from it, '?': that is not known; "-" without git.
 * Caller frees. */
char *report_revision(const struct past_build *b);
char *report_duration(uint64_t ns); /* "12.3 s", "2 min 03 s"; caller frees */
/* "(start)", "(stop)", or the phase's name. */
const char *report_phase_name(const struct coverage_phase *p);
/* What is to be said of a phase's coverage; "" when nothing is. Caller frees. */
char *report_phase_remark(const struct coverage_phase *p);
const char *report_function_name(const struct coverage_function *f); /* that of the source */
