/* Context-sensitive PGO: the second round, whose counters are put in after inlining. What the first
 * gave moves aside, and the nodes run once more. */
#include <string.h>

#include "base/mem.h"
#include "pipeline/run.h"

int round_count(const struct run *r)
{
	return run_pgo(r)->context_sensitive ? 2 : 1;
}

const struct plan_pgo *run_pgo(const struct run *r)
{
	return r->track->variant ? &r->track->variant->pgo : &r->plan.pgo;
}

int round_number(const struct run *r)
{
	return round_count(r) == 1 ? 0 : r->track->second ? 2 : 1;
}

const char *round_variant(const struct run *r)
{
	if (r->track->variant)
		return r->track->variant->name;
	return r->track->second ? "second" : "";
}

void round_next(struct run *r)
{
	struct track *t = r->track;

	t->first = (struct round){
		.instrumented = t->instrumented,
		.train_key = take_ptr(t->train_key),
		.training = t->training,
		.coverage = t->coverage,
		.has_coverage = t->has_coverage,
		.published = take_ptr(t->published),
		.profile = t->profile,
	};
	for (size_t i = 0; i < ARRAY_SIZE(t->profiles); i++)
		t->first.profiles[i] = take_ptr(t->profiles[i]);
	t->instrumented = (struct build_out){0};
	t->training = (struct training_facts){0};
	t->coverage = (struct coverage_facts){0};
	t->has_coverage = false;
	t->profile = (struct profile_facts){0};
	provenance_release(&t->provenance);
	t->has_provenance = false;
	t->second = true;
}

void round_release(struct round *f)
{
	build_out_release(&f->instrumented);
	training_facts_release(&f->training);
	coverage_facts_release(&f->coverage);
	profile_facts_release(&f->profile);
	free(f->train_key);
	free(f->published);
	for (size_t i = 0; i < ARRAY_SIZE(f->profiles); i++)
		free(f->profiles[i]);
}

int round_check(const struct run *r, struct error *err)
{
	for (size_t i = 0; plan_has_second_round(&r->plan) && i < r->n_compilers; i++) {
		const struct compiler *c = &r->compilers[i];

		/* Others are none of the plan's: gcc's objects are foreign. */
		if (c != run_main_compiler(r) && c->family != FAMILY_CLANG &&
			c->family != FAMILY_RUSTC)
			continue;
		if (toolchain_check_context_sensitive(c, err) < 0)
			return error_context(err, "pgo.context-sensitive");
	}
	return 0;
}

/* LLVM's key of a cached object holds neither the path nor the content of the profile that
 * link-time optimisation reads: the cache would hand out code of another one. */
int round_check_links(const struct run *r, struct error *err)
{
	const struct compile_log *l = &r->plain.facts.log;

	for (size_t i = 0; i < l->n; i++) {
		const struct compile_record *c = &l->v[i];

		for (size_t k = 0; c->class == CLASS_TARGET && k < c->argv.n; k++)
			if (strstr(c->argv.v[k], "cache-dir="))
				return error_set(err, ERR_ENVIRONMENT,
					"the link of '%s' keeps a cache of link-time optimisation "
					"('%s'), which does not tell profiles of two rounds apart "
					"and would give code of another one: leave the option out "
					"of the project's flags, or pgo.context-sensitive",
					c->output ? c->output : "?", c->argv.v[k]);
	}
	return 0;
}
