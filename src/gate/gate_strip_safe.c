#include "gate/rules.h"

void gate_strip_safe(const struct gate_facts *f, struct verdicts *vs)
{
	auto_evidence struct evidence e = EVIDENCE_INIT;
	size_t faults = 0, stripped = 0, segments = 0;
	unsigned long long bytes = 0;

	for (size_t i = 0; i < f->n_final && f->strips; i++) {
		const struct strip_facts *s = &f->strips[i];

		for (size_t k = 0; k < s->faults.n; k++)
			evidence_add(&e, "%s: %s", f->final_names[i], s->faults.v[k]);
		faults += s->faults.n;
		stripped += s->stripped;
		segments += s->n_segments;
		bytes += s->bytes;
	}
	if (!stripped)
		verdict_skip(vs, "strip-safe", "nothing was stripped: release.strip is false");
	else if (faults)
		verdict_fail(vs, "strip-safe", &e,
			"strip with the llvm-strip of the LLVM that laid the file out (GNU strip "
			"breaks what BOLT has written), or set 'strip: false' in release",
			"%zu differences between what is loaded of %zu files before and after "
			"strip, 0 allowed",
			faults, stripped);
	else
		verdict_pass(vs, "strip-safe", NULL,
			"0 differences between what is loaded of %zu files before and after strip "
			"(%zu segments, %llu bytes), 0 allowed",
			stripped, segments, bytes);
}
