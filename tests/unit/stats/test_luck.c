/* What a mere relink changes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "stats/stats.h"
#include "tests.h"

#define assert_near(a, b, eps) assert_true(fabs((a) - (b)) <= (eps))

static void release_row(struct luck_row *r)
{
	free(r->scenario);
	luck_spread_release(&r->base);
	luck_spread_release(&r->variant);
}

/* Three relinks, four launches, in thousandths. The figures are NumPy's and SciPy's (t.ppf), by the
 * formulas of tests/e2e/statistics. */
static const double example[] = {12, -3, 4, 7, -9, -14, -8, -1, 3, 2, -5, 0, /* the base's */
	-44, -31, -38, -39, -36, -40, -29, -43, -50, -41, -47, -42};

void test_relinks(void **state)
{
	double y[ARRAY_SIZE(example)];
	struct luck_row r = {0}, at_99 = {0};

	for (size_t i = 0; i < ARRAY_SIZE(y); i++)
		y[i] = example[i] / 1000;
	stats_relinks(y, 3, 4, 0.95, &r);
	assert_near(r.base.sd, 0.0061373175465073235, 1e-12);
	assert_near(r.base.noise, 0.0023094010767585028, 1e-12);
	assert_near(r.base.range, 0.04070790547250648, 1e-9);
	assert_near(r.variant.sd, 0.003403429642777028, 1e-12);
	assert_near(r.variant.noise, 0.002723355773061365, 1e-12);
	assert_near(r.variant.range, 0.026878206862500732, 1e-9);
	assert_near(r.ratio, 0.9617507091463667, 1e-12);
	assert_near(r.low, 0.9488267657230149, 1e-9);
	assert_near(r.high, 0.974850689249589, 1e-9);
	/* the second relink: -8 of -1, thousandths */
	assert_int_equal(r.base.n_relinks, 3);
	assert_near(r.base.relinks[1], exp(-0.007), 1e-12);
	stats_relinks(y, 3, 4, 0.99, &at_99);
	assert_near(at_99.low, 0.9422459514191037, 1e-9);
	assert_near(at_99.high, 0.9816592208758903, 1e-9);
	release_row(&r);
	release_row(&at_99);
}

/* Shrout and Fleiss 1979, Intraclass correlations: uses in assessing rater reliability, table 2:
 * six targets, four judges. Published mean squares: 11.24 between targets, 1.02 residual. */
void test_shrout_fleiss(void **state)
{
	static const double data[] = {
		9, 2, 5, 8, 6, 1, 3, 2, 8, 4, 6, 8, 7, 1, 2, 6, 10, 5, 6, 9, 6, 2, 4, 7};
	double y[2 * ARRAY_SIZE(data)];
	struct luck_row r = {0};

	memcpy(y, data, sizeof(data));
	memcpy(y + ARRAY_SIZE(data), data, sizeof(data));
	stats_relinks(y, 6, 4, 0.95, &r);
	assert_near(4 * r.base.noise * r.base.noise, 1.02, 0.005);
	/* F(5, 15) = 11.03, published p < 0.01; SciPy: 0.0001346 */
	assert_near(r.base.p, 0.0001346, 2e-7);
	assert_near(4 * (r.base.sd * r.base.sd + r.base.noise * r.base.noise), 11.24, 0.005);
	assert_near(r.ratio, 1, 1e-12);
	release_row(&r);
}

/* One launch tells no noise from layout, and no interval; relinks that do not differ have none. */
void test_relinks_at_the_edges(void **state)
{
	const double one[] = {0.01, -0.01, 0.04, 0.02}, same[8] = {0, 0, 0, 0, 0.5, 0.5, 0.5, 0.5};
	struct luck_row r = {0}, none = {0};

	stats_relinks(one, 2, 1, 0.95, &r);
	assert_true(isnan(r.base.sd) && isnan(r.base.noise) && isnan(r.low) && isnan(r.high));
	/* t(0.975, 1) = 12.7062; s = 0.0141421 */
	assert_near(r.base.range, expm1(12.706204736174698 * 0.02), 1e-9);
	assert_near(r.ratio, exp(0.03), 1e-12);
	stats_relinks(same, 2, 2, 0.95, &none);
	assert_near(none.base.sd, 0, 0);
	assert_near(none.base.range, 0, 0);
	assert_near(none.low, exp(0.5), 1e-12);
	assert_near(none.high, exp(0.5), 1e-12);
	release_row(&r);
	release_row(&none);
}

/* ---- simulated experiments ------------------------------------------------------------------- */

static double uniform(struct rng *r)
{
	return ((double)(rng_next(r) >> 11) + 0.5) / 9007199254740992.0;
}

/* Box and Muller 1958. */
static double normal(struct rng *r)
{
	double radius = sqrt(-2 * log(uniform(r)));

	return radius * cos(2 * acos(-1) * uniform(r));
}

/* How relinks are made: standard deviations of layouts, of a launch (for each build its own), and
 * of one launch of one relink. */
struct world {
	double layout, launch, noise, gain;
	uint32_t relinks, launches;
};

static void experiment(struct rng *rng, const struct world *w, double *y)
{
	for (uint32_t v = 0; v < 2; v++) {
		auto_free double *launch = xcalloc(w->launches, sizeof(*launch));
		double *own = y + (size_t)v * w->relinks * w->launches;

		for (uint32_t l = 0; l < w->launches; l++)
			launch[l] = w->launch * normal(rng);
		for (uint32_t i = 0; i < w->relinks; i++) {
			double layout = w->layout * normal(rng);

			for (uint32_t l = 0; l < w->launches; l++)
				own[i * w->launches + l] =
					v * w->gain + layout + launch[l] + w->noise * normal(rng);
		}
	}
}

struct rates {
	double covered;   /* gains inside their interval */
	double predicted; /* differences of two further relinks, measured alike, inside the range */
	double variance;  /* mean of sd^2 */
};

static struct rates repeat(const struct world *w, int times)
{
	size_t n = (size_t)2 * w->relinks * w->launches;
	auto_free double *y = xcalloc(n, sizeof(*y)), *more = xcalloc(n, sizeof(*more));
	struct rates got = {0};
	struct rng rng;

	rng_seed(&rng, 11);
	for (int i = 0; i < times; i++) {
		struct luck_row r = {0};
		double a, b;

		experiment(&rng, w, y);
		experiment(&rng, w, more);
		stats_relinks(y, w->relinks, w->launches, 0.95, &r);
		a = stats_mean(more, w->launches);
		b = stats_mean(more + w->launches, w->launches);
		got.covered += (log(r.low) <= w->gain && w->gain <= log(r.high)) / (double)times;
		got.predicted += (fabs(a - b) <= log1p(r.base.range)) / (double)times;
		got.variance += r.base.sd * r.base.sd / times;
		release_row(&r);
	}
	return got;
}

/* 4000 experiments: a rate of 95 % has a standard deviation of 0.35 points. NumPy finds, in 40,000
 * experiments, that 95.6 and 94.7 % of the intervals cover the gain. */
void test_relinks_coverage(void **state)
{
	const struct world layouts = {0.01, 0.002, 0.004, -0.03, 5, 10};
	const struct world launches = {0.002, 0.01, 0.002, 0, 8, 6};
	struct rates r = repeat(&layouts, 4000);

	assert_in_range((uint64_t)(r.covered * 1000), 944, 968);
	assert_in_range((uint64_t)(r.predicted * 1000), 938, 962);
	assert_near(r.variance, 1e-4, 4e-6);
	r = repeat(&launches, 4000);
	assert_in_range((uint64_t)(r.covered * 1000), 936, 958);
	assert_in_range((uint64_t)(r.predicted * 1000), 938, 962);
	assert_near(r.variance, 4e-6, 2e-7);
}

/* Whoever links once and launches often covers the truth of that link, not of the program: with the
 * same layouts, the interval over the launches of one relink of each build misses the gain. */
void test_one_link_would_fail(void **state)
{
	const struct world w = {0.01, 0.002, 0.004, -0.03, 5, 10};
	double y[100];
	struct rng rng;
	int covered = 0;

	rng_seed(&rng, 12);
	for (int i = 0; i < 1000; i++) {
		double d[10], mean, half;

		experiment(&rng, &w, y);
		for (int l = 0; l < 10; l++)
			d[l] = y[50 + l] - y[l];
		mean = stats_mean(d, 10);
		half = stats_student_quantile(0.975, 9) * stats_sd(d, 10) / sqrt(10);
		covered += fabs(mean - w.gain) <= half;
	}
	assert_in_range(covered, 100, 500);
}

/* ---- from samples ---------------------------------------------------------------------------- */

/* Two scenarios, three relinks of each build and a further arm, two launches of three slices. A
 * slice costs 1000 ns, what launch and slice add to all alike, and what a relink adds in percent.
 */
static void add_samples(struct samples *s)
{
	static const int percent[] = {0, 1, 2, -10, -9, -8, 50};

	for (uint32_t i = 0; i < 2 * 7 * 2 * 3; i++) {
		uint32_t slice = i % 3, launch = i / 3 % 2, arm = i / 6 % 7, scenario = i / 42;
		double cost = (1000 + 100 * launch + 37 * slice) *
			      exp(percent[arm] / 100.0 * (scenario + 1));

		samples_add(s, &(struct sample){.launch = launch,
				       .scenario = scenario,
				       .variant = arm,
				       .slice = slice,
				       .requests = 100,
				       .cpu_ns = (uint64_t)(cost * 1e6 * 100)});
	}
}

static const char *const names[] = {"one", "two"};

void test_luck_of_samples(void **state)
{
	static const double shares[] = {0.75, 0.25}, shipped[] = {0.99, 0.8, NAN};
	static const bool held_out[] = {false, true};
	struct luck_frame f = {names, 2, 3, held_out, shares, shipped};
	struct samples s = {0};
	struct luck l = {0};
	struct error err = ERROR_INIT;

	add_samples(&s);
	assert_int_equal(stats_luck(&s, &f, &l, &err), 0);
	assert_int_equal(l.n, 3);
	assert_int_equal(l.launches, 2);
	assert_string_equal(l.v[0].scenario, "one");
	assert_near(l.v[0].ratio, exp(-0.1), 1e-9);
	assert_near(l.v[1].ratio, exp(-0.2), 1e-9);
	assert_near(l.v[0].base.sd, 0.01, 1e-9);
	assert_near(l.v[1].variant.sd, 0.02, 1e-9);
	assert_near(l.v[0].base.relinks[2], exp(0.01), 1e-9);
	/* t(0.975, 2) = 4.302653 */
	assert_near(l.v[0].base.range, expm1(4.302652729911275 * sqrt(2) * 0.01), 1e-8);
	assert_true(l.v[0].inside && !l.v[0].held_out);
	assert_true(!l.v[1].inside && l.v[1].held_out);
	assert_null(l.v[2].scenario);
	assert_near(l.v[2].ratio, exp(-0.125), 1e-9);
	assert_false(l.v[2].inside); /* not known */
	luck_release(&l);
	samples_release(&s);
}

static void expect_mismatch(const struct samples *s, const struct luck_frame *f, const char *says)
{
	struct luck l = {0};
	struct error err = ERROR_INIT;

	assert_int_equal(stats_luck(s, f, &l, &err), -1);
	assert_int_equal(err.code, ERR_MISMATCH);
	assert_non_null(strstr(err.msg, says));
	error_release(&err);
	luck_release(&l);
}

void test_luck_mismatch(void **state)
{
	struct luck_frame f = {.scenarios = names, .n_scenarios = 2, .relinks = 3};
	struct samples s = {0};

	expect_mismatch(&s, &f, "no spread");
	add_samples(&s);
	f.relinks = 4;
	expect_mismatch(&s, &f, "do not pair up");
	f.relinks = 3;
	f.n_scenarios = 1;
	expect_mismatch(&s, &f, "of which there are 1");
	f.n_scenarios = 2;
	s.v[7].requests = 0;
	expect_mismatch(&s, &f, "without requests");
	s.v[7].requests = 100;
	s.v[7].launch = UINT32_MAX - 1;
	expect_mismatch(&s, &f, "no spread");
	samples_release(&s);
}
