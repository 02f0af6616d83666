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

/* The published reference values of splitmix64 and xoshiro256** for seed 0 and state {1,2,3,4}. */
static void test_rng_reference(void **state)
{
	struct rng r = {{1, 2, 3, 4}}, seeded;

	assert_true(rng_next(&r) == 11520ULL);
	assert_true(rng_next(&r) == 0ULL);
	assert_true(rng_next(&r) == 1509978240ULL);
	assert_true(rng_next(&r) == 1215971899390074240ULL);
	rng_seed(&seeded, 0);
	assert_true(seeded.s[0] == 0xe220a8397b1dcdafULL);
	assert_true(seeded.s[1] == 0x6e789e6aa1b965f4ULL);
}

static void test_rng_below(void **state)
{
	uint64_t count[7] = {0};
	struct rng r;

	rng_seed(&r, 1);
	for (int i = 0; i < 70000; i++)
		count[rng_below(&r, 7)]++;
	for (int i = 0; i < 7; i++)
		assert_in_range(count[i], 9600, 10400); /* 10000 within 4.3 sd */
	assert_true(rng_below(&r, 1) == 0);
}

static void test_shuffle(void **state)
{
	uint32_t v[5], first[5] = {0};
	struct rng r;

	rng_seed(&r, 2);
	for (int i = 0; i < 5000; i++) {
		uint32_t seen = 0;

		for (uint32_t k = 0; k < 5; k++)
			v[k] = k;
		rng_shuffle(&r, v, 5);
		for (int k = 0; k < 5; k++)
			seen |= 1U << v[k];
		assert_int_equal(seen, 31);
		first[v[0]]++;
	}
	for (int k = 0; k < 5; k++)
		assert_in_range(first[k], 880, 1120);
}

static void test_basics(void **state)
{
	double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2}, v[] = {2, 4, 4, 4, 5, 5, 7, 9};

	assert_near(stats_median(odd, 3), 2, 0);
	assert_near(stats_median(even, 4), 2.5, 0);
	assert_true(isnan(stats_median(odd, 0)));
	assert_near(stats_mean(v, 8), 5, 1e-12);
	assert_near(stats_sd(v, 8), 2.13808993529939517, 1e-12);
	assert_true(isnan(stats_sd(v, 1)));
}

/* Values of R: pnorm, qnorm, qt. */
static void test_distributions(void **state)
{
	assert_near(stats_normal_cdf(1.959963984540054), 0.975, 1e-12);
	assert_near(stats_normal_quantile(0.975), 1.959963984540054, 1e-9);
	assert_near(stats_normal_quantile(0.001), -3.090232306167813, 1e-9);
	assert_near(stats_student_quantile(0.975, 1), 12.706204736432095, 1e-7);
	assert_near(stats_student_quantile(0.975, 9), 2.262157162740992, 1e-8);
	assert_near(stats_student_quantile(0.025, 5), -2.570581835636314, 1e-8);
	assert_near(stats_student_quantile(0.9995, 30), 3.645958635394107, 1e-7);
	assert_near(stats_student_quantile(0.5, 4), 0, 0);
}

/* All launches one way: 2 of 2^n patterns. Counted by hand for three launches with ranks 1, 2, 3:
 * {+1,+2,-3} has sum 0, so every pattern reaches it. {-1,+2,+3}: sum 4, reached by +-6 and +-4. */
static void test_sign_flip_by_hand(void **state)
{
	double six[] = {-.01, -.02, -.03, -.04, -.05, -.06}, even[] = {1, 2, -3},
	       mostly[] = {-1, 2, 3};
	double p;

	stats_sign_flip(six, 1, 6, 1, &p);
	assert_near(p, 2.0 / 64, 1e-15);
	stats_sign_flip(even, 1, 3, 1, &p);
	assert_near(p, 1, 0);
	stats_sign_flip(mostly, 1, 3, 1, &p);
	assert_near(p, 4.0 / 8, 0);
}

static void test_sign_flip_zeros_and_ties(void **state)
{
	double zeros[] = {0, 0, 0, 0, 0, 0, 0}, ties[] = {1, 1, 1, -1};
	double p;

	stats_sign_flip(zeros, 1, 7, 1, &p);
	assert_near(p, 1, 0);
	/* Equal ranks: |sum| of four signs is 4 in 2, 2 in 8, 0 in 6 of 16 patterns; observed 2. */
	stats_sign_flip(ties, 1, 4, 1, &p);
	assert_near(p, 10.0 / 16, 0);
}

/* The same scenario twice costs nothing; the correction knows their dependence. Two scenarios
 * with other patterns cost more than one. */
static void test_max_t(void **state)
{
	double same[] = {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6};
	double other[] = {1, 2, 3, 4, 5, 6, 1, -2, 3, -4, 5, -6};
	double p[2];

	stats_sign_flip(same, 2, 6, 1, p);
	assert_near(p[0], 2.0 / 64, 0);
	assert_near(p[1], 2.0 / 64, 0);
	stats_sign_flip(other, 2, 6, 1, p);
	/* Patterns where all of one scenario's signed ranks agree: 2 for each, disjoint. */
	assert_near(p[0], 4.0 / 64, 0);
	assert_true(p[1] > 0.9);
}

/* Sampled beyond 20 launches: close to the normal approximation of the signed rank sum. */
static void test_sign_flip_sampled(void **state)
{
	double d[24], p, again, sum = 0, sd, exact;

	for (int i = 0; i < 24; i++) {
		d[i] = (i % 3 == 0 ? -1.0 : 1.0) * (i + 1);
		sum += d[i];
	}
	sd = sqrt(24.0 * 25 * 49 / 6);
	exact = 2 * stats_normal_cdf(-(sum - 1) / sd);
	stats_sign_flip(d, 1, 24, 7, &p);
	assert_near(p, exact, 0.01);
	stats_sign_flip(d, 1, 24, 7, &again);
	assert_true(p == again);
}

static void test_launches_needed(void **state)
{
	assert_int_equal(stats_launches_needed(1), 6);
	assert_int_equal(stats_launches_needed(2), 7);
	assert_int_equal(stats_launches_needed(4), 8);
	assert_int_equal(stats_launches_needed(12), 9);
}

/* Six launches: the interval is the whole range. */
static void test_bootstrap_range(void **state)
{
	double d[] = {.01, .05, .02, .04, .03, .06}, low, high, again_low, again_high;

	stats_bootstrap(d, 1, 6, 3, &low, &high);
	assert_near(low, .01, 1e-12);
	assert_near(high, .06, 1e-12);
	stats_bootstrap(d, 1, 6, 3, &again_low, &again_high);
	assert_true(low == again_low && high == again_high);
}

static void test_bootstrap_wider_for_more_scenarios(void **state)
{
	double d[12 * 20], low[12], high[12], low_one, high_one;
	struct rng r;

	rng_seed(&r, 4);
	for (size_t i = 0; i < ARRAY_SIZE(d); i++)
		d[i] = (double)rng_below(&r, 1000) / 1000;
	stats_bootstrap(d, 1, 20, 3, &low_one, &high_one);
	stats_bootstrap(d, 12, 20, 3, low, high);
	assert_true(low[0] < low_one);
	assert_true(high[0] > high_one);
}

static const char *const scenarios[] = {"doc", "mix"};
static const char *const variants[] = {"plain", "pgo", "null"};

static struct stats_frame frame(void)
{
	return (struct stats_frame){scenarios, 2, variants, 3, 2, 1, NULL, NULL};
}

/* Exact ratios: pgo is 0.9 in the first scenario and alternates around 1 in the second. The cost
 * drifts from slice to slice, which pairing must cancel. */
static void fill(struct samples *s, uint32_t launches)
{
	for (uint32_t l = 0; l < launches; l++)
		for (uint32_t i = 0; i < 2 * 3 * 5; i++) {
			uint32_t scenario = i % 2, variant = i / 2 % 3, slice = i / 6;
			double each = 10000 * (1 + slice) * (scenario + 1);
			double by = variant != 1 ? 1 : scenario ? (l % 2 ? 1.01 : 0.99) : 0.9;
			struct sample one = {l, scenario, variant, slice, 1000, 0, 100000, 0};

			one.cpu_ns = (uint64_t)(each * by) * 1000;
			one.driver_cpu_ns = scenario ? 97000 : 40000;
			samples_add(s, &one);
		}
}

static void test_compare(void **state)
{
	struct samples s = {0};
	struct stats_frame f = frame();
	struct comparisons c = {0};
	struct error err = ERROR_INIT;

	fill(&s, 10);
	assert_int_equal(stats_compare(&s, &f, &c, &err), 0);
	assert_int_equal(c.n, 4);
	assert_string_equal(c.v[0].scenario, "doc");
	assert_string_equal(c.v[0].variant, "pgo");
	assert_string_equal(c.v[0].base, "plain");
	assert_near(c.v[0].ratio, 0.9, 1e-9);
	assert_near(c.v[0].low, 0.9, 1e-9);
	assert_near(c.v[0].high, 0.9, 1e-9);
	assert_near(c.v[0].base_ns, 30000, 1e-6);
	assert_int_equal(c.v[0].launches, 10);
	assert_int_equal(c.v[0].slices, 50);
	assert_int_equal(c.v[0].shown, SHOWN_LESS);
	assert_int_equal(c.v[1].shown, SHOWN_NONE);
	assert_true(c.v[1].low < 1 && c.v[1].high > 1);
	assert_near(c.v[2].ratio, 1, 1e-12);
	assert_int_equal(c.v[2].shown, SHOWN_NONE);
	assert_near(c.v[2].p, 1, 0);
	assert_near(c.driver_busy, 0.97, 1e-12);
	assert_non_null(strstr(c.warnings, "client-bound: in scenario 'mix' the driver used 97 %"));
	comparisons_release(&c);
	samples_release(&s);
}

/* Shares 3/4 and 1/4: 0.9^(3/4) x (0.99 x 1.01)^(1/8), since the launches alternate. */
static void test_weighted(void **state)
{
	const double weights[] = {3, 1};
	const bool per_run[] = {false, true};
	struct samples s = {0};
	struct stats_frame f = frame();
	struct comparisons c = {0};
	struct error err = ERROR_INIT;

	f.weights = weights;
	f.per_run = per_run;
	fill(&s, 10);
	assert_int_equal(stats_compare(&s, &f, &c, &err), 0);
	assert_int_equal(c.n_weighted, 2);
	assert_string_equal(c.weighted[0].variant, "pgo");
	assert_string_equal(c.weighted[0].base, "plain");
	assert_near(c.weighted[0].ratio, 0.9240095357033704, 1e-12);
	assert_near(c.weighted[0].low, 0.9217023201760006, 1e-9);
	assert_near(c.weighted[0].high, 0.92632252667838, 1e-9);
	assert_near(c.weighted[0].p, 2.0 / 1024, 1e-15);
	assert_int_equal(c.weighted[0].shown, SHOWN_LESS);
	assert_string_equal(c.weighted[1].variant, "null");
	assert_near(c.weighted[1].ratio, 1, 1e-12);
	assert_int_equal(c.weighted[1].shown, SHOWN_NONE);
	assert_near(c.shares[0], 0.75, 1e-15);
	assert_near(c.shares[1], 0.25, 1e-15);
	assert_false(c.v[0].per_run);
	assert_true(c.v[1].per_run && c.v[3].per_run);
	/* The single scenarios are what they are without weights. */
	assert_near(c.v[0].ratio, 0.9, 1e-9);
	comparisons_release(&c);

	f.n_scenarios = 1; /* nothing to put together */
	for (size_t i = 0; i < s.n; i++)
		s.v[i].slice = s.v[i].slice * 2 + s.v[i].scenario, s.v[i].scenario = 0;
	assert_int_equal(stats_compare(&s, &f, &c, &err), 0);
	assert_int_equal(c.n_weighted, 0);
	assert_null(c.shares);
	comparisons_release(&c);
	samples_release(&s);
}

static void test_weighted_few_launches(void **state)
{
	const double weights[] = {3, 1};
	struct samples s = {0};
	struct stats_frame f = frame();
	struct comparisons c = {0};
	struct error err = ERROR_INIT;

	f.weights = weights;
	fill(&s, 5);
	assert_int_equal(stats_compare(&s, &f, &c, &err), 0);
	assert_true(
		isnan(c.weighted[0].low) && isnan(c.weighted[0].high) && isnan(c.weighted[0].p));
	assert_int_equal(c.weighted[0].shown, SHOWN_NONE);
	comparisons_release(&c);
	samples_release(&s);
}

static void test_too_few_launches(void **state)
{
	for (uint32_t launches = 1; launches <= 6; launches++) {
		struct samples s = {0};
		struct stats_frame f = frame();
		struct comparisons c = {0};
		struct error err = ERROR_INIT;

		f.n_scenarios = 1;
		fill(&s, launches);
		for (size_t i = 0, k = s.n = launches * 30; i < k; i++)
			s.v[i].scenario = 0, s.v[i].slice = (uint32_t)(i % 30 / 6 * 2 + i % 2);
		assert_int_equal(stats_compare(&s, &f, &c, &err), 0);
		if (launches < 6) {
			assert_int_equal(c.v[0].shown, SHOWN_NONE);
			assert_true(isnan(c.v[0].low) && isnan(c.v[0].high) && isnan(c.v[0].p));
			assert_non_null(strstr(c.warnings, "fewer than 6"));
		} else {
			assert_null(strstr(c.warnings, "fewer than 6"));
			assert_false(isnan(c.v[0].p));
		}
		comparisons_release(&c);
		samples_release(&s);
	}
}

static void test_null_arm_warning(void **state)
{
	struct samples s = {0};
	struct stats_frame f = frame();
	struct comparisons c = {0};
	struct error err = ERROR_INIT;

	fill(&s, 10);
	f.null_variant = 1;
	assert_int_equal(stats_compare(&s, &f, &c, &err), 0);
	assert_non_null(strstr(c.warnings,
		"the null arm (the base against its own copy) shows -10.0 % in scenario 'doc'"));
	comparisons_release(&c);
	samples_release(&s);
}

static void refuse(struct samples *s, const char *text)
{
	struct stats_frame f = frame();
	struct comparisons c = {0};
	struct error err = ERROR_INIT;

	assert_int_equal(stats_compare(s, &f, &c, &err), -1);
	assert_int_equal(err.code, ERR_MISMATCH);
	assert_non_null(strstr(err.msg, text));
	assert_null(c.v);
	error_release(&err);
	samples_release(s);
}

static void test_refusals(void **state)
{
	struct samples s = {0};

	refuse(&s, "nothing to compare");
	fill(&s, 6);
	s.v[3].cpu_ns = 0;
	refuse(&s, "has no CPU time");
	fill(&s, 6);
	s.v[3].requests = 0;
	refuse(&s, "has no request");
	fill(&s, 6);
	s.n--; /* the last slice of the null arm in "mix" */
	refuse(&s, "do not pair up");
	fill(&s, 6);
	s.v[7].variant = 3;
	refuse(&s, "variant 3");
	fill(&s, 6);
	s.v[7].launch = UINT32_MAX;
	refuse(&s, "launch 4294967296 of only");
	fill(&s, 6);
	s.v[6].slice = 0; /* twice the same position */
	refuse(&s, "do not pair up");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rng_reference),
		cmocka_unit_test(test_rng_below),
		cmocka_unit_test(test_shuffle),
		cmocka_unit_test(test_basics),
		cmocka_unit_test(test_distributions),
		cmocka_unit_test(test_sign_flip_by_hand),
		cmocka_unit_test(test_sign_flip_zeros_and_ties),
		cmocka_unit_test(test_max_t),
		cmocka_unit_test(test_sign_flip_sampled),
		cmocka_unit_test(test_launches_needed),
		cmocka_unit_test(test_bootstrap_range),
		cmocka_unit_test(test_bootstrap_wider_for_more_scenarios),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_weighted),
		cmocka_unit_test(test_weighted_few_launches),
		cmocka_unit_test(test_too_few_launches),
		cmocka_unit_test(test_null_arm_warning),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_difference_published),
		cmocka_unit_test(test_change),
		cmocka_unit_test(test_change_coverage),
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_drift_of_shapes),
		cmocka_unit_test(test_drift_alarm),
		cmocka_unit_test(test_recorded_drift),
		cmocka_unit_test(test_outliers),
		cmocka_unit_test(test_launches_one_by_one),
		cmocka_unit_test(test_more_launches),
		cmocka_unit_test(test_resolved),
		cmocka_unit_test(test_calibrate),
		cmocka_unit_test(test_steady),
		cmocka_unit_test(test_hollander_wolfe),
		cmocka_unit_test(test_darwin),
		cmocka_unit_test(test_abramowitz_stegun_t),
		cmocka_unit_test(test_efron_tibshirani_mice),
		cmocka_unit_test(test_newcombe),
		cmocka_unit_test(test_false_positives),
		cmocka_unit_test(test_interval_coverage),
		cmocka_unit_test(test_power),
		cmocka_unit_test(test_relinks),
		cmocka_unit_test(test_shrout_fleiss),
		cmocka_unit_test(test_relinks_at_the_edges),
		cmocka_unit_test(test_relinks_coverage),
		cmocka_unit_test(test_one_link_would_fail),
		cmocka_unit_test(test_luck_of_samples),
		cmocka_unit_test(test_luck_mismatch),
		cmocka_unit_test(test_stopping_by_width),
		cmocka_unit_test(test_slices_as_unit_would_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
