#include <string.h>

#include "gate/rules.h"

static bool is(const char *digest, const char *name)
{
	return digest && strcmp(digest, name) == 0;
}

bool profile_changed(const struct gate_facts *f)
{
	const struct build_facts *o = f->optimised;

	return o && o->profile_name &&
	       (!is(o->profile_before, o->profile_name) || !is(o->profile_after, o->profile_name));
}

void gate_profile_unchanged(const struct gate_facts *f, struct verdicts *vs)
{
	static const char remedy[] =
		"find what writes to the profile while it is in use (a build step, "
		"another build of the same project) and build again";
	auto_evidence struct evidence e = EVIDENCE_INIT;
	const struct build_facts *o = f->optimised;

	if (!o || !o->profile_name) {
		verdict_fail(vs, "profile-unchanged", NULL,
			"run the whole pipeline again: whet build",
			"the optimised build has no profile");
		return;
	}
	if (!is(o->profile_before, o->profile_name))
		evidence_add(&e, "before the build: expected %s, found %s", o->profile_name,
			o->profile_before ? o->profile_before : "no file");
	if (!is(o->profile_after, o->profile_name))
		evidence_add(&e, "after the build: expected %s, found %s", o->profile_name,
			o->profile_after ? o->profile_after : "no file");
	if (e.lines)
		verdict_fail(vs, "profile-unchanged", &e, remedy,
			"%zu of 2 digests of the profile differ from its name, 0 allowed", e.lines);
	else
		verdict_pass(vs, "profile-unchanged", NULL,
			"0 of 2 digests of the profile differ from its name %.12s, 0 allowed",
			o->profile_name);
}
