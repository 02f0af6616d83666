/* What a mere relink changes: pieces that all forms of the report share. Private to src/report. */
#pragma once

#include "base/buf.h"
#include "facts/luck.h"

/* "±2.1 % (layout sd 0.6 %)" or "±2.1 % (noise)"; "" when it is not known. */
void luck_spread_text(const struct luck_spread *s, struct buf *out);
/* "-5.1 % [-6.2, -4.0]" */
void luck_gain_text(const struct luck_row *r, struct buf *out);
/* "inside the spread of mere relinks (±2.1 %)" or "beyond it"; "" when there is nothing to judge.
 */
void luck_verdict_text(const struct luck_row *r, struct buf *out);
/* How to read the table, and by what it was made: sentences, one a line. */
void luck_reading_text(const struct luck *l, struct buf *out);
/* The whole, as text for the terminal; nothing when no relinks were asked for. */
void luck_text(const struct luck *l, const char *label, struct buf *out);
