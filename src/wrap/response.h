/* Response files (@file), read to classify a call; what the compiler gets stays unexpanded. */
#pragma once

#include "base/strv.h"

/* Adds args to ret with every @file replaced by its words. A file that cannot be read stays as it
 * is (the compiler decides what it means). cwd: folder for relative names.
 * lines: one argument a line, as rustc reads them; otherwise words with quotes and backslashes. */
void response_expand(const struct strv *args, const char *cwd, bool lines, struct strv *ret);
