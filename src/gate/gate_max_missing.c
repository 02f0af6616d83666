#include <inttypes.h>

#include "gate/rules.h"

static const char remedy_none[] =
	"the profile's names do not fit this build: train again, and keep the compiler, crate "
	"versions and source paths as they were";

/* The largest count of any binary, and its functions as evidence. */
static size_t most(const struct gate_facts *f, struct evidence *e)
{
	const struct build_facts *o = f->optimised;
	size_t largest = 0;

	for (size_t i = 0; i < o->n_binaries; i++) {
		auto_text_set struct text_set missing = {0};

		missing_functions(o, &o->binaries[i], &missing);
		evidence_add(e, "%s: %zu functions without profile data", o->binaries[i].name,
			missing.n);
		for (size_t k = 0; k < missing.n; k++)
			evidence_add(e, "  %s", missing.v[k]);
		if (missing.n > largest)
			largest = missing.n;
	}
	return largest;
}

static void judge(const struct gate_facts *f, struct verdicts *vs)
{
	auto_evidence struct evidence e = EVIDENCE_INIT;
	int64_t bound = f->bounds ? f->bounds->max_missing : -1;
	size_t n = most(f, &e), executed, without;
	const struct binary_fact *none = binary_without_data(f, &executed, &without);

	if (none)
		verdict_fail(vs, "max-missing", &e, remedy_none,
			"%zu of %zu executed functions of '%s' were compiled with data, at least 1 "
			"is needed",
			executed - without, executed, none->name);
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
