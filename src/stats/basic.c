#include <math.h>
#include <stdlib.h>

#include "stats/stats.h"

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double stats_median(double *v, size_t n)
{
	if (!n)
		return NAN;
	qsort(v, n, sizeof(*v), by_value);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

double stats_mean(const double *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i];
	return n ? sum / (double)n : NAN;
}

double stats_sd(const double *v, size_t n)
{
	double mean = stats_mean(v, n), sum = 0;

	if (n < 2)
		return NAN;
	for (size_t i = 0; i < n; i++)
		sum += (v[i] - mean) * (v[i] - mean);
	return sqrt(sum / (double)(n - 1));
}

double stats_normal_cdf(double z)
{
	return erfc(-z / sqrt(2)) / 2;
}

/* Continued fraction of the incomplete beta function (Lentz's method, Numerical Recipes 6.4). */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1), h;

	d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
	h = d;
	for (int m = 1; m <= 300; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

		d = 1 + even * d;
		d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
		c = 1 + even / (fabs(c) < 1e-300 ? 1e-300 : c);
		h *= d * c;
		d = 1 + odd * d;
		d = 1 / (fabs(d) < 1e-300 ? 1e-300 : d);
		c = 1 + odd / (fabs(c) < 1e-300 ? 1e-300 : c);
		h *= d * c;
		if (fabs(d * c - 1) < 1e-15)
			break;
	}
	return h;
}

/* Regularised incomplete beta function I_x(a, b). */
static double beta_regular(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x > 0;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double stats_f_tail(double f, double df1, double df2)
{
	return beta_regular(df2 / 2, df1 / 2, df2 / (df2 + df1 * f));
}

/* The value t > 0 with P(T > t) = tail, T of Student's distribution, or the normal one for df = 0.
 */
static double upper_quantile(double tail, double df)
{
	double low = 0, high = 1e15;

	for (int i = 0; i < 400 && high - low > 1e-14 * high; i++) {
		/* Geometric steps while the scale is unknown. */
		double t = low > 0 ? sqrt(low * high) : high * 1e-6;
		double p = df > 0 ? beta_regular(df / 2, 0.5, df / (df + t * t)) / 2
				  : stats_normal_cdf(-t);

		if (low <= 0 && t < 1e-12)
			return 0;
		if (p > tail)
			low = t;
		else
			high = t;
	}
	return high;
}

double stats_normal_quantile(double p)
{
	if (p == 0.5)
		return 0;
	return p < 0.5 ? -upper_quantile(p, 0) : upper_quantile(1 - p, 0);
}

double stats_student_quantile(double p, double df)
{
	if (p == 0.5)
		return 0;
	return p < 0.5 ? -upper_quantile(p, df) : upper_quantile(1 - p, df);
}

/* The x with I_x(a, b) = p. */
static double beta_quantile(double p, double a, double b)
{
	double low = 0, high = 1;

	for (int i = 0; i < 100; i++) {
		double x = (low + high) / 2;

		if (beta_regular(a, b, x) < p)
			low = x;
		else
			high = x;
	}
	return (low + high) / 2;
}

void stats_proportion(uint64_t k, uint64_t n, double *low, double *high)
{
	double hits = (double)k, rest = (double)(n - k);

	*low = k ? beta_quantile(0.025, hits, rest + 1) : 0;
	*high = k < n ? beta_quantile(0.975, hits + 1, rest) : 1;
}
