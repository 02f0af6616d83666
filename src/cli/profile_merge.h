/* `whet profile merge` and `convert`. */
#pragma once

#include "cli/opt.h"

extern const struct verb verb_profile_merge, verb_profile_convert;
