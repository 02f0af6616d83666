#include <string.h>

#include "gate/rules.h"

/* An executed local function of this name and structure in another file; NULL: there is none, or
 * there is one in this file. */
static const struct executed_function *trained_elsewhere(
	const struct executed *e, const struct profile_diag *d, const char *source)
{
	const struct executed_function *found = NULL, *first = executed_find(e, d->function, NULL);

	for (const struct executed_function *x = first;
		x && x < e->v + e->n && strcmp(x->name, first->name) == 0; x++) {
		if (executed_belongs(x, source))
			return NULL;
		/* Every function without a branch has the same structure. */
		if (x->path_n && !x->single_block && x->of->hash == d->hash)
			found = x;
	}
	return found;
}

/* A source that is compiled under another path each time, as in a temporary folder: its local
 * functions have other keys, and the compiler says no more than that it knows none of them. */
static size_t judge_keys(const struct gate_facts *f, struct evidence *e)
{
	auto_executed struct executed executed = {0};
	auto_records struct records reached = {0};
	size_t n = 0;

	executed_of(f->profile, &executed);
	records_reached(f->optimised, NULL, &reached);
	for (size_t i = 0; i < reached.n; i++) {
		const struct compile_record *r = reached.v[i];

		for (size_t k = 0; r->source && r->kind != CALL_RUSTC && k < r->n_diags; k++) {
			const struct profile_diag *d = &r->diags[k];
			const struct executed_function *x =
				d->kind == DIAG_MISSING && d->hash
					? trained_elsewhere(&executed, d, r->source)
					: NULL;

			if (!x)
				continue;
			n++;
			evidence_add(e,
				"function '%s' of '%s': trained as '%s', a key that holds another "
				"path",
				d->function, r->source, x->key);
		}
	}
	return n;
}

/* Of a reused profile such functions are told by stale. */
static bool judge_trained(const struct gate_facts *f, struct verdicts *vs)
{
	auto_evidence struct evidence e = EVIDENCE_INIT;
	size_t n = f->profile && !f->profile->reused ? judge_keys(f, &e) : 0;

	if (!n)
		return false;
	verdict_fail(vs, "same-identity", &e,
		"compile these sources under the same path in all builds: a temporary folder with "
		"another name each time, or a path with a date or a process id in it, takes the "
		"profile from every static function",
		"%zu executed functions were trained under another path, 0 allowed", n);
	return true;
}

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
	else if (!judge_trained(f, vs))
		verdict_pass(vs, "same-identity", NULL,
			"0 of %zu compared compilations differ in identity, 0 allowed", p.compared);
}
