#include <string.h>

#include "gate/rules.h"

static bool is(const char *digest, const char *name)
{
	return digest && strcmp(digest, name) == 0;
}

static bool changed(const struct build_facts *b)
{
	return b && b->profile_name &&
	       (!is(b->profile_before, b->profile_name) || !is(b->profile_after, b->profile_name));
}

bool profile_changed(const struct gate_facts *f)
{
	return changed(f->optimised) || changed(f->instrumented);
}

/* One digest before and one after a build. */
static void judge(const struct build_facts *b, struct evidence *e)
{
	if (!is(b->profile_before, b->profile_name))
		evidence_add(e, "before the %s build: expected %s, found %s", b->variant,
			b->profile_name, b->profile_before ? b->profile_before : "no file");
	if (!is(b->profile_after, b->profile_name))
		evidence_add(e, "after the %s build: expected %s, found %s", b->variant,
			b->profile_name, b->profile_after ? b->profile_after : "no file");
}

void gate_profile_unchanged(const struct gate_facts *f, struct verdicts *vs)
{
	static const char remedy[] =
		"find what writes to the profile while it is in use (a build step, "
		"another build of the same project) and build again";
	auto_evidence struct evidence e = EVIDENCE_INIT;
	const struct build_facts *o = f->optimised;
	bool two = f->instrumented && f->instrumented->profile_name; /* the second round used one */

	if (!o || !o->profile_name) {
		verdict_fail(vs, "profile-unchanged", NULL,
			"run the whole pipeline again: whet build",
			"the optimised build has no profile");
		return;
	}
	if (two)
		judge(f->instrumented, &e);
	judge(o, &e);
	if (e.lines)
		verdict_fail(vs, "profile-unchanged", &e, remedy,
			"%zu of %d digests of the profile differ from its name, 0 allowed", e.lines,
			two ? 4 : 2);
	else
		verdict_pass(vs, "profile-unchanged", NULL,
			"0 of %d digests of the profile differ from its name %.12s, 0 allowed",
			two ? 4 : 2, o->profile_name);
}
