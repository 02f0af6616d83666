/* Code layout: pieces that all forms of the report share. Private to src/report. */
#pragma once

#include "report/report.h"

/* The sections of a class, as a row is called. TEXT_CLASSES: all of them. */
const char *layout_sections(enum text_class c);
/* "+3210 (+12.5 %)", "0", or "+3210" when there was next to nothing.
 * Caller frees. */
char *layout_change(uint64_t plain, uint64_t pgo);
/* Bytes of a class; TEXT_CLASSES: of all. */
uint64_t layout_bytes(const struct text_bytes *t, enum text_class c);
/* Whether either build has any. */
bool layout_has(const struct report_layout *l, enum text_class c);
/* Whether the linker's map told of both builds. */
bool layout_known(const struct report_layout *l);
/* As text for the terminal; nothing when nothing is known. */
void layout_text(const struct report *r, const char *label, struct buf *out);
