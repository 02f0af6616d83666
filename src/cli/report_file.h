/* --report FILE: the report as a page, as Markdown or as JSON, by the ending of the name. */
#pragma once

#include "base/error.h"
#include "report/report.h"

/* Whether the name says what to write: asked before the work. NULL is fine. */
int report_file_check(const char *path, struct error *err);
int report_file_write(const struct report *r, const char *path, struct error *err);
/* The same from a folder of artefacts, which holds each form. */
int report_file_copy(const char *dist, const char *path, struct error *err);
