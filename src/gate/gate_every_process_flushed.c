#include <string.h>

#include "gate/rules.h"

static const char *origin_text(enum process_origin o)
{
	switch (o) {
	case PROCESS_STARTED:
		return "started";
	case PROCESS_FORKED:
		return "forked";
	case PROCESS_LOADED:
		return "a shared object in a process started";
	case PROCESS_SILENT:
		return "seen running the binary, started";
	case PROCESS_UNHOOKED:
		break;
	}
	return "made without the fork handlers";
}

/* Of a program with both kinds of counters. */
static const char *half_text(const struct process_evidence *p)
{
	if (!p->lacks)
		return "";
	return strcmp(p->lacks, "gcc") == 0 ? " of what gcc compiled"
					    : " of what clang or rustc compiled";
}

static void describe(const struct process_evidence *p, struct evidence *e)
{
	const char *launch = p->launch ? p->launch : "?";
	auto_buf struct buf b = BUF_INIT;

	if (p->origin == PROCESS_UNHOOKED) {
		evidence_add(e,
			"pid %d (launch '%s', child of %d): made by clone without the fork "
			"handlers; its counters are mixed with its parent's%s%s",
			(int)p->pid, launch, (int)p->parent, p->command ? "; command: " : "",
			p->command ? p->command : "");
		return;
	}
	buf_addf(&b, "pid %d (launch '%s', %s by %d): %s profile%s", (int)p->pid, launch,
		origin_text(p->origin), (int)p->parent, raw_state_name(p->state), half_text(p));
	if (p->signal)
		buf_addf(&b, ", ended by signal %d (%s)", p->signal, strsignal(p->signal));
	else if (p->file)
		buf_addf(&b, " %s", p->file);
	if (p->command && *p->command)
		buf_addf(&b, "\ncommand: %s", p->command);
	buf_addf(&b, "\nlikely cause: %s", flush_cause_text(p));
	if (p->detail)
		buf_addf(&b, " (%s)", p->detail);
	evidence_add(e, "%s\nremedy: %s", buf_str(&b), flush_cause_remedy(p));
}

static bool is_bad(const struct training_facts *t, const struct process_evidence *p)
{
	return !p->exec && (p->origin == PROCESS_UNHOOKED || process_lacks_profile(t, p));
}

/* Of the first one: mostly the others have the same cause. */
static const char *remedy_of(const struct process_evidence *p)
{
	if (p->origin == PROCESS_UNHOOKED || !p->cause)
		return "let every process end through exit or its stop signal, give it time to "
		       "(stop timeout), and let its user write to the profile folder; then train "
		       "again";
	return flush_cause_remedy(p);
}

static void judge(const struct training_facts *t, struct verdicts *vs)
{
	auto_evidence struct evidence e = EVIDENCE_INIT;
	const struct process_evidence *first = NULL;
	size_t due = 0, bad = 0;

	for (size_t i = 0; i < t->n_processes; i++) {
		const struct process_evidence *p = &t->processes[i];

		due += !p->exec;
		if (p->snapshot && p->state == RAW_VALID)
			evidence_add(&e,
				"pid %d (launch '%s'): did not write its profile; a snapshot was "
				"taken before it was stopped",
				(int)p->pid, p->launch ? p->launch : "?");
		if (is_bad(t, p)) {
			bad++;
			first = first ? first : p;
			describe(p, &e);
		}
	}
	if (bad && killed_process(t))
		phases_judge(t, &e);
	if (bad)
		note_disk(t, &e);
	if (!due && t->failure)
		verdict_skip(vs, "every-process-flushed",
			"not judged: the training did not start (phases-complete)");
	else if (!due)
		verdict_fail(vs, "every-process-flushed", &e,
			"check that the services and `run` phases start {binary}, and that its "
			"link goes "
			"through the wrapper",
			"0 processes ran instrumented code, at least 1 is needed");
	else if (bad)
		verdict_fail(vs, "every-process-flushed", &e, remedy_of(first),
			"%zu of %zu processes left no profile of their own, 0 allowed", bad, due);
	else
		verdict_pass(vs, "every-process-flushed", &e,
			"0 of %zu processes left no profile of their own, 0 allowed", due);
}

void gate_every_process_flushed(const struct gate_facts *f, struct verdicts *vs)
{
	if (f->training)
		judge(f->training, vs);
	else
		verdict_skip(vs, "every-process-flushed", "%s",
			f->profile && f->profile->given
				? "the profile was given: nothing was trained"
				: "not judged: no training (phases-complete)");
}
