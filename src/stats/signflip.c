/* Sign-flip permutation test. Under the null hypothesis a launch's log ratio is as likely d as -d,
 * so every pattern of signs is equally likely. The statistic is the sum of signed ranks: a launch
 * that was disturbed weighs no more than its rank. One pattern acts on all scenarios of a launch at
 * once, which keeps their dependence, and p counts the patterns whose largest statistic over the
 * scenarios reaches the one observed (Westfall and Young's max-T). */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "stats/stats.h"

#define EXACT_LAUNCHES 20
#define SAMPLED_PATTERNS 100000

/* Twice the midrank of |d[i]| among all, so that ties stay whole numbers. */
static int64_t double_rank(const double *d, size_t n, size_t i)
{
	int64_t below = 0, equal = 0;

	for (size_t j = 0; j < n; j++) {
		below += fabs(d[j]) < fabs(d[i]);
		equal += fabs(d[j]) == fabs(d[i]);
	}
	return 2 * below + equal + 1;
}

struct flip {
	size_t m, n;
	int64_t *rank;     /* m x n, signed as observed; 0 for a difference of 0 */
	int64_t *sum;      /* of the current pattern, m */
	int64_t *observed; /* absolute, m */
	uint64_t *reached, patterns;
};

static void flip_count(struct flip *f)
{
	int64_t most = 0;

	for (size_t s = 0; s < f->m; s++)
		if (llabs(f->sum[s]) > most)
			most = llabs(f->sum[s]);
	for (size_t s = 0; s < f->m; s++)
		f->reached[s] += most >= f->observed[s];
	f->patterns++;
}

/* Turns launch l; sign is its new one against what was observed. */
static void flip_turn(struct flip *f, size_t l, int sign)
{
	for (size_t s = 0; s < f->m; s++)
		f->sum[s] += 2 * sign * f->rank[s * f->n + l];
}

/* All patterns in the order of a Gray code, so that each step turns one launch. The last launch is
 * never turned: a pattern and its opposite have the same absolute sums. */
static void flip_exact(struct flip *f)
{
	uint64_t count = (uint64_t)1 << (f->n - 1), gray = 0;

	flip_count(f);
	for (uint64_t i = 1; i < count; i++) {
		size_t l = (size_t)__builtin_ctzll(i);

		gray ^= (uint64_t)1 << l;
		flip_turn(f, l, (gray >> l) & 1 ? -1 : 1);
		flip_count(f);
	}
}

/* The observed pattern counts as one of the sample, so p is never 0. */
static void flip_sampled(struct flip *f, uint64_t seed)
{
	struct rng r;
	auto_free signed char *sign = xmalloc(f->n);

	for (size_t l = 0; l < f->n; l++)
		sign[l] = 1;
	rng_seed(&r, seed);
	flip_count(f);
	for (uint64_t i = 1; i < SAMPLED_PATTERNS; i++) {
		for (size_t l = 0; l < f->n; l++) {
			signed char now = rng_next(&r) >> 63 ? 1 : -1;

			if (now != sign[l])
				flip_turn(f, l, now);
			sign[l] = now;
		}
		flip_count(f);
	}
}

void stats_sign_flip(const double *d, size_t m, size_t n, uint64_t seed, double *p)
{
	auto_free int64_t *rank = xcalloc(m * n, sizeof(*rank));
	auto_free int64_t *sum = xcalloc(m, sizeof(*sum));
	auto_free int64_t *observed = xcalloc(m, sizeof(*observed));
	auto_free uint64_t *reached = xcalloc(m, sizeof(*reached));
	struct flip f = {m, n, rank, sum, observed, reached, 0};

	for (size_t s = 0; s < m; s++) {
		const double *v = d + s * n;

		for (size_t l = 0; l < n; l++) {
			int64_t r = double_rank(v, n, l);

			rank[s * n + l] = v[l] > 0 ? r : v[l] < 0 ? -r : 0;
			sum[s] += rank[s * n + l];
		}
		observed[s] = llabs(sum[s]);
	}
	if (n <= EXACT_LAUNCHES)
		flip_exact(&f);
	else
		flip_sampled(&f, seed);
	for (size_t s = 0; s < m; s++)
		p[s] = (double)reached[s] / (double)f.patterns;
}

uint32_t stats_launches_needed(size_t m)
{
	uint32_t n = STATS_MIN_LAUNCHES;

	/* m independent scenarios, each the most extreme pattern of 2^(n-1). */
	while (1 - pow(1 - ldexp(1, 1 - (int)n), (double)m) > 0.05)
		n++;
	return n;
}
