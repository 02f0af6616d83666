/* Overlap of two sets of .gcda files. gcov-tool 12 means the same figure but never sums the
 * counters (docs/formats/gcc.md). */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/gcc/objects.h"

double gcda_arc_sum(const struct gcda_function *f)
{
	const struct gcda_counters *c = gcda_find(f, GCDA_ARCS);
	double sum = 0;

	for (uint32_t i = 0; c && c->v && i < c->n; i++)
		sum += (double)c->v[i];
	return sum;
}

static double object_sum(const struct gcda *g)
{
	double sum = 0;

	for (size_t i = 0; i < g->n_functions; i++)
		sum += gcda_arc_sum(&g->functions[i]);
	return sum;
}

double gcc_objects_sum(const struct gcc_objects *o)
{
	double sum = 0;

	for (size_t i = 0; i < o->n; i++)
		sum += object_sum(o->v[i].data);
	return sum;
}

struct comparison {
	double first, second; /* sums of all arc counters */
	struct gcc_overlap *ret;
};

bool gcda_same_flow(const struct gcda_function *a, const struct gcda_function *b)
{
	const struct gcda_counters *x = gcda_find(a, GCDA_ARCS), *y = gcda_find(b, GCDA_ARCS);

	return a->cfg_checksum == b->cfg_checksum && (x ? x->n : 0) == (y ? y->n : 0);
}

static double function_share(
	const struct comparison *c, const struct gcda_function *a, const struct gcda_function *b)
{
	const struct gcda_counters *x = gcda_find(a, GCDA_ARCS), *y = gcda_find(b, GCDA_ARCS);
	double share = 0;

	if (!x || !y || !x->v || !y->v)
		return 0;
	for (uint32_t i = 0; i < x->n; i++) {
		double p = (double)x->v[i] / c->first, q = (double)y->v[i] / c->second;

		share += p < q ? p : q;
	}
	return share;
}

static int by_ident(const void *a, const void *b)
{
	const struct gcda_function *x = *(struct gcda_function *const *)a,
				   *y = *(struct gcda_function *const *)b;

	return x->ident < y->ident ? -1 : x->ident > y->ident;
}

const struct gcda_function **gcda_by_ident(const struct gcda *g, size_t *n)
{
	const struct gcda_function **v = xcalloc(g->n_functions + 1, sizeof(const void *));

	*n = 0;
	for (size_t i = 0; i < g->n_functions; i++)
		if (g->functions[i].present)
			v[(*n)++] = &g->functions[i];
	qsort(v, *n, sizeof(const void *), by_ident);
	return v;
}

static double object_share(const struct comparison *c, const struct gcda *a, const struct gcda *b)
{
	size_t n, m, k = 0;
	auto_free const struct gcda_function **x = gcda_by_ident(a, &n), **y = gcda_by_ident(b, &m);
	double share = 0;

	for (size_t i = 0; i < n; i++) {
		while (k < m && y[k]->ident < x[i]->ident)
			k++;
		if (k == m || y[k]->ident != x[i]->ident)
			continue;
		c->ret->functions++;
		if (gcda_same_flow(x[i], y[k]))
			share += function_share(c, x[i], y[k]);
		else
			c->ret->mismatched++;
		k++;
	}
	return share;
}

int gcc_objects_order(const struct gcc_objects *a, size_t i, const struct gcc_objects *b, size_t k)
{
	if (i == a->n || k == b->n)
		return i == a->n ? 1 : -1;
	if (a->n == 1 && b->n == 1 && strcmp(a->v[0].name, a->v[0].path) == 0 &&
		strcmp(b->v[0].name, b->v[0].path) == 0)
		return 0;
	return strcmp(a->v[i].name, b->v[k].name);
}

int gcc_overlap(const struct gcc_objects *a, const struct gcc_objects *b, struct gcc_overlap *ret,
	gcc_overlap_each *each, void *ctx, struct error *err)
{
	struct gcc_overlap r = {0};
	struct comparison c = {gcc_objects_sum(a), gcc_objects_sum(b), &r};

	if (c.first < 1 || c.second < 1)
		return error_set(err, ERR_MISMATCH,
			"the %s profile counted nothing, so there is nothing to compare",
			c.first < 1 ? "first" : "second");
	for (size_t i = 0, k = 0; i < a->n || k < b->n;) {
		int o = gcc_objects_order(a, i, b, k);

		if (o == 0) {
			const struct gcda *x = a->v[i].data, *y = b->v[k].data;
			double share = object_share(&c, x, y);

			r.objects++;
			r.share += share;
			if (each)
				each(ctx, a->v[i].name, share, object_sum(x) / c.first,
					object_sum(y) / c.second);
		}
		r.only_first += o < 0;
		r.only_second += o > 0;
		i += o <= 0;
		k += o >= 0;
	}
	*ret = r;
	return 0;
}
