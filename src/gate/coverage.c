/* Which executed functions a binary holds, and which of them the compilers found data for. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gate/rules.h"

const char *earlier_fault(const struct gate_facts *f)
{
	auto_pairs struct pairs p = {0};

	if (sources_differ(f))
		return "same-source";
	if (profile_changed(f))
		return "profile-unchanged";
	if (!f->optimised || !f->plain)
		return NULL;
	pairs_compare(f, &p);
	if (p.flags_differ)
		return "same-flags";
	return p.identity_differs ? "same-identity" : NULL;
}

bool mark_executed(const struct executed *e, const struct binary_fact *b, bool *seen)
{
	bool listed = false;

	for (size_t i = 0; b && i < b->n_objects; i++) {
		const struct object_fact *o = &b->objects[i];

		if (o->class != OBJECT_TARGET)
			continue;
		listed = listed || o->functions.n;
		for (size_t k = 0; k < o->functions.n; k++) {
			const struct executed_function *x =
				executed_find(e, o->functions.v[k], o->source);

			if (x)
				seen[x - e->v] = true;
		}
	}
	return listed;
}

/* gcc had no data for a whole object: none of its functions has any. */
static void add_whole(const struct build_facts *b, const struct binary_fact *binary,
	const struct compile_record *r, struct text_set *to)
{
	for (size_t i = 0; i < b->n_binaries; i++) {
		const struct binary_fact *one = &b->binaries[i];

		for (size_t k = 0; k < one->n_objects && (!binary || one == binary); k++) {
			const struct object_fact *o = &one->objects[k];

			if (!o->record || strcmp(o->record, r->id) != 0)
				continue;
			for (size_t n = 0; n < o->functions.n; n++)
				text_set_add(to, o->functions.v[n]);
		}
	}
	/* Inlining and link-time optimisation leave no names: it counts at least once. */
	text_set_add(to, r->source ? r->source : r->output ? r->output : "?");
}

static void add_missing(const struct build_facts *b, const struct binary_fact *binary,
	const struct compile_record *r, const struct left_out *out, struct missing *m)
{
	for (size_t k = 0; k < r->n_diags; k++) {
		const struct profile_diag *d = &r->diags[k];
		bool second = out->two && (d->hash & PROFILE_CONTEXT_SENSITIVE);

		if (d->kind != DIAG_MISSING)
			continue;
		if (!*d->function)
			add_whole(b, binary, r, &m->first);
		else if (left_out_has(out, d->function, d->hash))
			m->left_out += !second;
		else
			text_set_add(second ? &m->second : &m->first, d->function);
	}
}

void missing_functions(const struct profile_facts *p, const struct build_facts *b,
	const struct binary_fact *binary, struct missing *ret)
{
	auto_records struct records reached = {0};
	auto_left_out struct left_out out = {0};
	struct missing m = {0};

	left_out_of(p, &out);
	records_reached(b, binary, &reached);
	for (size_t i = 0; i < reached.n; i++)
		add_missing(b, binary, reached.v[i], &out, &m);
	text_set_seal(&m.first);
	text_set_seal(&m.second);
	*ret = m;
}

void missing_release(struct missing *m)
{
	text_set_release(&m->first);
	text_set_release(&m->second);
}

/* The compilers may name the key or the function alone. */
static bool lacks_data(const struct executed_function *x, const struct text_set *missing)
{
	return text_set_has(missing, x->name) || text_set_has(missing, x->key);
}

static bool without_data(const struct gate_facts *f, const struct executed *e,
	const struct binary_fact *b, size_t *executed, size_t *without)
{
	const struct build_facts *others[] = {f->plain, f->first, f->instrumented};
	auto_free bool *seen = xcalloc(e->n + 1, sizeof(*seen));
	auto_missing struct missing missing = {0};
	bool listed = mark_executed(e, b, seen);
	size_t all[2] = {0}, none[2] = {0}; /* LLVM's and gcc's */

	for (size_t k = 0; k < ARRAY_SIZE(others); k++)
		listed = mark_executed(e, binary_named(others[k], b->name), seen) || listed;
	missing_functions(f->profile, f->optimised, b, &missing);
	*executed = *without = 0;
	for (size_t i = 0; i < e->n; i++) {
		if (listed && !seen[i])
			continue;
		all[e->v[i].gcc]++;
		none[e->v[i].gcc] += lacks_data(&e->v[i], &missing.first);
	}
	/* Neither kind of counters hides behind the other. */
	for (size_t k = 0; k < ARRAY_SIZE(all); k++) {
		if (!all[k] || none[k] < all[k])
			continue;
		*executed = all[k];
		*without = none[k];
		return true;
	}
	*executed = all[0] + all[1];
	*without = none[0] + none[1];
	return !*executed;
}

const struct binary_fact *binary_without_data(
	const struct gate_facts *f, size_t *executed, size_t *without)
{
	auto_executed struct executed e = {0};

	*executed = *without = 0;
	executed_of(f->profile, &e);
	for (size_t i = 0; e.n && i < f->optimised->n_binaries; i++) {
		if (without_data(f, &e, &f->optimised->binaries[i], executed, without))
			return &f->optimised->binaries[i];
	}
	return NULL;
}

size_t second_without_data(const struct gate_facts *f, size_t *executed)
{
	auto_missing struct missing missing = {0};
	size_t without = 0;

	*executed = 0;
	missing_functions(f->profile, f->optimised, NULL, &missing);
	for (size_t i = 0; i < f->profile->n; i++) {
		const struct profile_function *p = &f->profile->v[i];
		struct executed_function x = {.key = p->key, .name = executed_name(p->key)};

		if (!p->second || !p->max_count)
			continue;
		++*executed;
		without += lacks_data(&x, &missing.second);
	}
	return without;
}
