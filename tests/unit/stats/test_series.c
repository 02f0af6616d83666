/* Drift of a series, and outliers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "recorded.h"
#include "stats/stats.h"
#include "tests.h"

#define assert_near(a, b, eps) assert_true(fabs((a) - (b)) <= (eps))

void test_line(void **state)
{
	/* Two of seven points far away change nothing. */
	const double v[] = {10, 12, 900, 16, 18, -500, 22};
	double slope, at_0;

	stats_line(v, 7, &slope, &at_0);
	assert_near(slope, 2, 1e-12);
	assert_near(at_0, 10, 1e-12);
}

/* A course of n values from 1 to 1 + change, straight, by a step in the middle, or up and back
 * down; every tenth value is disturbed by up to 40 %. */
static double drift_of(size_t n, double change, char shape)
{
	auto_free double *v = xcalloc(n, sizeof(*v));
	struct rng r;

	rng_seed(&r, n);
	for (size_t i = 0; i < n; i++) {
		double x = (double)i / (double)(n - 1);
		double way = shape == '/' ? x : shape == '_' ? x > 0.5 : 1 - fabs(2 * x - 1);

		v[i] = 1e6 * (1 + change * way);
		if (i % 10 == 7)
			v[i] *= 1 + (double)rng_below(&r, 400) / 1000;
	}
	return stats_drift(v, n);
}

void test_drift_of_shapes(void **state)
{
	static const size_t lengths[] = {50, 120, 599, 1440, 20000};

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		assert_near(drift_of(lengths[i], 0.031, '/'), 0.031, 2e-4);
		assert_near(drift_of(lengths[i], 0.029, '/'), 0.029, 2e-4);
		assert_near(drift_of(lengths[i], 0.05, '_'), 0.05, 5e-3);
		assert_near(drift_of(lengths[i], 0.05, '^'), 0.05, 5e-3);
		assert_near(drift_of(lengths[i], 0, '/'), 0, 1e-9);
	}
	assert_near(drift_of(9, 0.031, '/'), 0.031, 2e-3);
	assert_true(isnan(drift_of(8, 0.031, '/')));
	assert_true(isnan(stats_drift(NULL, 0)));
}

/* The recorded series with its deviations from the median shrunk to a power. */
static double recorded_drift(double power)
{
	double v[ARRAY_SIZE(recorded)], median;

	memcpy(v, recorded, sizeof(v));
	median = stats_median(v, ARRAY_SIZE(v));
	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		v[i] = round(median * pow(recorded[i] / median, power));
	return stats_drift(v, ARRAY_SIZE(v));
}

/* The drifts are SciPy's figures, as tests/e2e/statistics makes them. */
void test_recorded_drift(void **state)
{
	char *quiet = stats_drift_alarm(recorded_drift(0.537791670347739));
	auto_free char *loud = stats_drift_alarm(recorded_drift(0.5743249675916388));

	assert_near(recorded_drift(1), 0.05459236781517851, 1e-12);
	assert_near(recorded_drift(0.537791670347739), 0.029, 1e-6);
	assert_near(recorded_drift(0.5743249675916388), 0.031, 1e-6);
	assert_null(quiet);
	assert_non_null(strstr(loud, "drifted by 3.1 % over the run"));
}

void test_drift_alarm(void **state)
{
	auto_free char *loud = stats_drift_alarm(0.031);

	assert_null(stats_drift_alarm(0.03));
	assert_null(stats_drift_alarm(0.029));
	assert_null(stats_drift_alarm(NAN));
	assert_non_null(strstr(loud, "drifted by 3.1 % over the run (tolerance 3 %)"));
	assert_non_null(strstr(loud, "Read the differences and their intervals"));
}

void test_outliers(void **state)
{
	/* Median 3, MAD 1: 0.6745 |v - 3| / 1 is 3.37 for 8 and 3.71 for 8.5. */
	const double near[] = {1, 2, 3, 4, 8, 2, 4}, far[] = {1, 2, 3, 4, 8.5, 2, 4};
	const double equal[] = {5, 5, 5, 5, 9}, two[] = {1, 1000};
	bool is[7];

	assert_int_equal(stats_outliers(near, 7, is), 0);
	assert_int_equal(stats_outliers(far, 7, is), 1);
	assert_true(is[4] && !is[0] && !is[6]);
	assert_int_equal(stats_outliers(equal, 5, is), 0);
	assert_int_equal(stats_outliers(two, 2, is), 0);
	assert_int_equal(stats_outliers(NULL, 0, is), 0);
}

/* Two variants, 8 launches of 6 slices. The other costs 0.9 of the base, in launch 3 1.5, and in
 * the first slice of every launch 1.1; the slices of a launch vary a little. */
void test_launches_one_by_one(void **state)
{
	static const char *const scenarios[] = {"doc"}, *const variants[] = {"plain", "pgo"};
	const struct stats_frame f = {scenarios, 1, variants, 2, UINT32_MAX, 1};
	struct samples s = {0};
	struct comparisons c = {0};

	for (uint32_t i = 0; i < 8 * 6 * 2; i++) {
		struct sample one = {i / 12, 0, i % 2, i % 12 / 2, 1000, 1000000, 100000, 0};
		double by = one.launch == 3 ? 1.5 : one.slice ? 0.9 : 1.1;

		by += 0.001 * (one.slice % 3) + 0.002 * (one.launch % 3);
		one.cpu_ns = one.variant ? (uint64_t)(1e6 * by) : 1000000;
		samples_add(&s, &one);
	}
	for (uint32_t i = 0; i < 40; i++) {
		struct canary one = {i / 5, i, 1000000 + i * 1000};

		samples_add_canary(&s, &one);
	}
	assert_int_equal(stats_compare(&s, &f, &c, NULL), 0);
	assert_int_equal(c.v[0].better_launches, 7);
	assert_int_equal(c.v[0].better_slices, 7 * 5);
	assert_int_equal(c.v[0].outlier_slices, 7);
	for (uint32_t l = 0; l < 8; l++)
		assert_int_equal(c.v[0].outlier[l], l == 3);
	assert_near(c.v[0].by_launch[3], 1.501, 1e-9);
	assert_near(c.v[0].by_launch[4], sqrt(0.903 * 0.904), 1e-6);
	assert_near(c.drift, 0.039, 1e-9);
	assert_non_null(c.drift_alarm);
	comparisons_release(&c);
	samples_release(&s);
}

static struct comparison interval(double low, double high, uint32_t launches)
{
	return (struct comparison){.low = low, .high = high, .launches = launches};
}

/* Twice as wide as wanted: four times the launches. */
void test_more_launches(void **state)
{
	struct comparison c = interval(0.97, 0.99, 10);

	assert_near(stats_half_width(&c), 0.01, 1e-12);
	assert_int_equal(stats_more_launches(&c, 0.005), 30);
	assert_int_equal(stats_more_launches(&c, 0.0100001), 0);
	assert_int_equal(stats_more_launches(&c, 0.00999), 1);
	assert_int_equal(stats_more_launches(&c, 1e-9), 1000000);
	c = interval(NAN, NAN, 4);
	assert_true(isinf(stats_half_width(&c)));
	assert_int_equal(stats_more_launches(&c, 0.5), 2);
}

/* Two scenarios, the second of which varies, against the base and its null arm, which varies more.
 */
static void vary(struct samples *s)
{
	for (uint32_t i = 0; i < 10 * 2 * 3 * 2; i++) {
		struct sample one = {i / 12, i / 6 % 2, i % 3, i / 3 % 2, 1000, 1000000, 100000, 0};
		double by = one.launch % 2 ? 0.02 : -0.02;

		if (one.variant == 2)
			one.cpu_ns = (uint64_t)(1e6 * (1 + 4 * by));
		else if (one.variant && one.scenario)
			one.cpu_ns = (uint64_t)(1e6 * (1 + by));
		samples_add(s, &one);
	}
}

void test_resolved(void **state)
{
	static const char *const scenarios[] = {"even", "uneven"};
	static const char *const variants[] = {"plain", "pgo", "null"};
	static const bool first[] = {true, false}, held_out[] = {false, true};
	static const double weights[] = {1, 0};
	struct stats_frame f = {scenarios, 2, variants, 3, 2, 1, .until_resolved = 0.005};
	struct samples s = {0};
	struct comparisons c = {0};

	vary(&s);
	f.held_out = held_out;
	f.weights = weights;
	assert_int_equal(stats_compare(&s, &f, &c, NULL), 0);
	assert_int_equal(c.v[0].more_launches, 0);
	/* 10 launches, half-width 2 %: 16 times as many, and 10 are there. */
	assert_near(stats_half_width(&c.v[1]), 0.02, 1e-9);
	assert_int_equal(c.v[1].more_launches, 150);
	assert_int_equal(c.v[2].more_launches + c.v[3].more_launches, 0);
	assert_int_equal(stats_unresolved(&c), 150);
	assert_true(c.v[1].held_out && c.v[3].held_out && !c.v[0].held_out);
	assert_null(c.shares); /* one alone has a weight */
	assert_true(c.until_resolved == 0.005);
	comparisons_release(&c);
	f.resolve = first;
	assert_int_equal(stats_compare(&s, &f, &c, NULL), 0);
	assert_int_equal(stats_unresolved(&c), 0);
	comparisons_release(&c);
	samples_release(&s);
}

/* A warm-up that falls by 5 % a slice, then stays. */
void test_steady(void **state)
{
	double v[24] = {0};

	for (int i = 0; i < 24; i++)
		v[i] = i < 12 ? 100 * pow(0.95, i) : v[11] * (i % 2 ? 1.01 : 0.99);
	for (size_t n = 0; n <= 12; n++)
		assert_false(stats_steady(v, n));
	assert_true(stats_steady(v, 20));
	/* One disturbed value does not hide the fall, nor feign one. */
	v[10] = 500;
	assert_false(stats_steady(v, 12));
	v[18] = 1;
	assert_true(stats_steady(v, 20));
	/* The bound: 2 %. */
	for (int i = 0; i < 8; i++)
		v[i] = i < 4 ? 1000 : 981;
	assert_true(stats_steady(v, 8));
	for (int i = 4; i < 8; i++)
		v[i] = 979;
	assert_false(stats_steady(v, 8));
}

/* Three runs of two scenarios; the second run shows a difference in the second. */
void test_calibrate(void **state)
{
	char names[][5] = {"doc", "mix", "null"};
	struct comparison v[3][2];
	struct comparisons c[3];
	const struct comparisons *runs[3];
	struct calibration got;
	struct error err = ERROR_INIT;

	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < 2; k++)
			v[i][k] = (struct comparison){.scenario = names[k],
				.variant = names[2],
				.ratio = 1 + 0.001 * (i - 1) * (k + 1),
				.low = 0.99 - 0.001 * i,
				.high = 1.01 + 0.001 * i,
				.launches = 10};
		c[i] = (struct comparisons){.v = v[i], .n = 2};
		runs[i] = &c[i];
	}
	v[1][1].ratio = 1.004;
	v[1][1].shown = SHOWN_MORE;
	assert_int_equal(stats_calibrate(runs, 3, &got, &err), 0);
	assert_int_equal(got.runs, 3);
	assert_int_equal(got.false_runs, 1);
	assert_int_equal(got.n, 2);
	assert_string_equal(got.v[1].scenario, "mix");
	assert_int_equal(got.v[1].shown, 1);
	assert_int_equal(got.v[0].shown, 0);
	assert_near(got.v[0].half_width, 0.011, 1e-12);
	assert_near(got.v[0].typical, 0.001, 1e-12);
	assert_near(got.v[1].worst, 0.004, 1e-12);
	assert_near(got.low, 0.0084037, 1e-6); /* Clopper and Pearson, 1 of 3 */
	assert_near(got.high, 0.9057007, 1e-6);
	assert_int_equal(got.launches, 10);
	calibration_release(&got);
	assert_int_equal(stats_calibrate(runs, 0, &got, &err), -1);
	error_release(&err);
}
