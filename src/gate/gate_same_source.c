#include <string.h>

#include "gate/rules.h"

#define BUILDS 4

struct digest {
	const char *when, *build, *value; /* build: its variant; NULL: before any of them */
};

static size_t list_builds(const struct gate_facts *f, const struct build_facts *ret[BUILDS])
{
	const struct build_facts *all[BUILDS] = {f->plain, f->first, f->instrumented, f->optimised};
	size_t n = 0;

	for (size_t i = 0; i < BUILDS; i++)
		if (all[i])
			ret[n++] = all[i];
	return n;
}

static size_t collect(const struct gate_facts *f, struct digest *to)
{
	const struct build_facts *builds[BUILDS];
	size_t n = 0, n_builds = list_builds(f, builds);

	to[n++] = (struct digest){"at the start", NULL, f->source_digest};
	for (size_t i = 0; i < n_builds; i++) {
		to[n++] = (struct digest){"before", builds[i]->variant, builds[i]->source_before};
		to[n++] = (struct digest){"after", builds[i]->variant, builds[i]->source_after};
	}
	return n;
}

static void name_files(const struct gate_facts *f, struct evidence *e)
{
	const struct build_facts *builds[BUILDS];
	size_t n = list_builds(f, builds);

	for (size_t i = 0; i < n; i++)
		if (builds[i]->source_changed)
			evidence_add(e,
				"'%s' is not what it was at the start, seen with the %s build",
				builds[i]->source_changed, builds[i]->variant);
}

/* The number of digests; *bad: how many are missing or differ from the first. */
static size_t judge_builds(const struct gate_facts *f, struct evidence *e, size_t *bad)
{
	struct digest d[1 + 2 * BUILDS];
	size_t n = collect(f, d);

	*bad = 0;
	for (size_t i = 0; i < n; i++)
		*bad += !d[i].value || !d[0].value || strcmp(d[i].value, d[0].value) != 0;
	if (*bad && e)
		name_files(f, e);
	for (size_t i = 0; *bad && e && i < n; i++)
		evidence_add(e, "%s%s%s%s: %s", d[i].when, d[i].build ? " the " : "",
			d[i].build ? d[i].build : "", d[i].build ? " build" : "",
			d[i].value ? d[i].value : "no digest");
	return n;
}

bool sources_differ(const struct gate_facts *f)
{
	size_t bad;

	judge_builds(f, NULL, &bad);
	return bad > 0;
}

static void expect(struct evidence *e, const char *what, const char *profile, const char *build)
{
	if (profile && build && strcmp(profile, build) == 0)
		return;
	evidence_add(e, "the profile is of %s: %s, this build has %s", what,
		profile ? profile : "none named", build ? build : "none");
}

/* --profile last asks for the profile of an earlier revision: its source may differ. */
static bool of_other_source(const struct gate_facts *f)
{
	const struct provenance *p = f->provenance;

	return f->profile && f->profile->reused && p && p->source && f->source_digest &&
	       strcmp(p->source, f->source_digest) != 0;
}

static void judge_given(const struct gate_facts *f, struct evidence *e)
{
	const struct provenance *p = f->provenance;

	if (!p) {
		evidence_add(e,
			"the given profile has no provenance file beside it: what it was trained "
			"on is not known");
		return;
	}
	expect(e, "another file than the one its provenance describes", p->profile,
		f->profile->sha256);
	/* One half of it may have been left out, which was said. */
	if (f->profile->beside_sha256)
		expect(e, "another file beside it", p->beside, f->profile->beside_sha256);
	if (!f->profile->reused)
		expect(e, "another source", p->source, f->source_digest);
	expect(e, "another training plan", p->training, f->training_digest);
	expect(e, "another target", p->target, f->target);
}

void gate_same_source(const struct gate_facts *f, struct verdicts *vs)
{
	auto_evidence struct evidence e = EVIDENCE_INIT;
	size_t bad, n = judge_builds(f, &e, &bad), given = 0;

	if (f->profile && f->profile->given) {
		size_t before = e.lines;

		judge_given(f, &e);
		given = e.lines - before;
	}
	if (bad)
		verdict_fail(vs, "same-source", &e,
			"do not edit the sources while whet builds; exclude files that the build "
			"itself "
			"writes (build: exclude:); then build again",
			"%zu of %zu source digests differ from the first or are missing, 0 allowed",
			bad, n);
	else if (given)
		verdict_fail(vs, "same-source", &e,
			f->profile->reused
				? "train anew: `whet build` without --profile does; a profile of "
				  "another training plan or target is not what this plan asks for"
				: "train this revision (whet build without --profile), or check "
				  "out the "
				  "revision "
				  "that the profile was trained on",
			"%zu deviations of the given profile's provenance, 0 allowed", given);
	else if (of_other_source(f))
		verdict_pass(vs, "same-source", NULL,
			"0 of %zu source digests differ (%.12s), 0 allowed; the profile is of "
			"another source (%.12s), as --profile last asks: stale judges how far it "
			"fits",
			n, f->source_digest, f->provenance->source);
	else
		verdict_pass(vs, "same-source", NULL,
			"0 of %zu source digests differ (%.12s), 0 allowed", n, f->source_digest);
}
