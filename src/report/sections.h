/* The sections of the report as a document (doc.h), in the order in which they come. Each writes
 * nothing when the build did not get that far. Private to src/report. */
#pragma once

#include "report/doc.h"
#include "report/report.h"

void section_glance(struct doc *d, const struct report *r);
void section_comparison(struct doc *d, const struct report *r); /* with drift */
/* A part of it: what stands beside the figures. label: as report_label() gives it. */
void section_counters(
	struct doc *d, const char *title, const struct comparisons *c, const char *label);
void section_variants(struct doc *d, const struct report *r);
void section_luck(struct doc *d, const struct report *r);
void section_history(struct doc *d, const struct report *r);
void section_gates(struct doc *d, const struct report *r);
void section_training(struct doc *d, const struct report *r);
void section_coverage(struct doc *d, const struct report *r);
void section_profile(struct doc *d, const struct report *r);
void section_layout(struct doc *d, const struct report *r);
void section_build(struct doc *d, const struct report *r);
void section_stages(struct doc *d, const struct report *r);
void section_artefacts(struct doc *d, const struct report *r);
