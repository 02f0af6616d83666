/* Figures in JSON. */
#pragma once

#include <math.h>

#include "base/json.h"

/* JSON has no NaN: a figure that could not be computed is null. The caller owns it. */
static inline json_t *figure_json_real(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}
