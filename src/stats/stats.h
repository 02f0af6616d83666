/* Statistics of the comparison: pure functions, no clock, no I/O. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "facts/luck.h"
#include "facts/calibration.h"
#include "facts/trial.h"

/* Deterministic generator (xoshiro256**, Blackman and Vigna 2018), seeded by splitmix64. */
struct rng {
	uint64_t s[4];
};
void rng_seed(struct rng *r, uint64_t seed);
uint64_t rng_next(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t n); /* unbiased, n > 0 */
void rng_shuffle(struct rng *r, uint32_t *v, size_t n);

/* runs: comparisons of one base with its null arm, the last n of each; all have the scenarios of
 * the first. ret gets what they show; when and where is the caller's to add. Release ret.
 * ERR_MISMATCH when there is none. */
int stats_calibrate(const struct comparisons *const *runs, size_t n, struct calibration *ret,
	struct error *err);

double stats_median(double *v, size_t n); /* reorders v; NAN when n is 0 */
double stats_mean(const double *v, size_t n);
double stats_sd(const double *v, size_t n);

/* Names of the indices used in samples. variants[0] is the base. null_variant: index of the base's
 * second copy (the null arm), or UINT32_MAX. */
struct stats_frame {
	const char *const *scenarios;
	size_t n_scenarios;
	const char *const *variants;
	size_t n_variants;
	uint32_t null_variant;
	uint64_t seed;
	const double *weights; /* of the scenarios, each >= 0, their sum finite; NULL: no summary */
	const bool *per_run;   /* of the scenarios; NULL: none */
	const bool *held_out;  /* of the scenarios; NULL: none */
	double until_resolved; /* half-width asked for; 0: none */
	const bool *resolve;   /* the scenarios for which it is; NULL: all */
};
/* Per scenario and variant: per launch the median over slices of the log ratio to the base slice of
 * the same position; estimate = median over launches. Interval: percentile bootstrap over launches,
 * widened for small numbers of launches and for the number of scenarios (all hold together at 95
 * %); p by sign-flip permutation of the signed ranks over launches (exact for up to 20, sampled
 * beyond), max-T over the scenarios. docs/measuring.md.
 *
 * With weights above 0 for more than one scenario there is one more figure per variant: per launch
 * the weighted mean of its log ratios (a weighted geometric mean of ratios), and of these the same
 * estimate, interval and p, which hold for this one figure.
 *
 * Below STATS_MIN_LAUNCHES launches nothing can be shown: low, high and p are NAN, shown is
 * SHOWN_NONE and a warning says so. Fills driver_busy too. ERR_MISMATCH when an index is outside
 * the frame, a scenario or variant lacks a launch, or a slice has no counterpart, requests or CPU
 * time. The result is a function of samples and frame alone. */
#define STATS_MIN_LAUNCHES 6
int stats_compare(const struct samples *s, const struct stats_frame *f, struct comparisons *ret,
	struct error *err);

/* An estimate with its 95 % interval. */
struct interval {
	double at, low, high;
};

/* Two variants, the first as the base: as stats_compare() of their samples alone. */
int stats_pair(const struct samples *s, const struct stats_frame *f, uint32_t base,
	uint32_t variant, struct comparisons *ret, struct error *err);

/* One variant against another, all scenarios together. */
struct stats_rival {
	uint32_t variant;      /* index in the samples */
	struct interval ratio; /* to the other one; low and high NAN: too few launches */
	bool less, more;       /* what it is shown to cost against the other one */
};
/* Each of v against `base`, which may be any variant of the frame: as the figure of all scenarios
 * of stats_compare() (by f->weights, or of the only scenario), and the intervals and tests hold
 * together over v. ERR_MISMATCH as stats_compare(), and for several scenarios without weights. */
int stats_rivals(const struct samples *s, const struct stats_frame *f, uint32_t base,
	struct stats_rival *v, size_t n, struct error *err);

/* ---- Two measurements ------------------------------------------------------------------------ */

/* a - b, of two independent estimates, by their intervals alone: the method of variance estimates
 * recovery (Zou and Donner 2008, Statistics in Medicine 27, 1693-1702). Where one interval is
 * wider to one side, so is the result. */
struct interval stats_difference(struct interval a, struct interval b);

/* How a ratio to the base changed from one measurement to another, each against its own base. */
struct stats_change {
	struct interval ratio; /* after by before: 1.02 costs 2 % more, beside its base */
	bool known;            /* both have an interval; otherwise low and high are NAN */
	bool overlap;          /* the two intervals have a value in common */
};
struct stats_change stats_change(const struct comparison *before, const struct comparison *after);

/* ---- The pieces, for tests and other users -------------------------------------------------- */

double stats_normal_cdf(double z);
double stats_normal_quantile(double p);             /* 0 < p < 1 */
double stats_student_quantile(double p, double df); /* 0 < p < 1, df >= 1 */
/* P(F > f), F of Fisher's distribution with df1 and df2 degrees of freedom; f >= 0. */
double stats_f_tail(double f, double df1, double df2);

/* The 95 % interval of a proportion, k of n, after Clopper and Pearson (1934); n > 0. */
void stats_proportion(uint64_t k, uint64_t n, double *low, double *high);

/* d holds n launches of each of m scenarios, d[scenario * n + launch]; n > 0. p gets m values. */
void stats_sign_flip(const double *d, size_t m, size_t n, uint64_t seed, double *p);
/* The same layout; low and high get m values each, on the scale of d. */
void stats_bootstrap(const double *d, size_t m, size_t n, uint64_t seed, double *low, double *high);
/* Marks those that lie far from the others: more than 3.5 robust standard deviations (0.6745 |v -
 * median| / MAD, Iglewicz and Hoaglin 1993) from the median; none when more than half are equal.
 * Returns how many. Nothing is ever left out for it. */
size_t stats_outliers(const double *v, size_t n, bool *ret);
/* The line through points with x = 0, 1, … n-1 by repeated medians (Siegel 1982): up to half of the
 * points may be anywhere. n > 1. */
void stats_line(const double *v, size_t n, double *ret_slope, double *ret_at_0);
/* Whether a series of costs, in the order in which they came, has stopped falling: the median of
 * its last values is at most 2 % below the median of as many before them. False for fewer values
 * than STATS_STEADY_NEEDS. */
#define STATS_STEADY_NEEDS 8
bool stats_steady(const double *v, size_t n);
/* How far a series of positive values drifts: the largest value of its smoothed course against the
 * smallest, minus 1. NAN for fewer than STATS_DRIFT_MIN values. */
#define STATS_DRIFT_MIN 9
double stats_drift(const double *v, size_t n);
/* The sentence of a drift above DRIFT_TOLERANCE; NULL below, and for NAN. Caller frees. */
char *stats_drift_alarm(double drift);
/* Half of the interval, as a share of the base's cost; INFINITY when there is none. */
double stats_half_width(const struct comparison *c);
/* About how many more launches than it has make its interval as narrow as wanted: the width falls
 * with the square root of the launches. 0: it is. */
uint32_t stats_more_launches(const struct comparison *c, double wanted);
/* The most that any comparison lacks; 0: all are as narrow as was asked. */
uint32_t stats_unresolved(const struct comparisons *c);
/* The fewest launches with which m scenarios can be shown at all, all of them going one way. */
uint32_t stats_launches_needed(size_t m);

/* ---- Relinks --------------------------------------------------------------------------------- */

/* What samples of relinks stand for: variants 0 to relinks-1 are the base's, the next as many the
 * other build's, and what follows is not looked at. */
struct luck_frame {
	const char *const *scenarios;
	size_t n_scenarios;
	uint32_t relinks;      /* of each build, 2 or more */
	const bool *held_out;  /* of the scenarios; NULL: none */
	const double *shares;  /* of the scenarios, their sum is 1; NULL: nothing for all of them */
	const double *shipped; /* ratios of the builds as they ship, the last one for all; NAN */
};
/* Fills rows and launches of ret. The relink and the launch are both random factors, crossed:
 * every relink is alive in every launch. Per launch, a relink's figure is the median over the
 * slices of its log cost against the mean of all relinks in the same slice.
 *
 * Spread: variance components by the analysis of variance (Searle, Casella and McCulloch, Variance
 * Components, 1992, chapter 4), from the means of the relinks and from what is left beside relink
 * and launch. Range: the 95 % prediction interval of the difference of two new means, normal,
 * sqrt(2) s t(n-1). Gain: difference of the averages over the relinks; its variance is the sum of
 * those over relinks and over launches (min F', Clark 1973, Journal of Verbal Learning and Verbal
 * Behavior 12, 335-359: never too small, since the error is in both), its degrees of freedom are
 * Satterthwaite's (1946). That a build's layout is a source of variance of its own, to be sampled
 * by building it again: Kalibera and Jones 2013, Rigorous Benchmarking in Reasonable Time. The
 * intervals of the gains hold together over the scenarios (Sidak); the ranges each by itself.
 *
 * ERR_MISMATCH when a relink lacks a slice, requests or CPU time. */
int stats_luck(
	const struct samples *s, const struct luck_frame *f, struct luck *ret, struct error *err);
/* One scenario: y[relink * launches + launch], the base's relinks and then the other's; level: of
 * the gain's interval. Sets all but names and shipped. */
void stats_relinks(
	const double *y, uint32_t relinks, uint32_t launches, double level, struct luck_row *ret);
