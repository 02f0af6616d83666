/* An action of `whet profile`. */
#pragma once

#include "cli/opt.h"

extern const struct verb verb_snapshot;
