/* Overlap of two profiles, by the formulas of llvm-profdata (docs/formats/llvm.md says where it
 * differs). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/compare.h"
#include "profile/model.h"

_Static_assert(PROFILE_VALUE_KINDS == VALUE_KINDS, "one figure for each kind of values");

static double site_sum(const struct value_site *s)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->n; i++)
		sum += (double)s->v[i].count;
	return sum;
}

static struct profile_figures sums_of(const struct record *r)
{
	struct profile_figures f = {.edges = record_sum(r)};
	const struct value_site *site = r->sites;

	for (int k = 0; k < VALUE_KINDS; k++)
		for (uint32_t i = 0; i < r->n_sites[k]; i++)
			f.values[k] += site_sum(site++);
	return f;
}

static void add(struct profile_figures *to, const struct profile_figures *f)
{
	to->edges += f->edges;
	for (int k = 0; k < VALUE_KINDS; k++)
		to->values[k] += f->values[k];
}

static double share_of(double part, double whole)
{
	return whole < 1 ? 0 : part / whole;
}

static void add_share(struct profile_figures *to, const struct profile_figures *part,
	const struct profile_figures *whole)
{
	to->edges += share_of(part->edges, whole->edges);
	for (int k = 0; k < VALUE_KINDS; k++)
		to->values[k] += share_of(part->values[k], whole->values[k]);
}

static double smaller(uint64_t a, uint64_t b, double first, double second)
{
	double x = share_of((double)a, first), y = share_of((double)b, second);

	return x < y ? x : y;
}

static double edges_overlap(
	const struct record *a, const struct record *b, double first, double second)
{
	double sum = 0;

	for (uint32_t i = 0; i < b->n_counts; i++)
		if (a->counts[i] <= COUNT_MAX && b->counts[i] <= COUNT_MAX)
			sum += smaller(a->counts[i], b->counts[i], first, second);
	return sum;
}

static double site_overlap(
	const struct value_site *a, const struct value_site *b, double first, double second)
{
	auto_free struct value_datum *x = site_by_value(a), *y = site_by_value(b);
	double sum = 0;

	for (uint32_t i = 0, k = 0; i < a->n && k < b->n;) {
		if (x[i].value == y[k].value)
			sum += smaller(x[i++].count, y[k++].count, first, second);
		else if (x[i].value < y[k].value)
			i++;
		else
			k++;
	}
	return sum;
}

/* Both have the same shape. */
static struct profile_figures overlap_of(const struct record *a, const struct record *b,
	const struct profile_figures *first, const struct profile_figures *second)
{
	struct profile_figures f = {.edges = edges_overlap(a, b, first->edges, second->edges)};
	size_t site = 0;

	for (int k = 0; k < VALUE_KINDS; k++)
		for (uint32_t i = 0; i < b->n_sites[k]; i++, site++)
			f.values[k] += site_overlap(&a->sites[site], &b->sites[site],
				first->values[k], second->values[k]);
	return f;
}

static bool same_shape(const struct record *a, const struct record *b)
{
	return a->n_counts == b->n_counts &&
	       memcmp(a->n_sites, b->n_sites, sizeof(a->n_sites)) == 0;
}

struct comparing {
	const struct profile *first;
	const struct profile *second;
	bool context_sensitive;
	struct profile_overlap r;
	profile_overlap_each *each;
	void *ctx;
};

static int compare(void *ctx, const struct record *b)
{
	struct comparing *c = ctx;
	struct profile_overlap_function f = {
		.key = b->key->name, .hash = b->hash, .second = sums_of(b)};
	const struct key *k;
	const struct record *a;

	if (record_is_cs(c->second, b) != c->context_sensitive)
		return 0;
	k = profile_find(c->first, b->key->name, b->key->n, b->key->ref);
	a = k ? key_record(k, b->hash) : NULL;
	if (a)
		f.first = sums_of(a);
	if (!k) {
		f.match = PROFILE_ONLY_SECOND;
		c->r.only_second++;
		add_share(&c->r.only_second_share, &f.second, &c->r.second);
	} else if (f.second.edges >= 1 && (!a || !same_shape(a, b))) {
		f.match = PROFILE_MISMATCHED;
		c->r.mismatched++;
		add_share(&c->r.mismatched_share, &f.second, &c->r.second);
	} else {
		c->r.functions++;
		if (f.second.edges >= 1) {
			struct profile_figures all = overlap_of(a, b, &c->r.first, &c->r.second);

			add(&c->r.share, &all);
			f.share = overlap_of(a, b, &f.first, &f.second);
		}
	}
	if (c->each)
		c->each(c->ctx, &f);
	return 0;
}

static struct profile_figures total(const struct profile *p, bool context_sensitive)
{
	struct profile_figures f = {0};

	for (size_t i = 0; i < p->n_records; i++) {
		struct profile_figures one = sums_of(p->records[i]);

		if (record_is_cs(p, p->records[i]) == context_sensitive)
			add(&f, &one);
	}
	return f;
}

int profile_counted(
	const struct profile *p, const char *which, double sum, bool cs, struct error *err)
{
	if (sum >= 1)
		return 0;
	return error_set(err, ERR_MISMATCH,
		"the %s profile counted nothing%s, so there is nothing to compare%s", which,
		cs ? " in context-sensitive records" : "",
		!cs && (p->flags & FLAG_CS) ? "; --cs compares the context-sensitive records" : "");
}

int profile_overlap(const struct profile *first, const struct profile *second,
	bool context_sensitive, struct profile_overlap *ret, profile_overlap_each *each, void *ctx,
	struct error *err)
{
	struct comparing c = {.first = first,
		.second = second,
		.context_sensitive = context_sensitive,
		.each = each,
		.ctx = ctx};

	c.r.first = total(first, context_sensitive);
	c.r.second = total(second, context_sensitive);
	if (profile_counted(first, "first", c.r.first.edges, context_sensitive, err) < 0 ||
		profile_counted(second, "second", c.r.second.edges, context_sensitive, err) < 0)
		return -1;
	for (size_t i = 0; i < first->n_records; i++) {
		const struct record *r = first->records[i];

		if (record_is_cs(first, r) == context_sensitive &&
			!profile_find(second, r->key->name, r->key->n, r->key->ref))
			c.r.only_first++;
	}
	profile_each_record(second, compare, &c);
	*ret = c.r;
	return 0;
}
