#include <string.h>

#include "gate/rules.h"

static const struct phase_result *phase_named(const struct training_facts *t, const char *name)
{
	for (size_t i = 0; i < t->n_phases; i++) {
		if (strcmp(t->phases[i].name, name) == 0)
			return &t->phases[i];
	}
	return NULL;
}

/* The replay must ask for all that the training asked for. */
static size_t compare_counts(
	const struct training_facts *t, const struct training_facts *replay, struct evidence *e)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_phases; i++) {
		const struct phase_result *p = &t->phases[i];
		const struct phase_result *again = phase_named(replay, p->name);

		if (p->status == PHASE_SKIPPED)
			continue;
		if (again && again->status != PHASE_SKIPPED && again->planned == p->planned)
			continue;
		n++;
		evidence_add(e, "phase '%s': %llu requests in the training, %llu in the replay",
			p->name, (unsigned long long)p->planned,
			again && again->status != PHASE_SKIPPED ? (unsigned long long)again->planned
								: 0ULL);
	}
	return n;
}

void gate_replay(const struct gate_facts *f, struct verdicts *vs)
{
	auto_evidence struct evidence e = EVIDENCE_INIT;
	uint64_t planned = 0, done = 0;
	size_t bad = 0;

	if (!f->replay) {
		verdict_fail(vs, "replay", NULL, "run the whole pipeline again: whet build",
			"the final binary was not replayed against the training load");
		return;
	}
	bad = phases_judge(f->replay, &e) + (f->replay->failure != NULL);
	if (f->training)
		bad += compare_counts(f->training, f->replay, &e);
	phases_count(f->replay, &planned, &done);
	if (bad)
		verdict_fail(vs, "replay", &e,
			"the optimised binary behaves otherwise than the instrumented one: look "
			"for "
			"undefined behaviour or timing in the named requests, or report a compiler "
			"fault",
			"%zu deviations (%llu of %llu requests as expected), 0 allowed", bad,
			(unsigned long long)done, (unsigned long long)planned);
	else if (!planned)
		verdict_fail(vs, "replay", &e, "add a phase that can run on this machine",
			"0 requests were replayed, at least 1 is needed");
	else
		verdict_pass(vs, "replay", NULL,
			"0 deviations (%llu of %llu requests as expected), 0 allowed",
			(unsigned long long)done, (unsigned long long)planned);
}
