#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "stats/stats.h"

#define CLIENT_BOUND 0.95

/* The samples in the order scenario, variant, launch, slice. */
struct sorted {
	const struct sample **v;
	size_t n;
	size_t launches;
};

static int by_place(const void *a, const void *b)
{
	const struct sample *x = *(const struct sample *const *)a;
	const struct sample *y = *(const struct sample *const *)b;

	if (x->scenario != y->scenario)
		return x->scenario < y->scenario ? -1 : 1;
	if (x->variant != y->variant)
		return x->variant < y->variant ? -1 : 1;
	if (x->launch != y->launch)
		return x->launch < y->launch ? -1 : 1;
	if (x->slice != y->slice)
		return x->slice < y->slice ? -1 : 1;
	return 0;
}

static int check_sample(const struct sample *s, const struct stats_frame *f, struct error *err)
{
	if (s->scenario >= f->n_scenarios || s->variant >= f->n_variants)
		return error_set(err, ERR_MISMATCH,
			"sample of scenario %" PRIu32 " and variant %" PRIu32
			", but there are %zu scenarios and %zu variants",
			s->scenario, s->variant, f->n_scenarios, f->n_variants);
	if (!s->requests || !s->cpu_ns)
		return error_set(err, ERR_MISMATCH,
			"scenario '%s', variant '%s', launch %" PRIu32 ", slice %" PRIu32
			" has %s: nothing can be measured by it",
			f->scenarios[s->scenario], f->variants[s->variant], s->launch + 1,
			s->slice + 1, s->requests ? "no CPU time" : "no request");
	return 0;
}

/* The samples of one scenario, variant and launch. */
static const struct sample **cell(
	const struct sorted *t, size_t scenario, size_t variant, size_t launch, size_t *n)
{
	struct sample key = {.scenario = (uint32_t)scenario, .variant = (uint32_t)variant};
	size_t low = 0, high = t->n, first;

	key.launch = (uint32_t)launch;
	while (low < high) {
		size_t mid = (low + high) / 2;
		const struct sample *k = &key;

		if (by_place(&t->v[mid], &k) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	first = low;
	while (low < t->n && t->v[low]->scenario == scenario && t->v[low]->variant == variant &&
		t->v[low]->launch == launch)
		low++;
	*n = low - first;
	return t->v + first;
}

static double per_request(const struct sample *s)
{
	return (double)s->cpu_ns / (double)s->requests;
}

/* What the slices of one scenario and variant are one by one. */
struct counts {
	uint32_t better, outliers;
};

/* Room for the slices of a launch. */
struct room {
	double *ratio;
	bool *outlier;
};

/* The median log ratio of one launch; counts what its slices are. */
static int launch_ratio(const struct sorted *t, const uint32_t at[3], struct room *room,
	double *ret, struct counts *counts)
{
	double *work = room->ratio;
	size_t n_base, n;
	const struct sample **base = cell(t, at[0], 0, at[2], &n_base);
	const struct sample **own = cell(t, at[0], at[1], at[2], &n);

	if (!n || n != n_base)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (own[i]->slice != base[i]->slice || (i && own[i]->slice == own[i - 1]->slice))
			return -1;
		work[i] = log(per_request(own[i]) / per_request(base[i]));
		counts->better += work[i] < 0;
	}
	counts->outliers += (uint32_t)stats_outliers(work, n, room->outlier);
	*ret = stats_median(work, n);
	return 0;
}

static int no_counterpart(const struct stats_frame *f, const uint32_t at[3], struct error *err)
{
	return error_set(err, ERR_MISMATCH,
		"scenario '%s', launch %" PRIu32 ": the slices of variant '%s' and of the base '%s'"
		" do not pair up",
		f->scenarios[at[0]], at[2] + 1, f->variants[at[1]], f->variants[0]);
}

/* Fills d[scenario * launches + launch] for one variant, and counts[scenario]. */
static int all_ratios(const struct sorted *t, const struct stats_frame *f, uint32_t variant,
	double *d, struct counts *counts, struct error *err)
{
	auto_free double *ratio = xcalloc(t->n, sizeof(*ratio));
	auto_free bool *outlier = xcalloc(t->n, sizeof(*outlier));
	struct room room = {ratio, outlier};

	memset(counts, 0, f->n_scenarios * sizeof(*counts));
	for (uint32_t s = 0; s < f->n_scenarios; s++)
		for (uint32_t l = 0; l < t->launches; l++) {
			const uint32_t at[3] = {s, variant, l};

			if (launch_ratio(t, at, &room, &d[s * t->launches + l], &counts[s]) < 0)
				return no_counterpart(f, at, err);
		}
	return 0;
}

/* The launches one by one; d: their log ratios. */
static void set_launches(struct comparison *c, const double *d, size_t n)
{
	auto_free double *copy = xcalloc(n, sizeof(*copy));

	memcpy(copy, d, n * sizeof(*copy));
	c->by_launch = xcalloc(n, sizeof(*c->by_launch));
	c->outlier = xcalloc(n, sizeof(*c->outlier));
	(void)stats_outliers(copy, n, c->outlier);
	for (size_t l = 0; l < n; l++) {
		c->by_launch[l] = exp(d[l]);
		c->better_launches += d[l] < 0;
	}
}

static double base_cost(const struct sorted *t, size_t scenario, uint32_t *slices)
{
	auto_free double *launch = xcalloc(t->launches, sizeof(*launch));
	auto_free double *work = xcalloc(t->n, sizeof(*work));

	*slices = 0;
	for (size_t l = 0; l < t->launches; l++) {
		size_t n;
		const struct sample **v = cell(t, scenario, 0, l, &n);

		for (size_t i = 0; i < n; i++)
			work[i] = per_request(v[i]);
		launch[l] = stats_median(work, n);
		*slices += (uint32_t)n;
	}
	return stats_median(launch, t->launches);
}

/* The verdict: both the interval and the test must say so. */
static void judge(struct comparison *c)
{
	c->shown = SHOWN_NONE;
	if (c->launches < STATS_MIN_LAUNCHES || !(c->p <= 0.05))
		return;
	if (c->high < 1)
		c->shown = SHOWN_LESS;
	else if (c->low > 1)
		c->shown = SHOWN_MORE;
}

/* All scenarios by their shares. Launch by launch, since the launch is the statistical unit: what
 * two scenarios of one launch have in common must not look like independent evidence. */
static void add_weighted(const struct stats_frame *f, uint32_t variant, const double *d, size_t n,
	struct comparisons *ret)
{
	auto_free double *mean = xcalloc(n, sizeof(*mean));
	struct comparison c = {
		.variant = xstrdup(f->variants[variant]),
		.base = xstrdup(f->variants[0]),
		.base_ns = NAN,
		.low = NAN,
		.high = NAN,
		.p = NAN,
		.launches = (uint32_t)n,
	};

	for (size_t l = 0; l < n; l++)
		for (size_t s = 0; s < f->n_scenarios; s++)
			mean[l] += ret->shares[s] * d[s * n + l];
	if (n >= STATS_MIN_LAUNCHES) {
		stats_sign_flip(mean, 1, n, f->seed, &c.p);
		stats_bootstrap(mean, 1, n, f->seed, &c.low, &c.high);
		c.low = exp(c.low);
		c.high = exp(c.high);
	}
	set_launches(&c, mean, n);
	c.ratio = exp(stats_median(mean, n));
	judge(&c);
	array_reserve(ret->weighted, ret->n_weighted, ret->cap_weighted);
	ret->weighted[ret->n_weighted++] = c;
}

static void set_shares(const struct stats_frame *f, struct comparisons *ret)
{
	double sum = 0;
	size_t n = 0;

	for (size_t s = 0; f->weights && s < f->n_scenarios; s++) {
		sum += f->weights[s];
		n += f->weights[s] > 0;
	}
	if (n < 2)
		return;
	ret->shares = xcalloc(f->n_scenarios, sizeof(*ret->shares));
	ret->n_shares = f->n_scenarios;
	for (size_t s = 0; s < f->n_scenarios; s++)
		ret->shares[s] = f->weights[s] / sum;
}

/* Whether the width of this interval matters: the null arm's does when there is nothing else. */
static bool must_resolve(const struct stats_frame *f, size_t scenario, uint32_t variant)
{
	return f->until_resolved > 0 && (!f->resolve || f->resolve[scenario]) &&
	       (variant != f->null_variant || f->n_variants == 2);
}

static void add_variant(const struct sorted *t, const struct stats_frame *f, uint32_t variant,
	double *d, const struct counts *counts, struct comparisons *ret)
{
	size_t m = f->n_scenarios, n = t->launches;
	auto_free double *low = xcalloc(m, sizeof(*low)), *high = xcalloc(m, sizeof(*high));
	auto_free double *p = xcalloc(m, sizeof(*p));

	if (ret->shares)
		add_weighted(f, variant, d, n, ret);
	stats_sign_flip(d, m, n, f->seed, p);
	stats_bootstrap(d, m, n, f->seed, low, high);
	for (size_t s = 0; s < m; s++) {
		bool enough = n >= STATS_MIN_LAUNCHES;
		struct comparison c = {
			.scenario = xstrdup(f->scenarios[s]),
			.variant = xstrdup(f->variants[variant]),
			.base = xstrdup(f->variants[0]),
			.low = enough ? exp(low[s]) : NAN,
			.high = enough ? exp(high[s]) : NAN,
			.p = enough ? p[s] : NAN,
			.launches = (uint32_t)n,
			.per_run = f->per_run && f->per_run[s],
			.better_slices = counts[s].better,
			.outlier_slices = counts[s].outliers,
			.held_out = f->held_out && f->held_out[s],
		};

		set_launches(&c, d + s * n, n);
		c.base_ns = base_cost(t, s, &c.slices);
		c.ratio = exp(stats_median(d + s * n, n)); /* reorders: the last use of d */
		judge(&c);
		if (must_resolve(f, s, variant))
			c.more_launches = stats_more_launches(&c, f->until_resolved);
		array_reserve(ret->v, ret->n, ret->cap);
		ret->v[ret->n++] = c;
	}
}

/* The driver's share of the wall time, by scenario, variant and launch; the largest. */
static double busiest(const struct sorted *t, const struct stats_frame *f, size_t *scenario)
{
	double most = 0;

	for (size_t s = 0; s < f->n_scenarios; s++)
		for (size_t i = 0; i < f->n_variants * t->launches; i++) {
			double wall = 0, cpu = 0;
			size_t n;
			const struct sample **v = cell(t, s, i / t->launches, i % t->launches, &n);

			for (size_t k = 0; k < n; k++) {
				wall += (double)v[k]->wall_ns;
				cpu += (double)v[k]->driver_cpu_ns;
			}
			if (wall > 0 && cpu / wall > most) {
				most = cpu / wall;
				*scenario = s;
			}
		}
	return most;
}

static void warn(const struct sorted *t, const struct stats_frame *f, struct comparisons *ret)
{
	auto_buf struct buf b = BUF_INIT;
	uint32_t needed = stats_launches_needed(f->n_scenarios);
	size_t busy = 0;

	ret->driver_busy = busiest(t, f, &busy);
	if (t->launches < STATS_MIN_LAUNCHES)
		buf_addf(&b,
			"%zu launches: with fewer than %d no difference can be shown and no "
			"interval given\n",
			t->launches, STATS_MIN_LAUNCHES);
	else if (t->launches < needed)
		buf_addf(&b,
			"%zu launches are too few to show a difference in one of %zu scenarios by "
			"itself; it takes %" PRIu32 "\n",
			t->launches, f->n_scenarios, needed);
	if (ret->driver_busy > CLIENT_BOUND)
		buf_addf(&b,
			"client-bound: in scenario '%s' the driver used %.0f %% of its processor; "
			"CPU per request stays valid, throughput does not\n",
			f->scenarios[busy], ret->driver_busy * 100);
	for (size_t i = 0; i < ret->n; i++) {
		const struct comparison *c = &ret->v[i];

		if (f->null_variant >= f->n_variants || c->shown == SHOWN_NONE ||
			i / f->n_scenarios + 1 != f->null_variant)
			continue;
		buf_addf(&b,
			"the null arm (the base against its own copy) shows %+.1f %% in scenario "
			"'%s': read differences of that size as noise\n",
			(c->ratio - 1) * 100, c->scenario);
	}
	if (b.n && b.p[b.n - 1] == '\n')
		b.p[--b.n] = '\0';
	ret->warnings = xstrdup(buf_str(&b));
}

/* Alarm, not correction: the canary sees the clock and what is stolen, not caches or the kernel. */
static void add_drift(const struct samples *s, struct comparisons *ret)
{
	auto_free double *cost = xcalloc(s->n_canaries + 1, sizeof(*cost));

	for (size_t i = 0; i < s->n_canaries; i++)
		cost[i] = (double)s->canaries[i].cpu_ns;
	ret->drift = stats_drift(cost, s->n_canaries);
	ret->drift_alarm = stats_drift_alarm(ret->drift);
}

static int sort_samples(const struct samples *s, const struct stats_frame *f,
	const struct sample **place, struct sorted *ret, struct error *err)
{
	size_t last = 0;

	for (size_t i = 0; i < s->n; i++) {
		if (check_sample(&s->v[i], f, err) < 0)
			return -1;
		place[i] = &s->v[i];
		if (s->v[i].launch > last)
			last = s->v[i].launch;
	}
	if (last >= s->n) /* also bounds what is allocated per launch */
		return error_set(
			err, ERR_MISMATCH, "launch %zu of only %zu samples", last + 1, s->n);
	qsort(place, s->n, sizeof(*place), by_place);
	*ret = (struct sorted){place, s->n, last + 1};
	return 0;
}

int stats_compare(const struct samples *s, const struct stats_frame *f, struct comparisons *ret,
	struct error *err)
{
	auto_free const struct sample **place = xcalloc(s->n + 1, sizeof(*place));
	auto_free double *d = NULL;
	auto_free struct counts *counts = NULL;
	struct comparisons got = {0};
	struct sorted t = {0};

	if (!s->n || f->n_variants < 2 || !f->n_scenarios)
		return error_set(err, ERR_MISMATCH,
			"nothing to compare: %zu samples, %zu variants, %zu scenarios", s->n,
			f->n_variants, f->n_scenarios);
	if (sort_samples(s, f, place, &t, err) < 0)
		return -1;
	set_shares(f, &got);
	d = xcalloc(f->n_scenarios * t.launches, sizeof(*d));
	counts = xcalloc(f->n_scenarios, sizeof(*counts));
	for (uint32_t v = 1; v < f->n_variants; v++) {
		if (all_ratios(&t, f, v, d, counts, err) < 0) {
			comparisons_release(&got);
			return -1;
		}
		add_variant(&t, f, v, d, counts, &got);
	}
	got.until_resolved = f->until_resolved;
	warn(&t, f, &got);
	add_drift(s, &got);
	*ret = got;
	return 0;
}
