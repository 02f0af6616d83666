/* One step of a build, run and watched. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "base/events.h"
#include "base/strv.h"
#include "buildtool/buildtool.h"

struct step_watch {
	const struct events *events;
	const char *variant; /* of the build: "plain", ... */
	const char *records; /* folder of the compile log */
	const char *output;  /* file for what the step prints */
	uint64_t total;      /* compiler calls expected; 0: unknown */
	uint64_t timeout_ns; /* longest silence: no output and no compiler call that ended */
};

/* Runs the step. ERR_CHILD when it fails, ERR_TIMEOUT when it is silent for too long: then
 * everything that it started is killed, and the message holds the processes and the last lines of
 * output. */
int step_run(const struct build_step *s, const struct strv *env, const struct step_watch *w,
	struct error *err);

/* After a build's last step: ends whatever its steps left running, and says so. A daemon of one
 * build must neither serve the next one nor run beside a measurement. */
int step_end_leftovers(const struct events *events, const char *variant, struct error *err);
