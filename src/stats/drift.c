/* The drift of a series: a course is laid through it by a moving line of repeated medians (Siegel
 * 1982; as a moving window: Davies, Fried and Gather 2004), which neither single disturbed values
 * bend nor its ends flatten, as a moving median would. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stats/stats.h"

#define POINTS_MAX 600 /* a longer series is put together to blocks */
#define WINDOW_MIN STATS_DRIFT_MIN
#define WINDOW_MAX 61
#define FAR_OUT 3.5

size_t stats_outliers(const double *v, size_t n, bool *ret)
{
	auto_free double *work = xcalloc(n + 1, sizeof(*work));
	double median, mad;
	size_t found = 0;

	memcpy(work, v, n * sizeof(*work));
	median = stats_median(work, n);
	for (size_t i = 0; i < n; i++)
		work[i] = fabs(v[i] - median);
	mad = stats_median(work, n);
	for (size_t i = 0; i < n; i++) {
		ret[i] = mad > 0 && 0.6745 * fabs(v[i] - median) / mad > FAR_OUT;
		found += ret[i];
	}
	return found;
}

void stats_line(const double *v, size_t n, double *ret_slope, double *ret_at_0)
{
	auto_free double *by_point = xcalloc(n, sizeof(*by_point));
	auto_free double *work = xcalloc(n, sizeof(*work));

	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		for (size_t j = 0; j < n; j++)
			if (j != i)
				work[k++] = (v[j] - v[i]) / ((double)j - (double)i);
		by_point[i] = stats_median(work, k);
	}
	*ret_slope = stats_median(by_point, n);
	for (size_t i = 0; i < n; i++)
		work[i] = v[i] - *ret_slope * (double)i;
	*ret_at_0 = stats_median(work, n);
}

/* Medians of blocks of equal length. Returns how many. */
static size_t thin(const double *v, size_t n, double *ret)
{
	size_t block = (n + POINTS_MAX - 1) / POINTS_MAX, kept = 0;
	auto_free double *work = xcalloc(block + 1, sizeof(*work));

	for (size_t i = 0; i < n; i += block) {
		size_t len = n - i < block ? n - i : block;

		memcpy(work, v + i, len * sizeof(*work));
		ret[kept++] = stats_median(work, len);
	}
	return kept;
}

double stats_drift(const double *v, size_t n)
{
	auto_free double *point = xcalloc(n + 1, sizeof(*point));
	double least = INFINITY, most = 0;
	size_t window, step;

	if (n < STATS_DRIFT_MIN)
		return NAN;
	n = thin(v, n, point);
	window = n / 5 < WINDOW_MIN ? WINDOW_MIN : n / 5 > WINDOW_MAX ? WINDOW_MAX : n / 5;
	step = window / 8 ? window / 8 : 1;
	for (size_t i = 0;; i = i + step < n ? i + step : n - 1) {
		size_t from = i < window / 2 ? 0 : i - window / 2;
		double slope, at_0, here;

		if (from + window > n)
			from = n - window;
		stats_line(point + from, window, &slope, &at_0);
		here = at_0 + slope * (double)(i - from);
		least = here < least ? here : least;
		most = here > most ? here : most;
		if (i == n - 1)
			break;
	}
	return least > 0 ? most / least - 1 : INFINITY;
}

char *stats_drift_alarm(double drift)
{
	if (!(drift > DRIFT_TOLERANCE))
		return NULL;
	return xasprintf(
		"alarm: the canary, fixed work on the subject's processor, drifted by %.1f %% over "
		"the run (tolerance %.0f %%): the processor did not keep its speed. Read the "
		"differences and their intervals, which compare slices of the same moments, and "
		"not to the decimal; do not compare CPU times with those of other scenarios or "
		"runs. Nothing was corrected by it",
		drift * 100, DRIFT_TOLERANCE * 100);
}
