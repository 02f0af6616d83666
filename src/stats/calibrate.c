/* What a base compared with itself shows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stats/stats.h"

static const struct comparison *find(const struct comparisons *c, const struct comparison *as)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->v[i].scenario, as->scenario) == 0 &&
			strcmp(c->v[i].variant, as->variant) == 0)
			return &c->v[i];
	return NULL;
}

static void calibrate_one(const struct comparisons *const *runs, size_t n,
	const struct comparison *as, struct calibrated *ret)
{
	auto_free double *half = xcalloc(n, sizeof(*half)), *off = xcalloc(n, sizeof(*off));
	size_t k = 0;

	*ret = (struct calibrated){.scenario = xstrdup(as->scenario)};
	for (size_t i = 0; i < n; i++) {
		const struct comparison *c = find(runs[i], as);

		if (!c || !isfinite(c->low) || !isfinite(c->high))
			continue;
		half[k] = stats_half_width(c);
		off[k] = fabs(c->ratio - 1);
		ret->worst = fmax(ret->worst, off[k++]);
		ret->shown += c->shown != SHOWN_NONE;
	}
	ret->runs = k;
	if (!k)
		ret->worst = NAN;
	ret->half_width = stats_median(half, k);
	ret->typical = stats_median(off, k);
}

static bool shows(const struct comparisons *c, const char *variant)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->v[i].shown != SHOWN_NONE && strcmp(c->v[i].variant, variant) == 0)
			return true;
	return false;
}

int stats_calibrate(
	const struct comparisons *const *runs, size_t n, struct calibration *ret, struct error *err)
{
	struct calibration got = {.runs = n};
	const char *null;
	size_t first;

	if (!n || !runs[0]->n)
		return error_set(err, ERR_MISMATCH, "there is no comparison to calibrate by");
	/* The null arm comes last. */
	null = runs[0]->v[runs[0]->n - 1].variant;
	first = runs[0]->n;
	while (first && strcmp(runs[0]->v[first - 1].variant, null) == 0)
		first--;
	got.n = runs[0]->n - first;
	got.base = xstrdup(runs[0]->v[first].base);
	got.launches = runs[0]->v[first].launches;
	got.v = xcalloc(got.n, sizeof(*got.v));
	for (size_t i = 0; i < got.n; i++)
		calibrate_one(runs, n, &runs[0]->v[first + i], &got.v[i]);
	for (size_t i = 0; i < n; i++)
		got.false_runs += shows(runs[i], null);
	stats_proportion(got.false_runs, n, &got.low, &got.high);
	*ret = got;
	return 0;
}
