/* Weights: the profile follows the shares that the phases have in real traffic.
 *
 * The phase that counted most for its weight keeps its counts; those of every other one are taken
 * so many times that their sum stands to that one's as its weight to that one's weight. So no
 * factor is below 1, nothing that was executed gets lost, and weighting is adding: factor - 1 times
 * what the phase counted. What belongs to no phase (start, stop) stays as it is. */
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "train/counts.h"
#include "train/coverage.h"

#define WEIGHT_UNIT 1e6 /* weights have six decimals */

struct share {
	uint64_t weight; /* in millionths */
	uint64_t count;  /* with all settings */
};

bool train_is_weighted(const struct plan_train *t)
{
	for (size_t i = 1; i < t->n_phases; i++)
		if (t->phases[i].weight != t->phases[0].weight)
			return true;
	return false;
}

static uint64_t weight_of(const struct plan_phase *p)
{
	uint64_t w = (uint64_t)(p->weight * WEIGHT_UNIT + 0.5);

	return w ? w : 1;
}

static uint64_t count_of(const struct coverage_facts *c, const char *phase)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < c->n_phases; i++)
		if (c->phases[i].part == COVERAGE_PHASE && !strcmp(c->phases[i].name, phase) &&
			__builtin_add_overflow(sum, c->phases[i].count, &sum))
			return UINT64_MAX;
	return sum;
}

/* count / weight is larger. */
static bool is_more(const struct share *a, const struct share *b)
{
	return (unsigned __int128)a->count * b->weight > (unsigned __int128)b->count * a->weight;
}

/* (weight / count) / (weight / count of base) - 1, rounded to the nearest unit; saturating. */
static uint64_t surplus(const struct share *s, const struct share *base)
{
	unsigned __int128 n = (unsigned __int128)s->weight * base->count;
	unsigned __int128 d = (unsigned __int128)base->weight * s->count;
	unsigned __int128 v = (n - d) / d;

	/* n is below 2^104 */
	if (v >> (63 - COUNTS_FACTOR_BITS))
		return (uint64_t)INT64_MAX;
	return (uint64_t)((((n - d) << COUNTS_FACTOR_BITS) + d / 2) / d);
}

static int add_phase(struct profile *p, const char *path, uint64_t factor, struct error *err)
{
	auto_buf struct buf text = BUF_INIT, scaled = BUF_INIT;

	if (file_read(path, SIZE_MAX / 2, &text, err) < 0 ||
		counts_scaled(&text, factor, &scaled, err) < 0)
		return -1;
	return profile_add_bytes(p, scaled.p, scaled.n, 1, NULL, err);
}

static const struct plan_phase *find(const struct plan_train *t, const char *name)
{
	for (size_t i = 0; i < t->n_phases; i++)
		if (!strcmp(t->phases[i].name, name))
			return &t->phases[i];
	return NULL;
}

/* What a part lacks; 0 when it is no phase, or counted nothing. */
static uint64_t surplus_of(const struct plan_train *t, const struct coverage_facts *c,
	const struct coverage_phase *p, const struct share *base)
{
	const struct plan_phase *plan = p->part == COVERAGE_PHASE ? find(t, p->name) : NULL;
	struct share s = {1, 0};

	if (plan)
		s = (struct share){weight_of(plan), count_of(c, p->name)};
	return s.count && train_is_weighted(t) ? surplus(&s, base) : 0;
}

/* The phase that keeps its counts. */
static struct share find_base(const struct plan_train *t, const struct coverage_facts *c)
{
	struct share base = {1, 0};

	for (size_t i = 0; i < t->n_phases; i++) {
		struct share s = {weight_of(&t->phases[i]), count_of(c, t->phases[i].name)};

		if (s.count && is_more(&s, &base))
			base = s;
	}
	return base;
}

void weigh_parts(const struct plan_train *t, struct coverage_facts *c)
{
	struct share base = find_base(t, c);

	for (size_t i = 0; i < c->n_phases; i++) {
		struct coverage_phase *p = &c->phases[i];
		const struct plan_phase *plan = p->part == COVERAGE_PHASE ? find(t, p->name) : NULL;

		p->weight = plan ? plan->weight : 0;
		p->times = 1 + (double)surplus_of(t, c, p, &base) / (double)COUNTS_FACTOR_ONE;
	}
}

int train_weigh(struct profile *p, const struct plan_train *t, const struct coverage_facts *c,
	const char *folder, struct error *err)
{
	struct share base;

	if (!train_is_weighted(t))
		return 0;
	if (c->problem)
		return error_set(err, ERR_ENVIRONMENT,
			"the phases have different weights, but what each of them counted is not "
			"known, so the profile cannot follow them: %s; or give all phases one "
			"weight",
			c->problem);
	base = find_base(t, c);
	for (size_t i = 0; i < c->n_phases; i++) {
		const struct coverage_phase *ph = &c->phases[i];
		uint64_t factor = surplus_of(t, c, ph, &base);
		auto_free char *path = NULL;

		if (!factor || !ph->count)
			continue;
		if (!ph->profile)
			return error_set(err, ERR_INTERNAL, "what phase '%s' counted was not kept",
				ph->name);
		path = path_join(folder, ph->profile);
		if (add_phase(p, path, factor, err) < 0)
			return error_context(err, "weight of phase '%s'", ph->name);
	}
	return 0;
}
