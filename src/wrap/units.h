/* Names that pair the objects of one build with those of another. */
#pragma once

#include "facts/compile.h"

/* What a compiler calls the object of a source without -o; caller frees. */
char *unit_object_name(const char *source);
/* The source of this object among those of its call, as given; NULL when the call has none. */
const char *unit_source(const struct compile_record *r, const struct link_input *in);
/* Caller frees. */
char *unit_name(const struct compile_record *r, const struct link_input *in, const char *slot);
