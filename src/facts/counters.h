/* What explains a comparison: hardware counters, the kernel's part of the CPU time, and, when it
 * was asked for, instructions as a simulator counts them. None of it is the verdict. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

/* What is counted. The last one is made of the first two. */
enum counter {
	COUNTER_INSTRUCTIONS,
	COUNTER_CYCLES,
	COUNTER_L1I_MISSES,
	COUNTER_ITLB_MISSES,
	COUNTER_BRANCH_MISSES,
	COUNTER_IPC, /* instructions per cycle */
	COUNTERS
};
#define COUNTERS_READ COUNTER_IPC /* so many are read from the processor */

/* In whose mode. */
enum counter_mode { COUNTER_USER, COUNTER_KERNEL, COUNTER_MODES };

struct counter_figure {
	double value;            /* per request or run, median of the launches; NAN: not counted */
	double ratio, low, high; /* to the base, median of the launches, with the 95 % interval of
				  * this figure alone; NAN: none (the base, too few launches) */
};

/* One variant in one scenario. */
struct counted {
	char *scenario, *variant; /* the null arm is "null" */
	bool per_run;             /* a request is a whole run of a command */
	struct counter_figure v[COUNTER_MODES][COUNTERS];
	/* The kernel's part of the CPU time, 0 to 1, over all slices; NAN: not known. Approximate:
	 * most kernels tell user and kernel time apart by samples, one per tick of their clock.
	 * kernel_error: the standard error that follows from so many samples. */
	double kernel_share, kernel_error;
	/* How many ticks fell into the CPU time, and how many it takes for a share; both 0: the
	 * time was not taken apart. */
	double kernel_ticks, kernel_ticks_needed;
};

/* A function of a simulated run. */
struct simulated_function {
	char *name, *object; /* object: last part of its file's path */
	double instructions; /* its own, per request or run */
	double share;        /* of all instructions, 0 to 1 */
	bool outside;        /* of no binary of the project */
};

/* One variant in one scenario under callgrind: exact counts of user mode in a simulation. */
struct simulated {
	char *scenario, *variant;
	bool per_run;
	uint64_t requests;                   /* that were counted; the same for all variants */
	double instructions, i1_misses;      /* per request or run */
	double instructions_ratio, i1_ratio; /* to the base; NAN: of the base, or not known */
	double outside;                      /* share of the instructions in other objects than the
					      * project's binaries (system libraries), 0 to 1 */
	double assembly; /* share in functions of the binaries whose source is assembly; NAN: not
			  * known, because there is no debug information */
	struct simulated_function *top; /* those with most instructions first */
	size_t n_top, cap_top;
};

enum counters_state {
	COUNTERS_OFF,    /* not asked for */
	COUNTERS_ABSENT, /* the machine has none */
	COUNTERS_DENIED, /* it may have some, but they may not be used */
	COUNTERS_COUNTED
};

struct counters {
	enum counters_state state;
	char *note;     /* sentences, one a line: why there are none and what helps, or what is
			 * missing in them; NULL: nothing to say */
	double running; /* the smallest share of the time that an event had a counter of the
			 * processor: below 1 figures are scaled up; NAN: nothing was counted */
	/* By scenario, then by variant: base first, null arm last. */
	struct counted *v;
	size_t n, cap;
	/* The same order, without the null arm; none when nothing was simulated. */
	struct simulated *simulated;
	size_t n_simulated, cap_simulated;
};

/* "instructions", "L1i misses"; "user", "kernel". */
const char *counter_name(enum counter c);
const char *counter_mode_name(enum counter_mode m);
/* One more row, all figures NAN; scenario and variant are copied. */
struct counted *counters_add(
	struct counters *c, const char *scenario, const char *variant, bool per_run);
struct simulated *counters_add_simulated(
	struct counters *c, const char *scenario, const char *variant, bool per_run);
void counters_drop_simulated(struct counters *c);
/* One more sentence of the note; the same only once. */
void counters_note(struct counters *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Whether anything of this counter is there. */
bool counters_has(const struct counters *c, enum counter_mode m, enum counter k);
void counters_release(struct counters *c);
json_t *counters_json(const struct counters *c); /* docs/report-json.md */
