#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "stats/stats.h"
#include "tests.h"

#define assert_near(a, b, eps) assert_true(fabs((a) - (b)) <= (eps))

/* The 95 % score interval of a proportion (Wilson 1927). */
static struct interval wilson(double hits, double n)
{
	const double z = 1.959964, p = hits / n;
	double root = z * sqrt(z * z + 4 * n * p * (1 - p)), middle = 2 * n * p + z * z;

	return (struct interval){
		p, (middle - root) / (2 * (n + z * z)), (middle + root) / (2 * (n + z * z))};
}

/* Newcombe, Interval estimation for the difference between independent proportions, Statistics in
 * Medicine 17 (1998), 873-890, Table II, method 10: the same recovery of variances, of Wilson's
 * intervals. */
void test_difference_published(void **state)
{
	static const struct {
		double a, m, b, n, low, high;
	} cases[] = {
		{56, 70, 48, 80, 0.0524, 0.3339},
		{9, 10, 3, 10, 0.1705, 0.8090},
		{6, 7, 2, 7, 0.0582, 0.8062},
		{5, 56, 0, 29, -0.0381, 0.1926},
		{0, 10, 0, 20, -0.1611, 0.2775},
		{10, 10, 0, 10, 0.6075, 1.0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct interval d = stats_difference(
			wilson(cases[i].a, cases[i].m), wilson(cases[i].b, cases[i].n));

		assert_near(d.low, cases[i].low, 0.00005);
		assert_near(d.high, cases[i].high, 0.00005);
	}
}

void test_change(void **state)
{
	const struct comparison before = {.ratio = 0.95, .low = 0.94, .high = 0.96};
	const struct comparison after = {.ratio = 0.99, .low = 0.98, .high = 1.0};
	const struct comparison touching = {.ratio = 0.97, .low = 0.96, .high = 0.98};
	const struct comparison unknown = {.ratio = 0.99, .low = NAN, .high = NAN};
	struct stats_change c = stats_change(&before, &after);

	/* computed by another program, in Python */
	assert_true(c.known);
	assert_false(c.overlap);
	assert_near(c.ratio.at, 1.04210526315789487, 1e-12);
	assert_near(c.ratio.low, 1.027016582205112716, 1e-12);
	assert_near(c.ratio.high, 1.05742546305377583, 1e-12);

	/* Intervals that have a value in common, and still the change is shown. */
	c = stats_change(&before, &touching);
	assert_true(c.overlap);
	assert_near(c.ratio.low, 1.006120617854109778, 1e-12);

	c = stats_change(&before, &unknown);
	assert_false(c.known);
	assert_near(c.ratio.at, 0.99 / 0.95, 1e-12);
	assert_true(isnan(c.ratio.low) && isnan(c.ratio.high));
}

/* Nearly normal: the sum of twelve. */
static double noise(struct rng *r)
{
	double sum = 0;

	for (int i = 0; i < 12; i++)
		sum += (double)(rng_next(r) >> 11) / 9007199254740992.0;
	return sum - 6;
}

static struct comparison measure(struct rng *r, double log_ratio, double sd)
{
	double d[10], low, high;

	for (size_t i = 0; i < ARRAY_SIZE(d); i++)
		d[i] = log_ratio + sd * noise(r);
	stats_bootstrap(d, 1, ARRAY_SIZE(d), rng_next(r), &low, &high);
	return (struct comparison){
		.ratio = exp(stats_median(d, ARRAY_SIZE(d))), .low = exp(low), .high = exp(high)};
}

/* Two measurements of ten launches each, of different noise: the interval of the change misses the
 * true one in at most 5 %, and is not so wide that it says nothing. */
void test_change_coverage(void **state)
{
	const double before = log(0.95), after = log(0.97);
	const size_t experiments = 400;
	double width = 0;
	size_t missed = 0;
	struct rng r;

	rng_seed(&r, 11);
	for (size_t i = 0; i < experiments; i++) {
		struct comparison a = measure(&r, before, 0.01), b = measure(&r, after, 0.02);
		struct stats_change c = stats_change(&a, &b);

		missed += c.ratio.low > 0.97 / 0.95 || c.ratio.high < 0.97 / 0.95;
		width += log(c.ratio.high / c.ratio.low) / (double)experiments;
	}
	print_message("the interval of a change missed it in %zu of %zu, mean width %.4f\n", missed,
		experiments, width);
	assert_true(missed <= experiments / 20);
	assert_true(missed > 0);
	assert_true(width < 0.06);
}
