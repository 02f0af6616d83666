/* A comparison that was made several times: all runs in one cell. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "report/report.h"
#include "report/text.h"

#define COLUMNS_MAX 30

static const struct comparisons *run_of(const struct report *r, size_t i)
{
	return i ? &r->repeats[i - 1].comparisons : &r->comparisons;
}

/* The same scenario and variant in another run; NULL: not measured there. */
static const struct comparison *find(const struct comparisons *c, const struct comparison *as)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->v[i].scenario, as->scenario) == 0 &&
			strcmp(c->v[i].variant, as->variant) == 0)
			return &c->v[i];
	return NULL;
}

static const struct comparison *find_weighted(
	const struct comparisons *c, const struct comparison *as)
{
	for (size_t i = 0; i < c->n_weighted; i++)
		if (strcmp(c->weighted[i].variant, as->variant) == 0)
			return &c->weighted[i];
	return NULL;
}

/* "-5.1 % [-6.2, -4.0] / -4.9 % [-6.0, -3.8]": one cell, all runs. */
static void change_cell(const struct report *r, struct table *t, const struct comparison *as)
{
	auto_buf struct buf b = BUF_INIT;

	for (size_t i = 0; i <= r->n_repeats; i++) {
		const struct comparison *c =
			as->scenario ? find(run_of(r, i), as) : find_weighted(run_of(r, i), as);

		if (i)
			buf_adds(&b, " / ");
		if (c)
			report_change_text(c, &b);
		else
			buf_addc(&b, '-');
	}
	table_cell(t, "%s", buf_str(&b));
}

static void base_cell(const struct report *r, struct table *t, const struct comparison *as)
{
	auto_buf struct buf b = BUF_INIT;

	for (size_t i = 0; i <= r->n_repeats; i++) {
		const struct comparison *c = find(run_of(r, i), as);

		if (i)
			buf_adds(&b, " / ");
		if (c)
			buf_addf(&b, "%.0f", c->base_ns);
		else
			buf_addc(&b, '-');
	}
	table_cell(t, "%s%s", buf_str(&b), as->per_run ? " ns/run" : " ns/request");
}

static size_t rows_of(const struct comparisons *c)
{
	size_t n = 0;

	while (n < c->n && strcmp(c->v[n].variant, c->v[0].variant) == 0)
		n++;
	return n;
}

static void print_table(const struct report *r, const char *label, struct buf *out)
{
	const struct comparisons *c = &r->comparisons;
	size_t rows = rows_of(c), columns = 2;
	const char *heads[COLUMNS_MAX + 3] = {"scenario"};
	auto_free char *base = xasprintf(">%s", c->v[0].base);
	struct table *t;

	heads[1] = base;
	for (size_t i = 0; i < c->n && columns < COLUMNS_MAX; i += rows)
		heads[columns++] =
			strcmp(c->v[i].variant, "null") == 0 ? "null arm" : c->v[i].variant;
	if (*label)
		heads[columns++] = "";
	t = table_new(heads, columns);
	for (size_t s = 0; s < rows; s++) {
		table_cell(t, "%s%s", c->v[s].scenario, c->v[s].held_out ? " (held out)" : "");
		base_cell(r, t, &c->v[s]);
		for (size_t i = s; i < c->n && i / rows + 2 < COLUMNS_MAX; i += rows)
			change_cell(r, t, &c->v[i]);
		if (*label)
			table_cell(t, "(%s)", label);
	}
	if (c->n_weighted) {
		table_cell(t, "all, by weight");
		table_cell(t, "%s", "");
	}
	for (size_t i = 0; i < c->n_weighted && i + 2 < COLUMNS_MAX; i++)
		change_cell(r, t, &c->weighted[i]);
	if (c->n_weighted && *label)
		table_cell(t, "(%s)", label);
	report_print_table(t, out);
}

/* Below the notes of a comparison. */
static void add_calibration(const struct report *r, struct buf *out)
{
	auto_buf struct buf note = BUF_INIT;

	report_calibration_note(&r->calibration, &r->comparisons, &note);
	if (!note.n)
		return;
	while (out->n > 1 && out->p[out->n - 1] == '\n' && out->p[out->n - 2] == '\n')
		out->p[--out->n] = '\0';
	buf_addf(out, "  %s\n\n", buf_str(&note));
}

static void add_repeats(const struct report *r, const char *label, struct buf *out)
{
	const struct comparisons *c = &r->comparisons;

	buf_addf(out, "CPU time against %s, %zu runs (one / the next), %u", c->v[0].base,
		r->n_repeats + 1, c->v[0].launches);
	for (size_t i = 1; i <= r->n_repeats; i++)
		buf_addf(out, " / %u", run_of(r, i)->n ? run_of(r, i)->v[0].launches : 0);
	buf_addf(out, " launches%s%s%s\n", *label ? " (" : "", label, *label ? ")" : "");
	print_table(r, label, out);
	report_comparison_reading(c, out);
	for (size_t i = 0; i <= r->n_repeats; i++) {
		if (!run_of(r, i)->n)
			continue;
		buf_addf(out, "Run %zu\n", i + 1);
		report_comparison_notes(run_of(r, i), out);
		report_counters_text(run_of(r, i), label, out);
	}
	buf_addc(out, '\n');
}

void report_bench_text(const struct report *r, const char *label, struct buf *out)
{
	if (!r->comparisons.n)
		return;
	if (r->n_repeats)
		add_repeats(r, label, out);
	else
		report_comparison_text(&r->comparisons, label, out);
	add_calibration(r, out);
}
