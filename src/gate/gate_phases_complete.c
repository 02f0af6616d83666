#include "gate/rules.h"

static size_t count_skipped(const struct training_facts *t, struct evidence *e)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_phases; i++) {
		const struct phase_result *p = &t->phases[i];

		if (p->status != PHASE_SKIPPED)
			continue;
		n++;
		evidence_add(e, "phase '%s': skipped, %s", p->name,
			p->problem ? p->problem : "its `when:` said no");
	}
	return n;
}

static void judge(const struct training_facts *t, struct verdicts *vs)
{
	auto_evidence struct evidence e = EVIDENCE_INIT;
	const struct process_evidence *killed = killed_process(t);
	size_t deviations = phases_judge(t, &e), skipped;
	uint64_t planned, done;

	phases_count(t, &planned, &done);
	if ((deviations || t->failure) && killed) {
		verdict_skip(vs, "phases-complete",
			"not judged: pid %d ended by signal %d during the training "
			"(every-process-flushed)",
			(int)killed->pid, killed->signal);
		return;
	}
	skipped = count_skipped(t, &e);
	if (deviations || t->failure)
		note_disk(t, &e);
	if (deviations || t->failure)
		verdict_fail(vs, "phases-complete", &e,
			"make the subject answer as the phase expects, or correct the phase in "
			"whet.yaml; the training is then repeated from the start",
			"%zu of %zu phases incomplete (%llu of %llu requests as expected), 0 "
			"allowed%s",
			deviations, t->n_phases, (unsigned long long)done,
			(unsigned long long)planned,
			t->failure ? "; the training as a whole failed" : "");
	else if (skipped == t->n_phases)
		verdict_fail(vs, "phases-complete", &e,
			"add a phase under train: phases: that can run on this machine",
			"0 of %zu phases ran, at least 1 is needed", t->n_phases);
	else
		verdict_pass(vs, "phases-complete", &e,
			"0 of %zu phases incomplete (%llu of %llu requests as expected), 0 "
			"allowed%s",
			t->n_phases, (unsigned long long)done, (unsigned long long)planned,
			skipped ? "; some were skipped" : "");
}

void gate_phases_complete(const struct gate_facts *f, struct verdicts *vs)
{
	if (f->training)
		judge(f->training, vs);
	else if (f->profile && f->profile->given)
		verdict_skip(vs, "phases-complete", "the profile was given: nothing was trained");
	else
		verdict_fail(vs, "phases-complete", NULL, "run the training again: whet build",
			"the results of the training are not there");
}
