/* Bench: plain against pgo, as they ship. */
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "bench/bench.h"
#include "pipeline/note.h"
#include "pipeline/run.h"
#include "pipeline/why.h"

int node_bench(struct run *r, struct error *err)
{
	auto_free char *folder = path_join(r->scratch, "bench");
	const struct bench_variant variants[] = {
		{"plain", &r->plain.shipped},
		{"pgo", &r->track->optimised.shipped},
	};
	struct bench_options o = {
		.plan = &r->plan,
		.variants = variants,
		.n_variants = ARRAY_SIZE(variants),
		.folder = folder,
		.self = r->o->self,
		.events = r->o->events,
		.node = "bench",
	};

	if (!r->plan.bench.enabled || r->o->no_bench) {
		why_say_because(
			r, "is left out: %s", r->o->no_bench ? "--no-bench" : "the plan says so");
		return 0;
	}
	why_say_because(r, "runs: figures are never reused");
	if (dir_create(folder, 0711, err) < 0)
		return -1;
	note_calibration(
		r->store.root, r->machine, &r->plan.bench, r->o->events, &r->report->calibration);
	return bench_run(&o, &r->report->samples, &r->report->comparisons, err);
}
