/* Placeholders, for the checks of the whole file. */
#pragma once

#include "base/strv.h"

/* NULL when every placeholder of text is one of names; else what is wrong, in words (caller
 * frees). names: entries "name" or "name=value". */
char *placeholder_fault(const char *text, const struct strv *names);
