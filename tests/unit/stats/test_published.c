/* Worked examples out of the literature; each names its source and page. */
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

/* Hollander and Wolfe, Nonparametric Statistical Methods (1973), p. 29: Hamilton depression scale
 * factor of nine patients at the first and second visit after a therapy began. The signed rank
 * statistic is 40, and 10 of the 512 patterns of signs reach it on one side: p = 0.0195, two-sided
 * 0.0391. */
void test_hollander_wolfe(void **state)
{
	static const double first[] = {1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
	static const double second[] = {0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
	double d[9], p;

	for (int i = 0; i < 9; i++)
		d[i] = second[i] - first[i];
	stats_sign_flip(d, 1, 9, 1, &p);
	assert_near(p, 20.0 / 512, 1e-15);
}

/* Darwin's fifteen pairs of crossed and self-fertilised plants, in eighths of an inch: Fisher, The
 * Design of Experiments (1935), section 17, table 3. The negative ranks add up to 24; of the 2^15
 * patterns 676 are as extreme on one side (Wilcoxon's distribution), 1352 on both: p = 0.0413. */
void test_darwin(void **state)
{
	static const double d[] = {49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48};
	double p;

	stats_sign_flip(d, 1, 15, 1, &p);
	assert_near(p, 0.041259765625, 1e-15);
}

/* Abramowitz and Stegun, Handbook of Mathematical Functions (1964), p. 990, table 26.10: percentage
 * points of the t distribution, A(t|v) = 0.95, 0.99 and 0.999. */
void test_abramowitz_stegun_t(void **state)
{
	static const struct {
		double df, t[3];
	} rows[] = {
		{5, {2.571, 4.032, 6.869}},
		{9, {2.262, 3.250, 4.781}},
		{19, {2.093, 2.861, 3.883}},
		{30, {2.042, 2.750, 3.646}},
	};
	static const double level[] = {0.95, 0.99, 0.999};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		for (size_t k = 0; k < ARRAY_SIZE(level); k++)
			assert_near(stats_student_quantile((1 + level[k]) / 2, rows[i].df),
				rows[i].t[k], 5.0e-4);
}

/* Efron and Tibshirani, An Introduction to the Bootstrap (1993), p. 11, table 2.1: survival of the
 * treated mice. The distribution of the bootstrap median is known (Efron 1982, p. 77): it is at
 * most the k-th of the seven values when more than half of the n draws are, each with chance k/7.
 * For n = 7 that is 0.0102 for the smallest, and the expanded tail is 0.0041: the limits are the
 * outermost values. With each mouse five times (n = 35) it is 0.003 for the second and 0.194 for
 * the third value, and the tail 0.0202: the limits are the third and, by symmetry, the fifth. */
void test_efron_tibshirani_mice(void **state)
{
	static const double mice[] = {94, 197, 16, 38, 99, 141, 23};
	double five[35], low, high;

	stats_bootstrap(mice, 1, 7, 1, &low, &high);
	assert_near(low, 16, 0);
	assert_near(high, 197, 0);
	for (int i = 0; i < 35; i++)
		five[i] = mice[i % 7];
	stats_bootstrap(five, 1, 35, 1, &low, &high);
	assert_near(low, 38, 0);
	assert_near(high, 99, 0);
}

/* Newcombe, Two-sided confidence intervals for the single proportion, Statistics in Medicine 17
 * (1998), p. 861, table I: the exact method of Clopper and Pearson for four examples. */
void test_newcombe(void **state)
{
	static const struct {
		uint64_t k, n;
		double low, high;
	} rows[] = {
		{81, 263, 0.2527, 0.3676},
		{15, 148, 0.0578, 0.1617},
		{0, 20, 0, 0.1684},
		{1, 29, 0.0009, 0.1776},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		double low, high;

		stats_proportion(rows[i].k, rows[i].n, &low, &high);
		assert_near(low, rows[i].low, 5.0e-5);
		assert_near(high, rows[i].high, 5.0e-5);
	}
}
