#include "gate/rules.h"

/* A crate's metadata is a hash over its flags: where flags differ, the other identity follows. */
void gate_same_identity(const struct gate_facts *f, struct verdicts *vs)
{
	auto_pairs struct pairs p = {0};

	if (!f->optimised || !f->plain) {
		verdict_skip(vs, "same-identity", "not judged: a build is missing (same-flags)");
		return;
	}
	pairs_compare(f, &p);
	if (!p.compared || p.flags_differ)
		verdict_skip(vs, "same-identity", "not judged: %s (same-flags)",
			p.compared ? "flags differ" : "nothing to compare");
	else if (p.identity_differs)
		verdict_fail(vs, "same-identity", &p.identity,
			"functions of these units are looked up under other names than they were "
			"trained under; keep crate names, versions, features and source paths "
			"equal in "
			"all builds",
			"%zu of %zu compared compilations differ in identity, 0 allowed",
			p.identity_differs, p.compared);
	else
		verdict_pass(vs, "same-identity", NULL,
			"0 of %zu compared compilations differ in identity, 0 allowed", p.compared);
}
