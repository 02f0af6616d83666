#include "report/counter_rows.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

/* A table of variants, being filled. */
struct filling {
	const struct comparisons *c;
	const struct strv *variants; /* their names, base first */
	struct strv *cells;
};

static const struct counted *find(const struct filling *f, const char *scenario, size_t variant)
{
	const struct counters *k = &f->c->counters;

	for (size_t i = 0; i < k->n; i++)
		if (strcmp(k->v[i].scenario, scenario) == 0 &&
			strcmp(k->v[i].variant, f->variants->v[variant]) == 0)
			return &k->v[i];
	return NULL;
}

static const struct simulated *find_simulated(
	const struct filling *f, const char *scenario, size_t variant)
{
	const struct counters *k = &f->c->counters;

	for (size_t i = 0; i < k->n_simulated; i++)
		if (strcmp(k->simulated[i].scenario, scenario) == 0 &&
			strcmp(k->simulated[i].variant, f->variants->v[variant]) == 0)
			return &k->simulated[i];
	return NULL;
}

/* Three digits that say something. */
static void add_value(struct buf *b, double v)
{
	buf_addf(b, v >= 99.95 ? "%.0f" : v >= 9.995 ? "%.1f" : "%.2f", v);
}

/* ---- Cells ----------------------------------------------------------------------------------- */

/* A ratio stands there with its interval or not at all. */
static void figure_cell(struct strv *cells, const struct counter_figure *f)
{
	auto_buf struct buf b = BUF_INIT;

	if (f && isfinite(f->value))
		add_value(&b, f->value);
	if (f && isfinite(f->low) && isfinite(f->high))
		buf_addf(&b, " %+.1f %% [%+.1f, %+.1f]", ratio_percent(f->ratio),
			ratio_percent(f->low), ratio_percent(f->high));
	strv_add(cells, buf_str(&b));
}

/* A simulation has no noise, and so no interval. */
static void exact_cell(struct strv *cells, double value, double ratio)
{
	auto_buf struct buf b = BUF_INIT;

	if (isfinite(value))
		add_value(&b, value);
	if (isfinite(ratio))
		buf_addf(&b, " %+.1f %%", ratio_percent(ratio));
	strv_add(cells, buf_str(&b));
}

static bool too_few_ticks(const struct counted *c)
{
	return !isfinite(c->kernel_share) && c->kernel_ticks_needed > 0;
}

static void share_cell(struct strv *cells, double share, double error)
{
	auto_buf struct buf b = BUF_INIT;

	if (isfinite(share))
		buf_addf(&b, "%.0f %%", share * 100);
	if (isfinite(error))
		buf_addf(&b, " ± %.0f", ceil(error * 100));
	strv_add(cells, buf_str(&b));
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static void begin_row(const struct filling *f, const char *scenario, const char *name)
{
	strv_add(f->cells, scenario);
	strv_add(f->cells, name);
}

static void hardware_rows(const struct filling *f, const char *scenario)
{
	for (size_t m = 0; m < COUNTER_MODES; m++)
		for (size_t k = 0; k < COUNTERS; k++) {
			auto_free char *name = xasprintf("%s, %s", counter_name((enum counter)k),
				counter_mode_name((enum counter_mode)m));

			if (!counters_has(&f->c->counters, (enum counter_mode)m, (enum counter)k))
				continue;
			begin_row(f, scenario, name);
			for (size_t i = 0; i < f->variants->n; i++) {
				const struct counted *one = find(f, scenario, i);

				figure_cell(f->cells, one ? &one->v[m][k] : NULL);
			}
		}
}

static void kernel_cell(struct strv *cells, const struct counted *c)
{
	if (c && too_few_ticks(c))
		strv_addf(cells, "%.0f of %.0f ticks", c->kernel_ticks, c->kernel_ticks_needed);
	else
		share_cell(cells, c ? c->kernel_share : NAN, c ? c->kernel_error : NAN);
}

static bool has_shares(const struct counters *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (isfinite(c->v[i].kernel_share))
			return true;
	return false;
}

static bool lacks_shares(const struct counters *c)
{
	for (size_t i = 0; i < c->n; i++)
		if (too_few_ticks(&c->v[i]))
			return true;
	return false;
}

static void share_row(const struct filling *f, const char *scenario)
{
	if (!has_shares(&f->c->counters) && !lacks_shares(&f->c->counters))
		return;
	begin_row(f, scenario, "kernel's share of CPU time, about");
	for (size_t i = 0; i < f->variants->n; i++)
		kernel_cell(f->cells, find(f, scenario, i));
}

enum simulated_row { INSTRUCTIONS, I1_MISSES, OUTSIDE, ASSEMBLY, SIMULATED_ROWS };

static void simulated_cell(struct strv *cells, const struct simulated *s, enum simulated_row row)
{
	if (!s)
		strv_add(cells, "");
	else if (row == INSTRUCTIONS)
		exact_cell(cells, s->instructions, s->instructions_ratio);
	else if (row == I1_MISSES)
		exact_cell(cells, s->i1_misses, s->i1_ratio);
	else
		share_cell(cells, row == OUTSIDE ? s->outside : s->assembly, NAN);
}

static bool has_assembly(const struct counters *c)
{
	for (size_t i = 0; i < c->n_simulated; i++)
		if (c->simulated[i].assembly > 0)
			return true;
	return false;
}

static void simulated_rows(const struct filling *f, const char *scenario)
{
	static const char *const names[SIMULATED_ROWS] = {"instructions, simulated",
		"I1 misses, simulated", "outside the binaries, simulated", "assembly, simulated"};

	for (size_t row = 0; f->c->counters.n_simulated && row < SIMULATED_ROWS; row++) {
		if (row == ASSEMBLY && !has_assembly(&f->c->counters))
			continue;
		begin_row(f, scenario, names[row]);
		for (size_t i = 0; i < f->variants->n; i++)
			simulated_cell(
				f->cells, find_simulated(f, scenario, i), (enum simulated_row)row);
	}
}

/* As the comparison names them, the base in front. */
static void list_variants(const struct comparisons *c, struct strv *names, struct strv *heads)
{
	size_t scenarios = comparisons_scenarios(c);

	strv_add(names, c->v[0].base);
	strv_add(heads, c->v[0].base);
	for (size_t i = 0; i < c->n; i += scenarios) {
		strv_add(names, c->v[i].variant);
		strv_add(heads, comparisons_is_null(c, i) ? "null arm" : c->v[i].variant);
	}
}

void counter_rows(const struct comparisons *c, struct strv *heads, struct strv *cells)
{
	auto_strv struct strv variants = STRV_INIT;
	struct filling f = {c, &variants, cells};

	if (!c->n)
		return;
	strv_add(heads, "scenario");
	strv_add(heads, "counter");
	list_variants(c, &variants, heads);
	for (size_t s = 0; s < comparisons_scenarios(c); s++) {
		hardware_rows(&f, c->v[s].scenario);
		share_row(&f, c->v[s].scenario);
		simulated_rows(&f, c->v[s].scenario);
	}
}

/* ---- Remarks --------------------------------------------------------------------------------- */

static void simulated_remarks(const struct counters *k, struct buf *out)
{
	bool unknown = false;

	if (!k->n_simulated)
		return;
	for (size_t i = 0; i < k->n_simulated; i++)
		unknown |= isnan(k->simulated[i].assembly);
	buf_adds(out,
		"simulated: by callgrind, not measured; user mode alone, one request after the "
		"other\n");
	buf_adds(out, "outside the binaries: share of the instructions that no profile reaches "
		      "(system libraries)\n");
	if (unknown)
		buf_adds(out, "assembly is not known: the binaries have no debug information\n");
}

/* Counters that are there may have failed at every slice, which their note tells. */
static bool has_figures(const struct counters *k)
{
	for (size_t m = 0; m < COUNTER_MODES; m++)
		for (size_t i = 0; i < COUNTERS; i++)
			if (counters_has(k, (enum counter_mode)m, (enum counter)i))
				return true;
	return false;
}

void counter_remarks(const struct comparisons *c, struct buf *out)
{
	const struct counters *k = &c->counters;

	if (has_figures(k))
		buf_adds(out, "user, kernel: hardware counters by mode, with the 95 % interval of "
			      "each figure alone\n");
	if (has_figures(k) && k->running < 0.995)
		buf_addf(out,
			"scaled up: the events shared the processor's counters; one had its own "
			"for "
			"%.0f %% of the time\n",
			k->running * 100);
	if (has_shares(k))
		buf_adds(out, "kernel's share: approximate, sampled by the kernel's clock; no "
			      "profile changes the kernel\n");
	if (lacks_shares(k))
		buf_adds(out, "N of M ticks: too few ticks of the kernel's clock fell into this "
			      "CPU time to "
			      "tell user and kernel apart\n");
	simulated_remarks(k, out);
	if (k->note)
		buf_addf(out, "%s\n", k->note);
}
