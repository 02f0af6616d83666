/* Names that pair the objects of one build with those of another. */
#pragma once

#include "facts/compile.h"

/* Caller frees. */
char *unit_name(const struct compile_record *r, const struct link_input *in, const char *slot);
