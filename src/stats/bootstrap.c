/* Intervals by percentile bootstrap over launches: launches are drawn with replacement and the
 * median is taken of each draw. The level is that of Sidak for m intervals that shall hold
 * together, and the tails are expanded for the small number of launches (Hesterberg 2015): the
 * plain percentile interval is too narrow by sqrt((n-1)/n) and by normal instead of Student
 * quantiles. Why not BCa, and why not a joint level taken from the draws: docs/measuring.md. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "stats/stats.h"

#define DRAWS 10000
#define LEVEL 0.95

/* A median is the mean of two order statistics (i <= j), so there are few possible values: the
 * draws are counted by value instead of sorted. */
struct outcome {
	double value;
	uint32_t pair;              /* i * n + j */
	uint32_t at_most, at_least; /* draws with a value <= and >= this one */
};

struct scenario {
	struct outcome *by_value; /* n (n + 1) / 2, sorted */
	uint32_t *rank;           /* of each launch */
	uint32_t *count;          /* draws, by pair */
};

static int by_value(const void *a, const void *b)
{
	double x = ((const struct outcome *)a)->value, y = ((const struct outcome *)b)->value;

	return (x > y) - (x < y);
}

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void scenario_init(struct scenario *c, const double *d, size_t n)
{
	auto_free double *sorted = xcalloc(n, sizeof(*sorted));
	struct outcome *o;

	c->by_value = o = xcalloc(n * (n + 1) / 2, sizeof(*o));
	c->rank = xcalloc(n, sizeof(*c->rank));
	c->count = xcalloc(n * n, sizeof(*c->count));
	for (size_t l = 0; l < n; l++) {
		sorted[l] = d[l];
		for (size_t k = 0; k < n; k++) /* ties in the order of the launches */
			c->rank[l] += d[k] < d[l] || (d[k] == d[l] && k < l);
	}
	qsort(sorted, n, sizeof(*sorted), by_number);
	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++)
			*o++ = (struct outcome){
				(sorted[i] + sorted[j]) / 2, (uint32_t)(i * n + j), 0, 0};
	qsort(c->by_value, n * (n + 1) / 2, sizeof(*o), by_value);
}

static void scenario_free(struct scenario *c)
{
	free(c->by_value);
	free(c->rank);
	free(c->count);
}

/* The two middle ones of n picked ranks, by counting how often each rank was picked. */
static uint32_t median_pair(const uint32_t *picked_by_rank, size_t n)
{
	size_t first = (n - 1) / 2, second = n / 2, seen = 0, i = 0, j;

	while (seen + picked_by_rank[i] <= first)
		seen += picked_by_rank[i++];
	j = i;
	while (seen + picked_by_rank[j] <= second)
		seen += picked_by_rank[j++];
	return (uint32_t)(i * n + j);
}

static void draw_all(struct scenario *c, size_t m, size_t n, uint64_t seed)
{
	auto_free uint32_t *pick = xcalloc(n, sizeof(*pick));
	auto_free uint32_t *picked = xcalloc(n, sizeof(*picked));
	struct rng r;

	rng_seed(&r, seed);
	for (size_t b = 0; b < DRAWS; b++) {
		for (size_t i = 0; i < n; i++)
			pick[i] = (uint32_t)rng_below(&r, n);
		for (size_t s = 0; s < m; s++) {
			for (size_t i = 0; i < n; i++)
				picked[i] = 0;
			for (size_t i = 0; i < n; i++)
				picked[c[s].rank[pick[i]]]++;
			c[s].count[median_pair(picked, n)]++;
		}
	}
}

/* Cumulative counts by value; equal values together. */
static void count_tails(struct scenario *c, size_t n)
{
	size_t size = n * (n + 1) / 2, end;
	uint32_t before = 0;

	for (size_t i = 0; i < size; i = end) {
		uint32_t here = 0;

		for (end = i; end < size && c->by_value[end].value == c->by_value[i].value; end++)
			here += c->count[c->by_value[end].pair];
		for (size_t k = i; k < end; k++) {
			struct outcome *o = &c->by_value[k];

			o->at_most = before + here;
			o->at_least = DRAWS - before;
		}
		before += here;
	}
}

/* One-sided. */
static double expanded_tail(size_t m, size_t n)
{
	double both = 1 - pow(LEVEL, 1 / (double)m);
	double t = stats_student_quantile(both / 2, (double)(n - 1));

	return stats_normal_cdf(t * sqrt((double)n / (double)(n - 1)));
}

static void limits(const struct scenario *c, size_t n, double tail, double *low, double *high)
{
	size_t size = n * (n + 1) / 2, i = 0, j = size - 1;
	double outside = tail * DRAWS;

	while (i + 1 < size && c->by_value[i].at_most <= outside)
		i++;
	while (j > 0 && c->by_value[j].at_least <= outside)
		j--;
	*low = c->by_value[i].value;
	*high = c->by_value[j].value;
}

void stats_bootstrap(const double *d, size_t m, size_t n, uint64_t seed, double *low, double *high)
{
	auto_free struct scenario *c = xcalloc(m, sizeof(*c));
	double tail = 0;

	for (size_t s = 0; s < m; s++)
		scenario_init(&c[s], d + s * n, n);
	draw_all(c, m, n, seed);
	for (size_t s = 0; s < m; s++)
		count_tails(&c[s], n);
	if (n > 1)
		tail = expanded_tail(m, n);
	for (size_t s = 0; s < m; s++) {
		limits(&c[s], n, tail, &low[s], &high[s]);
		scenario_free(&c[s]);
	}
}
