/* One document of a build, rendered as text for the terminal and as report.json. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "facts/compile.h"
#include "facts/profile_facts.h"
#include "facts/training.h"
#include "facts/trial.h"
#include "facts/verdict.h"

struct report_stage {
	char *name;
	uint64_t wall_ns, cpu_ns;
	bool reused;
};

struct report {
	char *project, *version, *target, *started; /* RFC 3339 */
	struct report_stage *stages;
	size_t n_stages, cap_stages;
	struct verdicts verdicts;
	struct training_facts training;
	struct profile_facts profile; /* its functions are not printed */
	struct provenance provenance;
	struct comparisons comparisons;
	struct samples samples;
	struct strv added_plain, added_instrumented, added_optimised; /* closed lists (rule 10) */
	struct { char *name, *variant, *sha256; uint64_t bytes; } *artefacts;
	size_t n_artefacts, cap_artefacts;
	bool labelled; /* gates failed or the profile was given: every figure says so */
};
void report_release(struct report *r);
json_t *report_json(const struct report *r);       /* schema: docs/report-json.md */
void report_text(const struct report *r, struct buf *out); /* the table at the end of a build */
