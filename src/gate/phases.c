#include <string.h>

#include "gate/rules.h"

static bool is_deviation(const struct phase_result *p)
{
	return p->status != PHASE_SKIPPED && (p->status != PHASE_OK || p->done != p->planned);
}

size_t phases_judge(const struct training_facts *t, struct evidence *e)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_phases; i++) {
		const struct phase_result *p = &t->phases[i];

		if (!is_deviation(p))
			continue;
		n++;
		evidence_add(e, "phase '%s': %s, %llu of %llu as expected%s%s", p->name,
			phase_status_name(p->status), (unsigned long long)p->done,
			(unsigned long long)p->planned, p->problem ? ": " : "",
			p->problem ? p->problem : "");
		if (p->log && *p->log)
			evidence_add(e, "%s", p->log);
	}
	if (t->failure)
		evidence_add(e, "%s", t->failure);
	return n;
}

void phases_count(const struct training_facts *t, uint64_t *planned, uint64_t *done)
{
	*planned = *done = 0;
	for (size_t i = 0; i < t->n_phases; i++) {
		if (t->phases[i].status == PHASE_SKIPPED)
			continue;
		*planned += t->phases[i].planned;
		*done += t->phases[i].done;
	}
}

const struct process_evidence *killed_process(const struct training_facts *t)
{
	for (size_t i = 0; i < t->n_processes; i++) {
		const struct process_evidence *p = &t->processes[i];

		if (!p->exec && p->signal && p->state != RAW_VALID)
			return p;
	}
	return NULL;
}

static bool is_listed(const struct training_facts *t, const struct process_evidence *p)
{
	for (size_t i = 0; i < t->n_raws; i++) {
		const struct raw_file *r = &t->raws[i];

		if (r->pid == p->pid && r->launch && p->launch && strcmp(r->launch, p->launch) == 0)
			return true;
	}
	return false;
}

bool process_lacks_profile(const struct training_facts *t, const struct process_evidence *p)
{
	if (p->exec || p->state == RAW_VALID)
		return false;
	/* What it did write is judged as a file, unless it is known why there is no more of it. */
	return p->state == RAW_MISSING || p->signal || p->cause != CAUSE_UNKNOWN ||
	       !is_listed(t, p);
}

void note_disk(const struct training_facts *t, struct evidence *e)
{
	if (t->disk)
		evidence_add(e, "cause: %s: make room, then build again", t->disk);
}
