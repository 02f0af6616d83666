/* Variants against one another. The base is in every slice, but it is left out here: two variants
 * of one slice are nearer to each other than either is to what a third one measured. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stats/stats.h"

/* The samples of two variants, the first as the base. */
static void take_two(const struct samples *s, uint32_t base, uint32_t variant, struct samples *ret)
{
	for (size_t i = 0; i < s->n; i++) {
		struct sample one = s->v[i];

		if (one.variant != base && one.variant != variant)
			continue;
		one.variant = one.variant == variant;
		samples_add(ret, &one);
	}
}

int stats_pair(const struct samples *s, const struct stats_frame *f, uint32_t base,
	uint32_t variant, struct comparisons *ret, struct error *err)
{
	const char *names[2] = {f->variants[base], f->variants[variant]};
	struct stats_frame two = *f;
	struct samples own = {0};
	int r;

	two.variants = names;
	two.n_variants = 2;
	two.null_variant = UINT32_MAX;
	two.until_resolved = 0;
	take_two(s, base, variant, &own);
	r = stats_compare(&own, &two, ret, err);
	samples_release(&own);
	return r;
}

/* Of each launch the log ratio of all scenarios together; caller frees. */
static double *by_launch(const struct samples *s, const struct stats_frame *f, uint32_t base,
	uint32_t variant, size_t *n, struct error *err)
{
	struct comparisons c = {0};
	const struct comparison *all;
	double *d = NULL;

	if (stats_pair(s, f, base, variant, &c, err) == 0) {
		all = c.n_weighted ? &c.weighted[0] : &c.v[0];
		d = xcalloc(all->launches, sizeof(*d));
		for (size_t i = 0; i < all->launches; i++)
			d[i] = log(all->by_launch[i]);
		*n = all->launches;
	}
	comparisons_release(&c);
	return d;
}

static void conclude(
	const struct stats_frame *f, double *d, size_t launches, struct stats_rival *v, size_t n)
{
	auto_free double *low = xcalloc(n, sizeof(*low)), *high = xcalloc(n, sizeof(*high));
	auto_free double *p = xcalloc(n, sizeof(*p));
	bool enough = launches >= STATS_MIN_LAUNCHES;

	stats_sign_flip(d, n, launches, f->seed, p);
	stats_bootstrap(d, n, launches, f->seed, low, high);
	for (size_t i = 0; i < n; i++) {
		v[i].ratio = (struct interval){exp(stats_median(d + i * launches, launches)),
			enough ? exp(low[i]) : NAN, enough ? exp(high[i]) : NAN};
		v[i].more = enough && p[i] <= 0.05 && low[i] > 0;
		v[i].less = enough && p[i] <= 0.05 && high[i] < 0;
	}
}

int stats_rivals(const struct samples *s, const struct stats_frame *f, uint32_t base,
	struct stats_rival *v, size_t n, struct error *err)
{
	auto_free double *d = NULL;
	size_t launches = 0;

	if (!n)
		return 0;
	if (!f->weights && f->n_scenarios > 1)
		return error_set(err, ERR_MISMATCH,
			"%zu scenarios without weights have no figure together", f->n_scenarios);
	for (size_t i = 0; i < n; i++) {
		size_t own = 0;
		auto_free double *row = by_launch(s, f, base, v[i].variant, &own, err);

		if (!row)
			return -1;
		if (!d) {
			launches = own;
			d = xcalloc(n * launches, sizeof(*d));
		}
		if (own != launches)
			return error_set(err, ERR_MISMATCH,
				"%zu launches of one and %zu of another", launches, own);
		memcpy(d + i * launches, row, launches * sizeof(*row));
	}
	conclude(f, d, launches, v, n);
	return 0;
}
