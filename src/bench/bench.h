/* The comparison: all variants alive together on one processor, the driver on another, slices in
 * counterbalanced random order, fresh launches, a null arm. docs/measuring.md. */
#pragma once

#include "base/error.h"
#include "base/events.h"
#include "config/plan.h"
#include "facts/trial.h"

struct bench_variant {
	const char *name;            /* "plain", "pgo" */
	const struct strv *binaries; /* absolute paths, in the order of plan.build.binary */
};

struct bench_options {
	const struct plan *plan;
	const struct bench_variant *variants; /* the first is the base */
	size_t n_variants;
	const char *folder; /* fresh, for work folders and logs */
	const char *self;   /* path of whet */
	const struct events *events;
	const char *node;
	uint32_t launches;  /* 0: the plan's */
};

int bench_run(const struct bench_options *o, struct samples *ret_samples,
	struct comparisons *ret, struct error *err);
