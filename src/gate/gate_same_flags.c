#include "gate/rules.h"

void gate_same_flags(const struct gate_facts *f, struct verdicts *vs)
{
	auto_pairs struct pairs p = {0};

	if (!f->optimised || !f->plain) {
		verdict_fail(vs, "same-flags", NULL, "run the whole pipeline again: whet build",
			"the records of the %s build are not there",
			f->optimised ? "plain" : "optimised");
		return;
	}
	pairs_compare(f, &p);
	if (!p.compared)
		verdict_fail(vs, "same-flags", NULL,
			"make the build call its compilers through PATH, CC, CXX or cargo, so that "
			"they can be recorded",
			"no recorded compilation reaches the binary, at least 1 is needed");
	else if (p.flags_differ)
		verdict_fail(vs, "same-flags", &p.flags,
			"look for what changed the flags between the builds (an environment "
			"variable, an "
			"edited profile or makefile, a configure step that tests for something "
			"that "
			"varies) and build again",
			"%zu of %zu compared compilations differ in flags, 0 allowed",
			p.flags_differ, p.compared);
	else
		verdict_pass(vs, "same-flags", NULL,
			"0 of %zu compared compilations differ in flags, 0 allowed", p.compared);
}
