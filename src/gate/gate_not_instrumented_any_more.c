#include "gate/rules.h"

static size_t judge(const struct elf_facts *b, const char *name, struct evidence *e)
{
	if (b->no_sections) {
		evidence_add(
			e, "%s: no section headers, so that a runtime cannot be ruled out", name);
		return 1;
	}
	for (size_t i = 0; i < b->profile_marks.n; i++)
		evidence_add(e, "%s: %s", name, b->profile_marks.v[i]);
	if (b->has_hook && !b->profile_marks.n)
		evidence_add(e, "%s: symbol of the fork hook", name);
	return b->profile_marks.n + (b->has_hook && !b->profile_marks.n);
}

void gate_not_instrumented_any_more(const struct gate_facts *f, struct verdicts *vs)
{
	auto_evidence struct evidence e = EVIDENCE_INIT;
	size_t marks = 0;

	for (size_t i = 0; i < f->n_final; i++)
		marks += judge(&f->final_binaries[i], f->final_names[i], &e);
	if (!f->n_final)
		verdict_fail(vs, "not-instrumented-any-more", NULL,
			"name what is released under build: binary:",
			"0 final binaries were given, at least 1 is needed");
	else if (marks)
		verdict_fail(vs, "not-instrumented-any-more", &e,
			"take -fprofile-generate, --coverage and instrument-coverage out of the "
			"project's own flags, and clean what was built with them",
			"%zu marks of a profile or BOLT runtime in %zu final binaries, 0 allowed",
			marks, f->n_final);
	else
		verdict_pass(vs, "not-instrumented-any-more", NULL,
			"0 marks of a profile or BOLT runtime in %zu final binaries, 0 allowed",
			f->n_final);
}
