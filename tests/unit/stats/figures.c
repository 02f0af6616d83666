/* Prints what the statistics make of numbers, for tests/e2e/statistics, which compares it with
 * SciPy: signflip M N D...    p of M scenarios of N launches bootstrap M N D...   low and high of
 * each line D...            slope and value at 0 t P DF, normal P     quantiles proportion K N low
 * and high drift D...           of a series relinks N L LEVEL D... spreads and gain */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stats/stats.h"

static double *numbers(char **v, size_t n)
{
	double *d = xcalloc(n + 1, sizeof(*d));

	for (size_t i = 0; i < n; i++)
		d[i] = strtod(v[i], NULL);
	return d;
}

static void launches(const char *what, char **v, size_t given)
{
	size_t m = strtoul(v[0], NULL, 10), n = strtoul(v[1], NULL, 10);
	auto_free double *d = numbers(v + 2, given - 2);
	auto_free double *a = xcalloc(m, sizeof(*a)), *b = xcalloc(m, sizeof(*b));

	if (m * n != given - 2)
		exit(2);
	if (strcmp(what, "signflip") == 0)
		stats_sign_flip(d, m, n, 1, a);
	else
		stats_bootstrap(d, m, n, 1, a, b);
	for (size_t i = 0; i < m; i++)
		printf("%.17g %.17g\n", a[i], b[i]);
}

/* N relinks of each build, L launches, level of the gain's interval. */
static void relinks(char **v, size_t given)
{
	uint32_t n = (uint32_t)strtoul(v[0], NULL, 10), l = (uint32_t)strtoul(v[1], NULL, 10);
	auto_free double *y = numbers(v + 3, given - 3);
	struct luck_row r = {0};

	if ((size_t)2 * n * l != given - 3)
		exit(2);
	stats_relinks(y, n, l, strtod(v[2], NULL), &r);
	printf("%.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", r.base.sd,
		r.base.noise, r.base.range, r.variant.sd, r.variant.noise, r.variant.range, r.ratio,
		r.low, r.high, r.base.p);
	luck_spread_release(&r.base);
	luck_spread_release(&r.variant);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	size_t n = argc > 2 ? (size_t)argc - 2 : 0;
	auto_free double *d = numbers(argv + 2, n);
	double a = 0, b = 0;

	if (strcmp(what, "signflip") == 0 || strcmp(what, "bootstrap") == 0) {
		launches(what, argv + 2, n);
		return 0;
	}
	if (strcmp(what, "relinks") == 0 && n > 3) {
		relinks(argv + 2, n);
		return 0;
	}
	if (strcmp(what, "line") == 0)
		stats_line(d, n, &a, &b);
	else if (strcmp(what, "drift") == 0)
		a = stats_drift(d, n);
	else if (strcmp(what, "t") == 0)
		a = stats_student_quantile(d[0], d[1]);
	else if (strcmp(what, "normal") == 0)
		a = stats_normal_quantile(d[0]);
	else if (strcmp(what, "proportion") == 0)
		stats_proportion((uint64_t)d[0], (uint64_t)d[1], &a, &b);
	else
		return 2;
	printf("%.17g %.17g\n", a, b);
	return 0;
}
