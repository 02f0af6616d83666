/* whet profile overlap, whet profile diff. */
#pragma once

#include "cli/opt.h"

extern const struct verb verb_overlap, verb_diff;
