/* Adding .gcda files up. The first pass compares the whole files and changes nothing; the second
 * adds and cannot fail. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "profile/gcc/gcda.h"
#include "profile/gcc/sites.h"
#include "profile/model.h"

#define OTHER_BUILD                                                                                \
	"merge profiles of one build only, and train again after each instrumented build"

static int check_header(const struct gcda *a, const struct gcda *b, struct error *err)
{
	if (a->version != b->version) {
		auto_free char *x = gcda_version_text(a->version),
			       *y = gcda_version_text(b->version);

		return error_set(err, ERR_MISMATCH,
			"was written by %s, but the profiles merged so far by %s; %s", y, x,
			OTHER_BUILD);
	}
	if (a->big != b->big)
		return error_set(err, ERR_MISMATCH,
			"is %s-endian, but the profiles merged so far are %s-endian; %s",
			b->big ? "big" : "little", a->big ? "big" : "little", OTHER_BUILD);
	if (a->stamp != b->stamp)
		return error_set(err, ERR_MISMATCH,
			"has stamp 0x%08" PRIx32
			", but the profiles merged so far have 0x%08" PRIx32
			": the object was compiled again in between; %s",
			b->stamp, a->stamp, OTHER_BUILD);
	if (a->checksum != b->checksum)
		return error_set(err, ERR_MISMATCH,
			"has checksum 0x%08" PRIx32
			", but the profiles merged so far have 0x%08" PRIx32
			": another object was compiled under this name; %s",
			b->checksum, a->checksum, OTHER_BUILD);
	if (a->n_functions != b->n_functions)
		return error_set(err, ERR_MISMATCH,
			"has %zu functions, but the profiles merged so far have %zu; %s",
			b->n_functions, a->n_functions, OTHER_BUILD);
	return 0;
}

static int check_counters(
	const struct gcda_function *a, const struct gcda_function *b, struct error *err)
{
	if (a->n != b->n)
		return error_set(err, ERR_MISMATCH,
			"%" PRIu32 " kinds of counters here, but %" PRIu32
			" in the profiles merged so far; %s",
			b->n, a->n, OTHER_BUILD);
	for (uint32_t i = 0; i < a->n; i++) {
		const struct gcda_counters *x = &a->v[i], *y = &b->v[i];

		if (x->kind != y->kind || x->n != y->n)
			return error_set(err, ERR_MISMATCH,
				"%" PRIu32 " %s counters here, but %" PRIu32
				" %s counters in the profiles merged so far; %s",
				y->n, gcda_kind_name(y->kind), x->n, gcda_kind_name(x->kind),
				OTHER_BUILD);
	}
	return 0;
}

static int check_function(
	const struct gcda_function *a, const struct gcda_function *b, struct error *err)
{
	if (!a->present || !b->present)
		return 0;
	if (a->ident != b->ident || a->lineno_checksum != b->lineno_checksum ||
		a->cfg_checksum != b->cfg_checksum)
		return error_set(err, ERR_MISMATCH,
			"ident %" PRIu32 " with checksums 0x%08" PRIx32 " and 0x%08" PRIx32
			" here, but ident %" PRIu32 " with 0x%08" PRIx32 " and 0x%08" PRIx32
			" in the profiles merged so far; %s",
			b->ident, b->lineno_checksum, b->cfg_checksum, a->ident, a->lineno_checksum,
			a->cfg_checksum, OTHER_BUILD);
	return check_counters(a, b, err);
}

static int check(const struct gcda *a, const struct gcda *b, struct error *err)
{
	if (check_header(a, b, err) < 0)
		return -1;
	for (size_t i = 0; i < a->n_functions; i++)
		if (check_function(&a->functions[i], &b->functions[i], err) < 0)
			return error_context(err, "function %zu", i);
	return 0;
}

static uint64_t combine(unsigned kind, uint64_t a, uint64_t b, uint64_t weight)
{
	switch (kind) {
	case GCDA_IOR:
	case GCDA_CONDITIONS:
	case GCDA_PATHS:
		return a | b;
	case GCDA_TIME:
		return !a || (b && b < a) ? b : a;
	default:
		return gcda_plus(a, gcda_times(b, weight));
	}
}

/* What the file left out because all is zero. */
static void spell_out(struct gcda *g, struct gcda_counters *c)
{
	if (!c->elided)
		return;
	c->elided = false;
	if (c->n && gcda_has_sites(c->kind))
		c->sites = arena_zalloc(g->arena, c->n * sizeof(*c->sites));
	else if (c->n)
		c->v = arena_zalloc(g->arena, c->n * sizeof(*c->v));
}

static void add_counters(
	struct gcda *g, struct gcda_counters *a, const struct gcda_counters *b, uint64_t weight)
{
	if (b->elided)
		return;
	spell_out(g, a);
	for (uint32_t i = 0; i < a->n; i++)
		if (gcda_has_sites(a->kind))
			site_merge(g->arena, &a->sites[i], &b->sites[i], weight);
		else
			a->v[i] = combine(a->kind, a->v[i], b->v[i], weight);
}

/* A function that was not there so far: with all counters zero, ready to be added to. */
static void adopt(struct gcda *g, struct gcda_function *a, const struct gcda_function *b)
{
	*a = *b;
	a->v = b->n ? arena_zalloc(g->arena, b->n * sizeof(*a->v)) : NULL;
	for (uint32_t i = 0; i < b->n; i++)
		a->v[i] = (struct gcda_counters){
			.kind = b->v[i].kind, .elided = true, .n = b->v[i].n};
}

static uint32_t add_word(uint32_t a, uint32_t b, uint64_t weight)
{
	uint64_t sum = gcda_plus(a, gcda_times(b, weight));

	return sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
}

/* From here on the file is written in canonical form: each value of a site once. */
static void begin_merging(struct gcda *g)
{
	if (g->merged)
		return;
	g->merged = true;
	for (size_t i = 0; i < g->n_functions; i++)
		for (uint32_t k = 0; k < g->functions[i].n; k++) {
			struct gcda_counters *c = &g->functions[i].v[k];

			for (uint32_t s = 0; c->sites && s < c->n; s++)
				site_normalise(&c->sites[s]);
		}
}

int gcda_merge(struct gcda *into, const struct gcda *from, uint64_t weight, struct error *err)
{
	if (check(into, from, err) < 0)
		return -1;
	begin_merging(into);
	into->runs = add_word(into->runs, from->runs, weight);
	into->sum_max = add_word(into->sum_max, from->sum_max, weight);
	for (size_t i = 0; i < into->n_functions; i++) {
		struct gcda_function *a = &into->functions[i];
		const struct gcda_function *b = &from->functions[i];

		if (!b->present)
			continue;
		if (!a->present)
			adopt(into, a, b);
		for (uint32_t k = 0; k < a->n; k++)
			add_counters(into, &a->v[k], &b->v[k], weight);
	}
	return 0;
}

static void scale_counters(struct gcda_counters *c, uint64_t weight)
{
	if (c->elided)
		return;
	for (uint32_t i = 0; i < c->n; i++) {
		if (!gcda_has_sites(c->kind)) {
			c->v[i] = combine(c->kind, c->v[i], c->v[i], weight - 1);
			continue;
		}
		c->sites[i].total = gcda_times(c->sites[i].total, weight);
		for (uint32_t k = 0; k < c->sites[i].n; k++)
			c->sites[i].v[k].count = gcda_times(c->sites[i].v[k].count, weight);
	}
}

void gcda_scale(struct gcda *g, uint64_t weight)
{
	if (weight == 1)
		return;
	begin_merging(g);
	g->runs = add_word(0, g->runs, weight);
	g->sum_max = add_word(0, g->sum_max, weight);
	for (size_t i = 0; i < g->n_functions; i++)
		for (uint32_t k = 0; k < g->functions[i].n; k++)
			scale_counters(&g->functions[i].v[k], weight);
}

int gcda_add_file(struct gcda **into, const char *path, uint64_t weight, struct error *err)
{
	struct gcda *g = gcda_read_file(path, err);
	int rc = 0;

	if (!g)
		return -1;
	if (!*into) {
		gcda_scale(g, weight);
		*into = g;
		return 0;
	}
	if (gcda_merge(*into, g, weight, err) < 0)
		rc = error_context(err, "profile '%s'", path);
	gcda_free(g);
	return rc;
}

const struct gcda_counters *gcda_find(const struct gcda_function *f, unsigned kind)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (f->v[i].kind == kind)
			return &f->v[i];
	return NULL;
}

uint64_t gcda_largest(const struct gcda_counters *c)
{
	uint64_t max = 0;

	for (uint32_t i = 0; c && !c->elided && i < c->n && c->v; i++)
		if (c->v[i] > max)
			max = c->v[i];
	return max;
}

void gcda_summarise(const struct gcda *g, struct gcda_summary *ret)
{
	for (size_t i = 0; i < g->n_functions; i++) {
		const struct gcda_function *f = &g->functions[i];
		const struct gcda_counters *arcs = gcda_find(f, GCDA_ARCS);
		uint64_t max = gcda_largest(arcs);

		ret->functions += f->present;
		ret->executed += max != 0;
		ret->counters += arcs ? arcs->n : 0;
		ret->max_count = max > ret->max_count ? max : ret->max_count;
		for (uint32_t k = 0; max && k < arcs->n; k++)
			ret->total_count = gcda_plus(ret->total_count, arcs->v[k]);
		for (uint32_t k = 0; k < f->n; k++) {
			const struct gcda_counters *c = &f->v[k];

			ret->sites += gcda_has_sites(c->kind) ? c->n : 0;
			for (uint32_t s = 0; s < c->n && c->sites; s++)
				ret->values += c->sites[s].n;
		}
	}
}
