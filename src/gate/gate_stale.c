#include <inttypes.h>

#include "base/mem.h"
#include "gate/rules.h"

static size_t judge_record(const struct compile_record *r, struct evidence *e)
{
	auto_free char *label = record_label(r);
	size_t n = 0;

	for (size_t i = 0; i < r->n_diags; i++) {
		const struct profile_diag *d = &r->diags[i];

		if (d->kind != DIAG_MISMATCH)
			continue;
		n++;
		if (d->hash)
			evidence_add(e, "function '%s' in %s: its structure is %016" PRIx64 " now",
				d->function, label, d->hash);
		else
			evidence_add(e, "function '%s' in %s: %s", d->function, label,
				d->text ? d->text : "its structure differs");
	}
	return n;
}

void gate_stale(const struct gate_facts *f, struct verdicts *vs)
{
	auto_evidence struct evidence e = EVIDENCE_INIT;
	auto_records struct records reached = {0};
	const char *owner;
	size_t n = 0;

	if (!f->optimised) {
		verdict_skip(vs, "stale", "not judged: no optimised build (same-flags)");
		return;
	}
	owner = earlier_fault(f);
	if (owner) {
		verdict_skip(vs, "stale", "not judged: the builds differ already (%s)", owner);
		return;
	}
	records_reached(f->optimised, NULL, &reached);
	for (size_t i = 0; i < reached.n; i++)
		n += judge_record(reached.v[i], &e);
	if (n)
		verdict_fail(vs, "stale", &e,
			"train again on these sources; where they did not change, look for "
			"generated code "
			"or headers outside the project that did",
			"%zu functions differ in structure from the trained ones, 0 allowed", n);
	else
		verdict_pass(vs, "stale", NULL,
			"0 functions differ in structure from the trained ones, 0 allowed (%zu "
			"compilations)",
			reached.n);
}
