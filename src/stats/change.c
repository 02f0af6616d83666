/* Two measurements that share no sample: what their intervals say of the difference. */
#include <math.h>

#include "stats/stats.h"

static double square(double v)
{
	return v * v;
}

struct interval stats_difference(struct interval a, struct interval b)
{
	double d = a.at - b.at;

	return (struct interval){
		.at = d,
		.low = d - sqrt(square(a.at - a.low) + square(b.high - b.at)),
		.high = d + sqrt(square(a.high - a.at) + square(b.at - b.low)),
	};
}

static struct interval log_of(const struct comparison *c)
{
	struct interval i = {log(c->ratio), log(c->low), log(c->high)};

	/* The estimate of a few launches can lie at an end of its interval, never beyond. */
	i.low = fmin(i.low, i.at);
	i.high = fmax(i.high, i.at);
	return i;
}

struct stats_change stats_change(const struct comparison *before, const struct comparison *after)
{
	struct stats_change ret = {.known = isfinite(before->low) && isfinite(before->high) &&
					    isfinite(after->low) && isfinite(after->high)};
	struct interval d;

	if (!ret.known) {
		ret.ratio = (struct interval){after->ratio / before->ratio, NAN, NAN};
		return ret;
	}
	d = stats_difference(log_of(after), log_of(before));
	ret.ratio = (struct interval){exp(d.at), exp(d.low), exp(d.high)};
	ret.overlap = before->low <= after->high && after->low <= before->high;
	return ret;
}
