#include <string.h>

#include "gate/rules.h"

static const struct process_evidence *writer(
	const struct training_facts *t, const struct raw_file *r)
{
	const struct process_evidence *any = NULL;

	for (size_t i = 0; r->pid && i < t->n_processes; i++) {
		const struct process_evidence *p = &t->processes[i];

		if (p->pid != r->pid || !r->launch || !p->launch ||
			strcmp(p->launch, r->launch) != 0)
			continue;
		/* of a process with shared objects, each of them and the program have a file */
		if (p->file && r->path && strcmp(p->file, r->path) == 0)
			return p;
		any = any ? any : p;
	}
	return any;
}

static bool judge_file(const struct training_facts *t, const struct raw_file *r, struct evidence *e)
{
	const struct process_evidence *p = writer(t, r);

	/* A process that was cut off while it wrote is named by every-process-flushed. */
	if (r->state != RAW_VALID && p && process_lacks_profile(t, p))
		return true;
	switch (r->state) {
	case RAW_VALID:
		if (p)
			return true;
		evidence_add(e, "%s: valid, but no observed process of launch '%s' wrote it",
			r->path, r->launch ? r->launch : "?");
		return false;
	case RAW_EMPTY:
	case RAW_MISSING:
		evidence_add(e, "%s: empty", r->path);
		return false;
	case RAW_FOREIGN:
		evidence_add(e, "%s: of another program%s%s", r->path, r->problem ? ": " : "",
			r->problem ? r->problem : "");
		return false;
	case RAW_INVALID:
		break;
	}
	evidence_add(e, "%s: %s", r->path, r->problem ? r->problem : "not a valid raw profile");
	return false;
}

static void judge(const struct training_facts *t, struct verdicts *vs)
{
	auto_evidence struct evidence e = EVIDENCE_INIT;
	size_t bad = 0;

	for (size_t i = 0; i < t->n_raws; i++)
		bad += !judge_file(t, &t->raws[i], &e);
	if (bad)
		note_disk(t, &e);
	if (!t->n_raws)
		verdict_skip(vs, "raw-profiles-valid",
			"not judged: no process left a file (every-process-flushed)");
	else if (bad)
		verdict_fail(vs, "raw-profiles-valid", &e,
			"let only the subject write into its profile folder, with room on the "
			"disk, and "
			"train again",
			"%zu of %zu raw profiles unusable, 0 allowed", bad, t->n_raws);
	else
		verdict_pass(vs, "raw-profiles-valid", NULL,
			"0 of %zu raw profiles unusable, 0 allowed", t->n_raws);
}

void gate_raw_profiles_valid(const struct gate_facts *f, struct verdicts *vs)
{
	if (f->training)
		judge(f->training, vs);
	else
		verdict_skip(vs, "raw-profiles-valid", "%s",
			f->profile && f->profile->given
				? "the profile was given: nothing was trained"
				: "not judged: no training (phases-complete)");
}
