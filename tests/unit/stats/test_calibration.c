/* The whole procedure on simulated machines: how often does it show a difference where there is
 * none, and how often does it find one that is there. The noise is what was measured on a shared
 * virtual machine: pairs of 50 ms slices differ by an sd of 3.9 % with heavy tails, on top of what
 * both share, and each process has a bias that lasts as long as it lives (sd 0.45 %). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "stats/stats.h"
#include "tests.h"

#define SCENARIOS 3
#define SLICES 12
#define EXPERIMENTS 200
#define BIAS 0.0045
#define RESOLVE_MOST 60

static const char *const scenarios[] = {"a", "b", "c"};
static const char *const variants[] = {"plain", "other"};

static double uniform(struct rng *r)
{
	return ((double)(rng_next(r) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(struct rng *r)
{
	return sqrt(-2 * log(uniform(r))) * cos(2 * M_PI * uniform(r));
}

/* One slice in ten is disturbed five times as much. */
static double noise(struct rng *r)
{
	return normal(r) * (rng_below(r, 10) ? 1 : 5);
}

static void simulate(
	struct rng *r, uint32_t launches, double effect, double bias_sd, struct samples *s)
{
	for (uint32_t l = 0; l < launches; l++) {
		double bias[2] = {bias_sd * normal(r), bias_sd * normal(r)};

		for (uint32_t i = 0; i < SCENARIOS * SLICES; i++) {
			double shared = 0.03 * noise(r);

			for (uint32_t v = 0; v < 2; v++) {
				double x = bias[v] + shared + 0.015 * noise(r) + (v ? effect : 0);
				struct sample one = {l, i % SCENARIOS, v, i / SCENARIOS, 6000, 0,
					50000000, 20000000};

				one.cpu_ns = (uint64_t)(exp(x) * 48e6);
				samples_add(s, &one);
			}
		}
	}
}

static int compare(const struct samples *s, uint64_t seed, struct comparisons *c)
{
	struct stats_frame f = {scenarios, SCENARIOS, variants, 2, UINT32_MAX, seed};
	struct error err = ERROR_INIT;

	return stats_compare(s, &f, c, &err);
}

/* The largest count that is no evidence (1 % one-sided) for a rate above p. */
static unsigned binomial_bound(unsigned n, double p)
{
	double term = pow(1 - p, n), sum = term;
	unsigned k = 0;

	while (sum < 0.99) {
		term *= (double)(n - k) / (double)(k + 1) * p / (1 - p);
		sum += term;
		k++;
	}
	return k;
}

struct tally {
	unsigned family; /* experiments that showed a difference somewhere */
	unsigned missed; /* experiments in which an interval did not cover the truth */
	unsigned single; /* scenarios shown */
};

static struct tally experiments(uint32_t launches, double effect, unsigned n, uint64_t seed)
{
	struct tally t = {0};
	struct rng r;

	rng_seed(&r, seed);
	for (unsigned e = 0; e < n; e++) {
		struct samples s = {0};
		struct comparisons c = {0};
		unsigned shown = 0, missed = 0;

		simulate(&r, launches, effect, BIAS, &s);
		assert_int_equal(compare(&s, e, &c), 0);
		for (size_t i = 0; i < c.n; i++) {
			shown += c.v[i].shown != SHOWN_NONE;
			missed += exp(effect) < c.v[i].low || exp(effect) > c.v[i].high;
		}
		t.single += shown;
		t.family += shown > 0;
		t.missed += missed > 0;
		comparisons_release(&c);
		samples_release(&s);
	}
	return t;
}

void test_false_positives(void **state)
{
	struct tally t = experiments(10, 0, EXPERIMENTS, 11);

	print_message("false positives: %u of %d experiments of %d scenarios (bound %u)\n",
		t.family, EXPERIMENTS, SCENARIOS, binomial_bound(EXPERIMENTS, 0.05));
	assert_true(t.family <= binomial_bound(EXPERIMENTS, 0.05));
}

void test_interval_coverage(void **state)
{
	static const uint32_t launches[] = {8, 10, 15, 24};

	for (size_t i = 0; i < ARRAY_SIZE(launches); i++) {
		struct tally t = experiments(launches[i], -0.05, EXPERIMENTS / 2, 12 + i);

		print_message("%u launches: not covered in %u of %d experiments (bound %u)\n",
			launches[i], t.missed, EXPERIMENTS / 2,
			binomial_bound(EXPERIMENTS / 2, 0.05));
		assert_true(t.missed <= binomial_bound(EXPERIMENTS / 2, 0.05));
	}
}

void test_power(void **state)
{
	struct tally t = experiments(10, 0.02, 100, 13);

	print_message("power for 2 %%: %u of %d\n", t.single, 100 * SCENARIOS);
	assert_true(t.single >= 240); /* 80 % of 300 */
}

/* One launch more, for each of the scenarios: what two processes differ by, and what their slices
 * leave. d holds `most` launches for each. */
static void next_launch(struct rng *r, double *d, size_t most, size_t n)
{
	double bias = BIAS * (normal(r) - normal(r));

	for (size_t s = 0; s < SCENARIOS; s++)
		d[s * most + n] = bias + 0.004 * noise(r);
}

/* Goes on until all intervals are narrow. Sets whether a difference was shown and one was missed.
 */
static size_t until_resolved(struct rng *r, double wanted, size_t most, bool *shown, bool *missed)
{
	double d[SCENARIOS * RESOLVE_MOST], v[SCENARIOS * RESOLVE_MOST], low[SCENARIOS],
		high[SCENARIOS], p[SCENARIOS], widest = INFINITY;
	size_t n = 0;

	while (n < most && !(n >= 10 && widest <= wanted)) {
		next_launch(r, d, most, n++);
		if (n < 10)
			continue;
		for (size_t s = 0; s < SCENARIOS; s++)
			for (size_t l = 0; l < n; l++)
				v[s * n + l] = d[s * most + l];
		stats_bootstrap(v, SCENARIOS, n, n, low, high);
		widest = 0;
		for (size_t s = 0; s < SCENARIOS; s++)
			widest = fmax(widest, (high[s] - low[s]) / 2);
	}
	stats_sign_flip(v, SCENARIOS, n, 1, p);
	*shown = *missed = false;
	for (size_t s = 0; s < SCENARIOS; s++) {
		*missed |= low[s] > 0 || high[s] < 0;
		*shown |= (low[s] > 0 || high[s] < 0) && p[s] <= 0.05;
	}
	return n;
}

/* Stopping by width leaves the error rates as they are. */
void test_stopping_by_width(void **state)
{
	unsigned shown = 0, missed = 0, launches = 0, n = 100;
	struct rng r;

	rng_seed(&r, 15);
	for (unsigned e = 0; e < n; e++) {
		bool one_shown, one_missed;

		launches +=
			(unsigned)until_resolved(&r, 0.007, RESOLVE_MOST, &one_shown, &one_missed);
		shown += one_shown;
		missed += one_missed;
	}
	print_message("until resolved: %u of %u false, %u missed, %.1f launches\n", shown, n,
		missed, (double)launches / n);
	assert_true(shown <= binomial_bound(n, 0.05));
	assert_true(missed <= binomial_bound(n, 0.05));
	assert_true(launches > 10 * n && launches < RESOLVE_MOST * n);
}

/* The check can fail: taking each slice as a launch of its own ignores the process's bias (the
 * largest measured, 1.23 %), and the bound is broken. */
void test_slices_as_unit_would_fail(void **state)
{
	unsigned family = 0;
	struct rng r;

	rng_seed(&r, 14);
	for (unsigned e = 0; e < 100; e++) {
		struct samples s = {0};
		struct comparisons c = {0};
		bool shown = false;

		simulate(&r, 2, 0, 0.0123, &s);
		for (size_t i = 0; i < s.n; i++) {
			s.v[i].launch = s.v[i].launch * SLICES + s.v[i].slice;
			s.v[i].slice = 0;
		}
		assert_int_equal(compare(&s, e, &c), 0);
		for (size_t i = 0; i < c.n; i++)
			shown |= c.v[i].shown != SHOWN_NONE;
		family += shown;
		comparisons_release(&c);
		samples_release(&s);
	}
	print_message("slices taken as launches: %u of 100 false\n", family);
	assert_true(family > binomial_bound(100, 0.05));
}
