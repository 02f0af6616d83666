#include <inttypes.h>

#include "base/mem.h"
#include "gate/rules.h"

static const struct build_facts *build_with_objects(const struct gate_facts *f)
{
	/* Those of a second round lack what was inlined. */
	return f->first ? f->first : f->instrumented ? f->instrumented : f->plain;
}

/* False when the objects do not tell which functions are in the binary. */
static bool count_in_binary(const struct executed *e, const struct binary_fact *b, uint64_t *ret)
{
	auto_free bool *seen = xcalloc(e->n + 1, sizeof(*seen));

	if (!mark_executed(e, b, seen))
		return false;
	*ret = 0;
	for (size_t i = 0; i < e->n; i++)
		*ret += seen[i];
	return true;
}

/* The smallest count of any binary; a single binary has executed all that the profile holds. */
static uint64_t fewest(const struct gate_facts *f, struct evidence *e)
{
	const struct build_facts *b = build_with_objects(f);
	auto_executed struct executed executed = {0};
	uint64_t least = f->profile->executed;

	if (!b || b->n_binaries < 2)
		return least;
	executed_of(f->profile, &executed);
	for (size_t i = 0; i < b->n_binaries; i++) {
		uint64_t n = f->profile->executed;

		if (!count_in_binary(&executed, &b->binaries[i], &n))
			continue;
		evidence_add(e, "%s: %" PRIu64 " executed functions", b->binaries[i].name, n);
		if (n < least)
			least = n;
	}
	return least;
}

void gate_min_functions(const struct gate_facts *f, struct verdicts *vs)
{
	auto_evidence struct evidence e = EVIDENCE_INIT;
	int64_t bound = f->bounds ? f->bounds->min_functions : -1;
	uint64_t n;

	if (!f->profile) {
		verdict_fail(vs, "min-functions", NULL, "run the training again: whet build",
			"the merged profile is not there");
		return;
	}
	if (f->round == 2 && !f->profile->second_executed) {
		verdict_fail(vs, "min-functions", NULL,
			"with link-time optimisation the linker puts the counters of this round "
			"in: "
			"pass the project's -flto to the link, too (LDFLAGS)",
			"0 of %" PRIu64
			" functions with counters of this round executed, at least 1 needed",
			f->profile->second_functions);
		return;
	}
	n = fewest(f, &e);
	if (f->round == 2)
		evidence_add(&e,
			"counters put in after inlining: %" PRIu64 " of %" PRIu64
			" functions executed",
			f->profile->second_executed, f->profile->second_functions);
	if (f->profile->gcc_functions)
		evidence_add(&e, "counted by gcc: %" PRIu64 " of %" PRIu64 " functions executed",
			f->profile->gcc_executed, f->profile->gcc_functions);
	evidence_add(&e, "profile %.12s: %" PRIu64 " of %" PRIu64 " functions executed",
		f->profile->sha256 ? f->profile->sha256 : "?", f->profile->executed,
		f->profile->functions);
	if (n < (bound > 0 ? (uint64_t)bound : 1))
		verdict_fail(vs, "min-functions", &e,
			"check that the phases reach the subject and cover its work; lower gates: "
			"min-functions: only when the program really became smaller",
			"%" PRIu64 " executed functions, at least %" PRId64 " needed%s", n,
			bound > 0 ? bound : 1, bound < 0 ? " (no bound is set)" : "");
	else if (bound < 0)
		verdict_pass(vs, "min-functions", &e,
			"%" PRIu64
			" executed functions, at least 1 needed (no bound is set; to pin it: "
			"gates: {min-functions: %" PRIu64 "})",
			n, n - n / 10);
	else
		verdict_pass(vs, "min-functions", &e,
			"%" PRIu64 " executed functions, at least %" PRId64 " needed", n, bound);
}
