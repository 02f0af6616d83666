/* What a base compared with itself many times shows about a machine: how often a difference is
 * shown where there is none, and which are too small to be seen. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json.h"

struct calibrated {
	char *scenario;
	size_t runs, shown;    /* with an interval; with a false difference */
	double half_width;     /* median over the runs: smaller differences stay unseen; NAN */
	double typical, worst; /* |ratio - 1|: median, largest; NAN without an interval */
};

struct calibration {
	char *at;          /* RFC 3339; NULL: not kept */
	char *machine;     /* its processors and their number; NULL: not known */
	char *base;        /* what was compared with itself */
	uint32_t launches; /* of the first comparison */
	uint32_t slices;   /* of a launch and scenario, and how long, as the plan says */
	uint64_t slice_ns;
	size_t runs, false_runs; /* false: a difference was shown in some scenario */
	double low, high;        /* 95 % interval of the rate of false runs */
	struct calibrated *v;
	size_t n; /* scenarios; runs 0: there is no calibration */
};
void calibration_release(struct calibration *c);

json_t *calibration_json(const struct calibration *c);
/* Atomic. */
int calibration_write(const struct calibration *c, const char *path, struct error *err);
/* No file: *ret has no runs. ERR_CORRUPT: it is not what calibration_write() wrote, or no measuring
 * gives such figures. */
int calibration_read(const char *path, struct calibration *ret, struct error *err);
