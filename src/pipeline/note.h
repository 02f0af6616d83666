/* The history of builds, as a build sees it. Private to src/pipeline. */
#pragma once

#include "facts/calibration.h"
#include "facts/past.h"
#include "pipeline/run.h"

/* Model and number of the processors, as far as /proc tells; NULL: not known. Caller frees. */
char *note_machine(void);
/* What `whet bench --calibrate` kept in the project's state folder, when it was on this machine;
 * none otherwise. A file that cannot be read, and other slices than those of now, are a warning. */
void note_calibration(const char *state, const char *machine, const struct plan_bench *now,
	const struct events *events, struct calibration *ret);
/* The newest build of this target, by the same kinds of compiler, in the history that was measured;
 * false: there is none, and *problem says why when the history cannot be read or holds those of
 * other compilers alone (caller frees). */
bool note_last_release(const struct run *r, struct past_build *ret, char **problem);
/* Fills the report's past. What keeps the history from being read leaves it empty: note_build()
 * says it. */
void note_past(const struct run *r);
/* Notes a build that ended well, unless its figures carry a label. The build is done: what keeps it
 * from being noted is said, and changes nothing. */
void note_build(const struct run *r);
