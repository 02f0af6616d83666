#include <inttypes.h>

#include "gate/rules.h"

static const char remedy_none[] =
	"the profile's names do not fit this build: train again, and keep the compiler, crate "
	"versions and source paths as they were";

static size_t count(const struct binary_fact *b, const struct missing *m, struct evidence *e)
{
	size_t n = m->first.n;

	for (size_t k = 0; k < m->second.n; k++)
		n += !text_set_has(&m->first, m->second.v[k]);
	evidence_add(e, "%s: %zu functions without profile data", b->name, n);
	for (size_t k = 0; k < m->first.n; k++)
		evidence_add(e, "  %s", m->first.v[k]);
	for (size_t k = 0; k < m->second.n; k++)
		evidence_add(e, "  %s: none for the counters of round 2", m->second.v[k]);
	if (m->left_out)
		evidence_add(e,
			"%s: %zu untrained functions were left out (pgo: untrained: neutral)",
			b->name, m->left_out);
	return n;
}

/* The largest count of any binary, and its functions as evidence. */
static size_t most(const struct gate_facts *f, const struct build_facts *b, struct evidence *e)
{
	size_t largest = 0;

	for (size_t i = 0; i < b->n_binaries; i++) {
		auto_missing struct missing missing = {0};
		size_t n;

		missing_functions(f->profile, b, &b->binaries[i], &missing);
		n = count(&b->binaries[i], &missing, e);
		if (n > largest)
			largest = n;
	}
	return largest;
}

static bool second_is_lost(const struct gate_facts *f, struct evidence *e, struct verdicts *vs)
{
	size_t executed, without;

	if (!f->profile->context_sensitive)
		return false;
	without = second_without_data(f, &executed);
	if (!executed || without < executed)
		return false;
	verdict_fail(vs, "max-missing", e,
		"the counters of round 2 do not fit this build: train again, and keep compiler, "
		"flags and linker as they were",
		"0 of %zu functions executed in round 2 were compiled with its data, at least 1 is "
		"needed",
		executed);
	return true;
}

static void judge(const struct gate_facts *f, struct verdicts *vs)
{
	auto_evidence struct evidence e = EVIDENCE_INIT;
	int64_t bound = f->bounds ? f->bounds->max_missing : -1;
	size_t n = most(f, f->optimised, &e), executed, without;
	const struct binary_fact *none = binary_without_data(f, &executed, &without);

	if (none)
		verdict_fail(vs, "max-missing", &e, remedy_none,
			"%zu of %zu executed functions of '%s' were compiled with data, at least 1 "
			"is needed",
			executed - without, executed, none->name);
	else if (second_is_lost(f, &e, vs))
		return;
	else if (bound >= 0 && n > (uint64_t)bound)
		verdict_fail(vs, "max-missing", &e,
			"find out why the compilers know these functions but the profile does not "
			"(a "
			"changed feature, path or compiler); raise gates: max-missing: only when "
			"it is "
			"understood",
			"%zu functions without profile data, at most %" PRId64 " allowed", n,
			bound);
	else if (bound < 0)
		verdict_pass(vs, "max-missing", &e,
			"%zu functions without profile data (no bound is set; to pin it: gates: "
			"{max-missing: %zu})",
			n, n);
	else
		verdict_pass(vs, "max-missing", &e,
			"%zu functions without profile data, at most %" PRId64 " allowed", n,
			bound);
}

void gate_max_missing(const struct gate_facts *f, struct verdicts *vs)
{
	const char *owner;

	if (!f->optimised || !f->profile) {
		verdict_skip(vs, "max-missing", "not judged: no %s (%s)",
			f->profile ? "optimised build" : "profile",
			f->profile ? "same-flags" : "min-functions");
		return;
	}
	owner = earlier_fault(f);
	if (owner)
		verdict_skip(
			vs, "max-missing", "not judged: the builds differ already (%s)", owner);
	else
		judge(f, vs);
}
