/* Prints what the statistics make of numbers, for tests/e2e/statistics, which compares it with
 * SciPy: signflip M N D...    p of M scenarios of N launches bootstrap M N D...   low and high of
 * each line D...            slope and value at 0 t P DF, normal P     quantiles proportion K N low
 * and high drift D...           of a series */
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
