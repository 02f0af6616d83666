/* What a mere relink changes: variance between relinks, and the gain averaged over them. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stats/stats.h"

#define LEVEL 0.95

/* ---- one scenario ---------------------------------------------------------------------------- */

/* The relinks of one build: their means, and what launches and chance add. */
struct group {
	double mean, variance; /* of the means of the relinks */
	double error;          /* variance of one launch of one relink, beside both effects; NAN */
	double *launches;      /* means over the relinks */
};

static double square(double x)
{
	return x * x;
}

static void group_of(const double *y, uint32_t n, uint32_t launches, struct group *ret,
	struct luck_spread *spread)
{
	auto_free double *means = xcalloc(n, sizeof(*means));
	double sum = 0;

	ret->launches = xcalloc(launches, sizeof(*ret->launches));
	for (uint32_t i = 0; i < n; i++) {
		means[i] = stats_mean(y + (size_t)i * launches, launches);
		for (uint32_t l = 0; l < launches; l++)
			ret->launches[l] += y[(size_t)i * launches + l] / n;
	}
	ret->mean = stats_mean(means, n);
	ret->variance = square(stats_sd(means, n));
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t l = 0; l < launches; l++)
			sum += square(y[(size_t)i * launches + l] - means[i] - ret->launches[l] +
				      ret->mean);
	ret->error = launches > 1 ? sum / ((n - 1.0) * (launches - 1.0)) : NAN;
	spread->relinks = xcalloc(n, sizeof(*spread->relinks));
	spread->n_relinks = n;
	for (uint32_t i = 0; i < n; i++)
		spread->relinks[i] = exp(means[i] - ret->mean);
	spread->noise = sqrt(ret->error / launches);
	spread->sd = sqrt(fmax(ret->variance - ret->error / launches, 0));
	if (isnan(ret->error))
		spread->sd = NAN;
	spread->p = ret->error > 0 ? stats_f_tail(ret->variance * launches / ret->error, n - 1.0,
					     (n - 1.0) * (launches - 1.0))
				   : NAN;
	spread->range =
		expm1(stats_student_quantile((1 + LEVEL) / 2, n - 1) * sqrt(2 * ret->variance));
}

/* Half of the interval, on the scale of logs. */
static double half_width(const struct group *base, const struct group *own, uint32_t relinks,
	uint32_t launches, double level)
{
	auto_free double *gain = xcalloc(launches, sizeof(*gain));
	double a = base->variance / relinks, b = own->variance / relinks, c, df;

	if (launches < 2)
		return NAN;
	for (uint32_t l = 0; l < launches; l++)
		gain[l] = own->launches[l] - base->launches[l];
	c = square(stats_sd(gain, launches)) / launches;
	if (!(a + b + c > 0))
		return 0;
	df = square(a + b + c) /
	     ((square(a) + square(b)) / (relinks - 1.0) + square(c) / (launches - 1.0));
	return stats_student_quantile((1 + level) / 2, df) * sqrt(a + b + c);
}

void stats_relinks(
	const double *y, uint32_t relinks, uint32_t launches, double level, struct luck_row *ret)
{
	struct group base = {0}, own = {0};
	double gain, half;

	group_of(y, relinks, launches, &base, &ret->base);
	group_of(y + (size_t)relinks * launches, relinks, launches, &own, &ret->variant);
	gain = own.mean - base.mean;
	half = half_width(&base, &own, relinks, launches, level);
	ret->ratio = exp(gain);
	ret->low = exp(gain - half);
	ret->high = exp(gain + half);
	free(base.launches);
	free(own.launches);
}

/* ---- from samples to logs -------------------------------------------------------------------- */

/* log cost of one scenario by relink, launch and slice; NAN: there is none. */
struct costs {
	double *v;
	uint32_t arms, launches, slices;
};

static double *cost_at(const struct costs *c, uint32_t arm, uint32_t launch, uint32_t slice)
{
	return &c->v[((size_t)arm * c->launches + launch) * c->slices + slice];
}

static int measure(
	const struct samples *s, const struct luck_frame *f, struct costs *c, struct error *err)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct sample *x = &s->v[i];

		if (x->scenario >= f->n_scenarios)
			return error_set(err, ERR_MISMATCH,
				"a sample of scenario %" PRIu32 ", of which there are %zu",
				x->scenario + 1, f->n_scenarios);
		c->launches = x->launch >= c->launches ? x->launch + 1 : c->launches;
		c->slices = x->slice >= c->slices ? x->slice + 1 : c->slices;
	}
	c->arms = 2 * f->relinks;
	/* Also bounds what is allocated. */
	if (f->relinks < 2 || c->launches > s->n || c->slices > s->n || !s->n || c->arms > s->n)
		return error_set(err, ERR_MISMATCH, "no spread: %" PRIu32 " relinks, %zu samples",
			f->relinks, s->n);
	c->v = xcalloc((size_t)c->arms * c->launches, c->slices * sizeof(*c->v));
	return 0;
}

static int fill(const struct samples *s, uint32_t scenario, struct costs *c, struct error *err)
{
	for (size_t i = 0; i < (size_t)c->arms * c->launches * c->slices; i++)
		c->v[i] = NAN;
	for (size_t i = 0; i < s->n; i++) {
		const struct sample *x = &s->v[i];

		if (x->scenario != scenario || x->variant >= c->arms)
			continue;
		if (!x->requests || !x->cpu_ns)
			return error_set(err, ERR_MISMATCH,
				"a slice of relink %" PRIu32 " without requests or CPU time",
				x->variant + 1);
		*cost_at(c, x->variant, x->launch, x->slice) =
			log((double)x->cpu_ns / (double)x->requests);
	}
	return 0;
}

/* y of one launch: what each relink costs beside the mean of all in the same slice. work: room for
 * all relinks and slices. Returns -1 when a relink lacks a slice, or there is none. */
static int one_launch(const struct costs *c, uint32_t launch, double *work, double *y)
{
	size_t n = 0;

	for (uint32_t k = 0; k < c->slices; k++) {
		double mean = 0;

		for (uint32_t a = 0; a < c->arms; a++)
			mean += *cost_at(c, a, launch, k) / c->arms;
		if (isnan(mean)) {
			for (uint32_t a = 0; a < c->arms; a++)
				if (!isnan(*cost_at(c, a, launch, k)))
					return -1;
			continue;
		}
		for (uint32_t a = 0; a < c->arms; a++)
			work[(size_t)a * c->slices + n] = *cost_at(c, a, launch, k) - mean;
		n++;
	}
	for (uint32_t a = 0; a < c->arms; a++)
		y[(size_t)a * c->launches + launch] = stats_median(work + (size_t)a * c->slices, n);
	return n ? 0 : -1;
}

static int all_launches(const struct samples *s, const struct luck_frame *f, uint32_t scenario,
	struct costs *c, double *y, struct error *err)
{
	auto_free double *work = xcalloc((size_t)c->arms * c->slices, sizeof(*work));

	if (fill(s, scenario, c, err) < 0)
		return -1;
	for (uint32_t l = 0; l < c->launches; l++)
		if (one_launch(c, l, work, y) < 0)
			return error_set(err, ERR_MISMATCH,
				"scenario '%s', launch %" PRIu32
				": the slices of the relinks do not pair up",
				f->scenarios[scenario], l + 1);
	return 0;
}

static void add_row(struct luck *l, const struct luck_frame *f, size_t scenario, const double *y,
	uint32_t launches)
{
	bool all = scenario == f->n_scenarios;
	double level = all ? LEVEL : pow(LEVEL, 1 / (double)f->n_scenarios);
	struct luck_row r = {
		.scenario = all ? NULL : xstrdup(f->scenarios[scenario]),
		.held_out = !all && f->held_out && f->held_out[scenario],
		.shipped = f->shipped ? f->shipped[scenario] : NAN,
	};

	stats_relinks(y, f->relinks, launches, level, &r);
	r.inside = fabs(log(r.shipped)) <= log1p(r.base.range);
	array_reserve(l->v, l->n, l->cap);
	l->v[l->n++] = r;
}

int stats_luck(
	const struct samples *s, const struct luck_frame *f, struct luck *ret, struct error *err)
{
	struct costs c = {0};
	auto_free double *y = NULL, *all = NULL;
	size_t n;
	int r = 0;

	if (measure(s, f, &c, err) < 0)
		return -1;
	n = (size_t)c.arms * c.launches;
	y = xcalloc(n, sizeof(*y));
	all = xcalloc(n, sizeof(*all));
	for (uint32_t i = 0; i < f->n_scenarios && r == 0; i++) {
		r = all_launches(s, f, i, &c, y, err);
		if (r < 0)
			break;
		for (size_t k = 0; f->shares && k < n; k++)
			all[k] += f->shares[i] * y[k];
		add_row(ret, f, i, y, c.launches);
	}
	if (r == 0 && f->shares)
		add_row(ret, f, f->n_scenarios, all, c.launches);
	ret->launches = c.launches;
	free(c.v);
	return r;
}
