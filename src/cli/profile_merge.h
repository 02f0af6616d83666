/* `whet profile merge`. */
#pragma once

#include "cli/opt.h"

extern const struct verb verb_profile_merge;
