/* What gcc prints of the profile that it was given. Texts of gcc 11 and 12, in the C locale. */
#pragma once

#include <stdbool.h>

#include "facts/compile.h"

/* As diag_parse(). A whole object without data is DIAG_MISSING with the function "". */
bool diag_parse_gcc(const char *line, struct profile_diag *ret);
