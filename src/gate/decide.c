#include "gate/decide.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "stats/stats.h"

static char *change_text(double at, double low, double high)
{
	if (!isfinite(low) || !isfinite(high))
		return xasprintf("%+.1f %%, no interval", ratio_percent(at));
	return xasprintf("%+.1f %% [%+.1f, %+.1f]", ratio_percent(at), ratio_percent(low),
		ratio_percent(high));
}

/* ---- one candidate against plain ------------------------------------------------------------- */

/* The first row of a variant, or the number of rows. */
static size_t first_row(const struct comparisons *c, const char *name)
{
	size_t i = 0;

	while (i < c->n && (comparisons_is_null(c, i) || strcmp(c->v[i].variant, name) != 0))
		i++;
	return i;
}

static void against(struct decided *d, enum decided_state state, const struct comparison *c,
	const char *what, double margin)
{
	auto_free char *change = change_text(c->ratio, c->low, c->high);

	d->state = state;
	free(d->why);
	d->why = xasprintf("scenario '%s': %s against plain, %s %g %%", c->scenario, change, what,
		margin * 100);
}

/* The worst scenario is the one that is told. */
static void judge_scenarios(const struct decide_facts *f, size_t first, struct decided *d)
{
	size_t m = comparisons_scenarios(f->bench);
	double margin = f->bounds->worse_margin;
	double worst = 0;

	for (size_t i = first; i < first + m && margin >= 0; i++) {
		const struct comparison *c = &f->bench->v[i];
		bool worse = c->low > 1 + margin;
		bool open = f->bounds->worse_undecided && !(c->high < 1 + margin);

		if (d->state == DECIDED_WORSE ? !worse || c->ratio <= worst : !worse && !open)
			continue;
		if (!worse && d->state == DECIDED_UNDECIDED && c->ratio <= worst)
			continue;
		worst = c->ratio;
		if (worse)
			against(d, DECIDED_WORSE, c, "worse by more than", margin);
		else
			against(d, DECIDED_UNDECIDED, c, "not shown to be worse by less than",
				margin);
	}
}

/* All scenarios together, or the only one; NULL: there is no such figure. */
static const struct comparison *summary_of(const struct comparisons *c, size_t first)
{
	size_t m = comparisons_scenarios(c);

	if (c->n_weighted)
		return &c->weighted[first / m];
	return m == 1 ? &c->v[first] : NULL;
}

/* Each scenario may be within the margin and the whole dearer than plain all the same. */
static void judge_summary(const struct comparison *all, struct decided *d)
{
	auto_free char *change = change_text(all->ratio, all->low, all->high);

	if (!(all->low > 1))
		return;
	d->state = DECIDED_WORSE;
	free(d->why);
	d->why = xasprintf("all scenarios together %s against plain", change);
}

static void judge_one(const struct decide_facts *f, const struct candidate *k, struct decided *d)
{
	const struct comparison *all;
	size_t first;

	*d = (struct decided){.name = xstrdup(k->name), .ratio = NAN, .low = NAN, .high = NAN};
	if (k->out) {
		d->state = DECIDED_OUT;
		d->why = xstrdup(k->out);
	}
	first = first_row(f->bench, k->name);
	if (first == f->bench->n) {
		if (!d->why)
			d->why = xstrdup("");
		return;
	}
	all = summary_of(f->bench, first);
	if (all) {
		d->ratio = all->ratio;
		d->low = all->low;
		d->high = all->high;
	}
	if (d->state == DECIDED_PASSES)
		judge_scenarios(f, first, d);
	if (d->state == DECIDED_PASSES && all)
		judge_summary(all, d);
	if (!d->why)
		d->why = xstrdup("");
}

/* ---- between those that may be released ------------------------------------------------------ */

static bool is_simpler(const struct decide_facts *f, size_t a, size_t b)
{
	unsigned x = f->candidates[a].differs, y = f->candidates[b].differs;

	return x != y ? x < y : a < b;
}

static size_t lowest(const struct decision *d)
{
	size_t best = d->n;

	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].state == DECIDED_PASSES && isfinite(d->v[i].ratio) &&
			(best == d->n || d->v[i].ratio < d->v[best].ratio))
			best = i;
	return best;
}

static size_t simplest(const struct decide_facts *f, const struct decision *d)
{
	size_t best = d->n;

	for (size_t i = 0; i < d->n; i++)
		if (d->v[i].state == DECIDED_PASSES && (best == d->n || is_simpler(f, i, best)))
			best = i;
	return best;
}

/* What the samples hold, as stats_compare() was told. */
struct frame {
	struct stats_frame f;
	const char **scenarios, **variants;
};

static void frame_release(struct frame *x)
{
	free(x->scenarios);
	free(x->variants);
}

static void frame_of(const struct decide_facts *f, struct frame *x)
{
	size_t m = comparisons_scenarios(f->bench), n = f->bench->n / m;

	*x = (struct frame){.scenarios = xcalloc(m, sizeof(*x->scenarios)),
		.variants = xcalloc(n + 1, sizeof(*x->variants))};
	for (size_t i = 0; i < m; i++)
		x->scenarios[i] = f->bench->v[i].scenario;
	x->variants[0] = f->bench->v[0].base;
	for (size_t i = 0; i < n; i++)
		x->variants[i + 1] = f->bench->v[i * m].variant;
	x->f = (struct stats_frame){
		.scenarios = x->scenarios,
		.n_scenarios = m,
		.variants = x->variants,
		.n_variants = n + 1,
		.null_variant = UINT32_MAX,
		.seed = f->seed,
		.weights = f->bench->shares,
	};
}

/* The index of a candidate in the samples. */
static uint32_t arm_of(const struct decide_facts *f, const char *name)
{
	return (uint32_t)(first_row(f->bench, name) / comparisons_scenarios(f->bench)) + 1;
}

static void tell(struct decided *d, const struct stats_rival *r, const char *best)
{
	auto_free char *change = change_text(r->ratio.at, r->ratio.low, r->ratio.high);

	free(d->why);
	d->why = r->more ? xasprintf("costs more than '%s': %s", best, change)
			 : xasprintf("no difference to '%s' shown: %s", best, change);
}

static bool is_measured(const struct decide_facts *f, const char *name)
{
	return first_row(f->bench, name) < f->bench->n;
}

/* Why it is not shown to be better; NULL: it is. Caller frees. */
static char *against_layout(const struct comparisons *c, const char *unlaid)
{
	const struct comparison *all = summary_of(c, 0);
	auto_free char *change = all ? change_text(all->ratio, all->low, all->high) : NULL;

	for (size_t i = 0; i < c->n; i++) {
		auto_free char *own = change_text(c->v[i].ratio, c->v[i].low, c->v[i].high);

		if (c->v[i].low > 1)
			return xasprintf(
				"scenario '%s': %s against '%s'", c->v[i].scenario, own, unlaid);
	}
	if (!all)
		return xasprintf("there is no figure of all scenarios together (they have no "
				 "weights), so it is not shown to be better than '%s'",
			unlaid);
	if (!(all->high < 1))
		return xasprintf("not shown to be better than '%s': all scenarios together %s",
			unlaid, change);
	return NULL;
}

static int judge_layout(const struct decide_facts *f, const struct candidate *k, struct decided *d,
	struct error *err)
{
	struct comparisons c = {0};
	struct frame x;
	char *why;
	int r;

	if (!k->unlaid || d->state != DECIDED_PASSES || !is_measured(f, k->name))
		return 0;
	if (!is_measured(f, k->unlaid)) {
		d->state = DECIDED_NO_BETTER;
		free(d->why);
		d->why = xasprintf("'%s', which it is held against, was not measured", k->unlaid);
		return 0;
	}
	frame_of(f, &x);
	r = stats_pair(f->samples, &x.f, arm_of(f, k->unlaid), arm_of(f, k->name), &c, err);
	frame_release(&x);
	why = r == 0 ? against_layout(&c, k->unlaid) : NULL;
	if (why) {
		d->state = DECIDED_NO_BETTER;
		free(d->why);
		d->why = why;
	}
	if (r == 0)
		comparisons_release(&c);
	return r;
}

/* Compares the others with `best`; *chosen: the simplest of its equals. */
static int compare_with(const struct decide_facts *f, struct decision *d, size_t best,
	size_t *chosen, struct error *err)
{
	auto_free struct stats_rival *rivals = xcalloc(d->n, sizeof(*rivals));
	auto_free size_t *which = xcalloc(d->n, sizeof(*which));
	struct frame x;
	size_t n = 0;
	int r;

	for (size_t i = 0; i < d->n; i++)
		if (i != best && d->v[i].state == DECIDED_PASSES && isfinite(d->v[i].ratio)) {
			which[n] = i;
			rivals[n++].variant = arm_of(f, d->v[i].name);
		}
	frame_of(f, &x);
	r = stats_rivals(f->samples, &x.f, arm_of(f, d->v[best].name), rivals, n, err);
	frame_release(&x);
	*chosen = best;
	for (size_t i = 0; i < n && r == 0; i++) {
		tell(&d->v[which[i]], &rivals[i], d->v[best].name);
		if (!rivals[i].more && is_simpler(f, which[i], *chosen))
			*chosen = which[i];
	}
	return r;
}

/* ---- the words ------------------------------------------------------------------------------- */

/* What keeps the plan's own from being proposed, when that is not its cost alone. */
static void add_own(const struct decision *d, size_t chosen, struct buf *b)
{
	if (chosen && d->v[0].state != DECIDED_PASSES)
		buf_addf(b, "; '%s' may not be: %s", d->v[0].name, d->v[0].why);
}

static char *why_chosen(
	const struct decide_facts *f, const struct decision *d, size_t best, size_t chosen)
{
	const struct decided *c = &d->v[chosen];
	struct buf b = BUF_INIT;
	auto_free char *all = change_text(c->ratio, c->low, c->high);

	if (f->bounds->worse_margin >= 0)
		buf_adds(&b, "no scenario worse, ");
	if (best == d->n)
		buf_adds(&b, "there is no figure of all scenarios together (they have no weights), "
			     "so the simplest of those that may be released");
	else
		buf_addf(&b, "all scenarios together %s", all);
	if (best != d->n && chosen != best)
		buf_addf(&b, "; '%s' is not shown to cost less, and is less simple",
			d->v[best].name);
	add_own(d, chosen, &b);
	return buf_detach(&b);
}

static char *why_none(const struct decision *d)
{
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < d->n; i++)
		buf_addf(&b, "%s'%s': %s", i ? "; " : "", d->v[i].name, d->v[i].why);
	return buf_detach(&b);
}

int decide(const struct decide_facts *f, struct decision *ret, struct error *err)
{
	size_t best, chosen;

	for (size_t i = 0; i < f->n; i++) {
		array_reserve(ret->v, ret->n, ret->cap);
		judge_one(f, &f->candidates[i], &ret->v[ret->n++]);
	}
	if (!f->bench->n)
		return 0;
	for (size_t i = 0; i < f->n; i++)
		if (judge_layout(f, &f->candidates[i], &ret->v[i], err) < 0)
			return -1;
	best = lowest(ret);
	chosen = simplest(f, ret);
	if (chosen == ret->n) {
		ret->proposed = xstrdup(f->bench->v[0].base);
		ret->why = why_none(ret);
		return 0;
	}
	if (best != ret->n && compare_with(f, ret, best, &chosen, err) < 0)
		return -1;
	ret->proposed = xstrdup(ret->v[chosen].name);
	ret->why = why_chosen(f, ret, best, chosen);
	return 0;
}
