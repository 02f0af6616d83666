/* Statistics of the comparison: pure functions, no clock, no I/O. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "facts/trial.h"

/* Deterministic generator (xoshiro256**, Blackman and Vigna 2018), seeded by splitmix64. */
struct rng {
	uint64_t s[4];
};
void rng_seed(struct rng *r, uint64_t seed);
uint64_t rng_next(struct rng *r);
uint64_t rng_below(struct rng *r, uint64_t n); /* unbiased, n > 0 */
void rng_shuffle(struct rng *r, uint32_t *v, size_t n);

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
};
/* Per scenario and variant: per launch the median over slices of the log ratio to the base slice of the same
 * position; estimate = median over launches; interval by bootstrap over launches, corrected over scenarios
 * (max-T); p by sign-flip permutation over launches (exact for up to 20, sampled beyond), max-T over the
 * scenarios. docs/measuring.md. */
int stats_compare(const struct samples *s, const struct stats_frame *f, struct comparisons *ret,
	struct error *err);
