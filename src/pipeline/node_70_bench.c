/* Bench: plain against pgo and the variants, as they ship. */
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "bench/bench.h"
#include "pipeline/cross.h"
#include "pipeline/note.h"
#include "pipeline/run.h"
#include "pipeline/why.h"

int node_bench(struct run *r, struct error *err)
{
	auto_free char *folder = path_join(r->scratch, "bench");
	struct bench_variant variants[2 + PLAN_VARIANTS_MAX] = {
		{PLAN_PLAIN, &r->plain.shipped},
		{PLAN_OWN, &r->own.optimised.shipped},
	};
	size_t n = 2;
	struct bench_options o = {
		.plan = &r->plan,
		.variants = variants,
		.folder = folder,
		.self = r->o->self,
		.events = r->o->events,
		.node = "bench",
	};

	if (!r->plan.bench.enabled || r->o->no_bench) {
		why_say_because(r, "is left out: %s",
			r->o->no_bench      ? "--no-bench"
			: cross_emulator(r) ? "the programs run by an emulator"
					    : "the plan says so");
		return 0;
	}
	why_say_because(r, "runs: figures are never reused");
	for (size_t i = 0; i < r->n_variants; i++)
		if (!r->variants[i].out)
			variants[n++] = (struct bench_variant){
				r->variants[i].variant->name, &r->variants[i].optimised.shipped};
	o.n_variants = n;
	if (dir_create(folder, 0711, err) < 0)
		return -1;
	note_calibration(
		r->store.root, r->machine, &r->plan.bench, r->o->events, &r->report->calibration);
	return bench_run(&o, &r->report->samples, &r->report->comparisons, err);
}
