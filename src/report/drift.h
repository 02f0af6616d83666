/* How the machine changed while it measured: what the base cost, launch by launch and slice by
 * slice, against what it cost in the whole run. */
#pragma once

#include <stddef.h>

#include "base/json.h"
#include "report/report.h"

struct drift_launch {
	double begun_s;    /* of measured time: the slices before it, laid end to end */
	size_t slices;     /* of all variants */
	double base, null; /* ratio to the base's median of the whole run; NAN: not measured */
};

struct drift {
	struct drift_launch *v;
	size_t n, cap;
};

/* The median over the scenarios of the launch's median over the run's. Empty without samples. */
void drift_of(const struct report *r, struct drift *ret);
void drift_release(struct drift *d);
/* Every slice, for a plot: see web/report.js. New reference. */
json_t *drift_slices_json(const struct report *r);
