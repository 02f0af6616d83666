/* What stands beside a comparison, as rows for any form of the report. Private to src/report. */
#pragma once

#include "base/buf.h"
#include "base/strv.h"
#include "facts/trial.h"

/* heads: scenario, counter, then the variants, base first; cells: row by row. Empty when there is
 * nothing to show. Release both. */
void counter_rows(const struct comparisons *c, struct strv *heads, struct strv *cells);
/* What has to be said of them: one sentence a line; nothing when counters are off. */
void counter_remarks(const struct comparisons *c, struct buf *out);
