/* The comparison: all variants alive together on one processor, the driver on another, slices in
 * counterbalanced random order, fresh launches, a null arm. docs/measuring.md. */
#pragma once

#include "base/error.h"
#include "base/events.h"
#include "config/plan.h"
#include "facts/trial.h"

struct bench_variant {
	const char *name;             /* "plain", "pgo" */
	const struct strv *binaries;  /* absolute paths, in the order of plan.build.binary; of a
				       * peer NULL */
	const struct plan_peer *peer; /* another server, in the place of the subject; NULL: none.
				       * Not the base. */
};

struct bench_options {
	const struct plan *plan;
	const struct bench_variant *variants; /* the first is the base */
	size_t n_variants;
	const char *folder; /* fresh, for work folders and logs */
	const char *self;   /* path of whet */
	const struct events *events;
	const char *node;
	uint32_t launches; /* 0: the plan's */
};

/* The base's second copy, measured like every variant: what it shows is noise. Always the last arm,
 * so its index in samples is n_variants. */
#define BENCH_NULL_ARM "null"

/* Starts the plan's services afresh for each launch and variant and measures every scenario. A
 * wrong answer, a failing command or a service that ends stops it with an error (the launch's
 * folder and logs stay); nothing is dropped. Pins the calling thread during the run. ret holds the
 * scenarios of the first variant after the base, then of the next, the null arm last. Release both.
 */
int bench_run(const struct bench_options *o, struct samples *ret_samples, struct comparisons *ret,
	struct error *err);
