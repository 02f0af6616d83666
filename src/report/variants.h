/* The variants in the reports. Private to src/report. */
#pragma once

#include "report/report.h"

/* "-7.1 % [-7.7, -6.5]"; nothing when it is not known. */
void variants_figure_text(const struct decided *v, struct buf *out);
/* "released", "proposed", or its state. */
const char *variants_state_text(const struct decision *d, const struct decided *v);
/* What is proposed, in one sentence; NULL: nothing was measured. Caller frees. */
char *variants_proposal_text(const struct decision *d);
/* A table and the proposal; nothing without variants. label: as report_label() gives it. */
void variants_text(const struct decision *d, const char *label, struct buf *out);
