/* What the phases of a training executed, as tables. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "report/report.h"
#include "report/text.h"

#define NAME_SHOWN 72 /* bytes of a function's name: mangled ones have no end */

void report_add_indented(struct buf *out, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n"), shown = n;

		while (shown && text[shown - 1] == ' ')
			shown--;
		if (shown) {
			buf_adds(out, "  ");
			buf_add(out, text, shown);
		}
		buf_addc(out, '\n');
		text += n + (text[n] == '\n');
	}
}

void report_print_table(struct table *t, struct buf *out)
{
	auto_buf struct buf text = BUF_INIT;

	table_print(t, &text);
	report_add_indented(out, buf_str(&text));
	table_free(t);
}

const char *report_function_name(const struct coverage_function *f)
{
	return f->source_name ? f->source_name : f->name;
}

static void name_cell(struct table *t, const char *name)
{
	if (strlen(name) <= NAME_SHOWN)
		table_cell(t, "%s", name);
	else
		table_cell(t, "%.*s...", NAME_SHOWN - 3, name);
}

/* ---- Phases ---------------------------------------------------------------------------------- */

const char *report_phase_name(const struct coverage_phase *p)
{
	return p->part == COVERAGE_START  ? "(start)"
	       : p->part == COVERAGE_STOP ? "(stop)"
					  : p->name;
}

static bool has_settings(const struct coverage_facts *c)
{
	return c->n_settings > 0;
}

static bool is_weighted(const struct coverage_facts *c)
{
	for (size_t i = 0; i < c->n_phases; i++)
		if (c->phases[i].times > 1)
			return true;
	return false;
}

static void setting_cell(struct table *t, const struct coverage_facts *c, const char *setting)
{
	if (has_settings(c))
		table_cell(t, "%s", setting ? setting : "");
}

char *report_phase_remark(const struct coverage_phase *p)
{
	if (p->useless && !p->count)
		return xstrdup("useless: executes nothing");
	if (p->useless)
		return xasprintf(
			"useless: nothing new, and %.1f %% as '%s'", p->alike * 100, p->like);
	return xstrdup(
		p->part == COVERAGE_PHASE && !p->new_functions ? "no function of its own" : "");
}

static void phase_row(struct table *t, const struct coverage_facts *c, size_t i)
{
	const struct coverage_phase *p = &c->phases[i];
	auto_free char *remark = report_phase_remark(p);

	setting_cell(t, c, p->setting);
	table_cell(t, "%s", report_phase_name(p));
	table_cell(t, "%" PRIu64, p->count);
	table_cell(t, "%" PRIu64, p->functions);
	table_cell(t, "%" PRIu64, p->new_functions);
	table_cell(t, "%" PRIu64, p->mostly.all);
	if (is_weighted(c))
		table_cell(t, p->part == COVERAGE_PHASE ? "%.4g" : "", p->times);
	table_cell(t, "%s", remark);
}

static void add_phases(const struct coverage_facts *c, struct buf *out)
{
	const char *heads[8] = {
		"setting", "phase", ">counted", ">functions", ">first here", ">mostly here"};
	size_t skip = has_settings(c) ? 0 : 1, n = 6;
	struct table *t;

	if (is_weighted(c))
		heads[n++] = ">times";
	heads[n++] = "";
	t = table_new(heads + skip, n - skip);

	for (size_t i = 0; i < c->n_phases; i++)
		phase_row(t, c, i);
	report_print_table(t, out);
}

/* ---- Lists of functions ---------------------------------------------------------------------- */

static void function_rows(struct table *t, const struct coverage_facts *c,
	const struct coverage_phase *p, const struct coverage_functions *f, size_t most)
{
	for (size_t i = 0; i < f->n && i < most; i++) {
		setting_cell(t, c, p->setting);
		table_cell(t, "%s", report_phase_name(p));
		name_cell(t, report_function_name(&f->v[i]));
		table_cell(t, "%" PRIu64, f->v[i].count);
		table_cell(t, "%.1f %%", f->v[i].share * 100);
		table_cell(t, "%s", f->v[i].file ? f->v[i].file : "");
	}
}

static void add_lists(const struct coverage_facts *c, bool first, struct buf *out)
{
	static const char *const heads[] = {
		"setting", "phase", "function", ">counted", ">of its all", "file"};
	size_t skip = has_settings(c) ? 0 : 1, rows = 0;
	struct table *t = table_new(heads + skip, ARRAY_SIZE(heads) - skip);

	for (size_t i = 0; i < c->n_phases; i++) {
		const struct coverage_phase *p = &c->phases[i];
		const struct coverage_functions *f = first ? &p->first : &p->mostly;

		if (p->part != COVERAGE_PHASE)
			continue;
		function_rows(t, c, p, f, 10);
		rows += f->n;
	}
	if (rows) {
		buf_addf(out, "\nFunctions that a phase executes %s\n",
			first ? "first" : "more than all other phases together");
		report_print_table(t, out);
	} else {
		table_free(t);
	}
}

static void add_settings(const struct coverage_facts *c, size_t most, struct buf *out)
{
	static const char *const heads[] = {
		"setting", ">counted", ">functions of its own", "reached", "such as"};
	struct table *t;

	if (!has_settings(c))
		return;
	t = table_new(heads, ARRAY_SIZE(heads));
	for (size_t i = 0; i < c->n_settings; i++) {
		const struct coverage_setting *s = &c->settings[i];
		auto_buf struct buf names = BUF_INIT;

		for (size_t k = 0; k < s->only.n && k < most; k++)
			buf_addf(
				&names, "%s%s", k ? ", " : "", report_function_name(&s->only.v[k]));
		table_cell(t, "%s", s->name);
		table_cell(t, "%" PRIu64, s->count);
		table_cell(t, "%" PRIu64, s->only.all);
		table_cell(t, "%s",
			!s->reached   ? "no: its phases executed nothing"
			: s->only.all ? "yes"
				      : "its phases ran, as with the others");
		name_cell(t, buf_str(&names));
	}
	buf_adds(out, "\nSettings\n");
	report_print_table(t, out);
}

static void add_unreached(const struct coverage_facts *c, size_t most, struct buf *out)
{
	static const char *const heads[] = {">counters", "function", "file"};
	const struct coverage_functions *f = &c->unreached;
	struct table *t;

	if (!f->n)
		return;
	t = table_new(heads, ARRAY_SIZE(heads));
	for (size_t i = 0; i < f->n && i < most; i++) {
		table_cell(t, "%" PRIu32, f->v[i].counters);
		name_cell(t, report_function_name(&f->v[i]));
		table_cell(t, "%s", f->v[i].file ? f->v[i].file : "");
	}
	buf_addf(out,
		"\nFunctions that nothing executes: %" PRIu64 " of %" PRIu64 "; the largest\n",
		f->all, c->functions);
	report_print_table(t, out);
}

void report_coverage_text(const struct coverage_facts *c, bool many, struct buf *out)
{
	buf_adds(out, "Coverage of the training\n");
	if (c->problem) {
		report_add_indented(out, "not known: what each phase executes could not be read");
		report_add_indented(out, c->problem);
		return;
	}
	add_phases(c, out);
	buf_addf(out,
		"  %" PRIu64 " of %" PRIu64 " functions in phases, %" PRIu64
		" before and after them alone; %" PRIu64 " of %" PRIu64 " counters\n",
		c->phase_functions, c->functions, c->outside_functions, c->executed_counters,
		c->counters);
	if (c->notes)
		report_add_indented(out, c->notes);
	add_settings(c, many ? 5 : 2, out);
	if (many) {
		add_lists(c, true, out);
		add_lists(c, false, out);
	}
	add_unreached(c, many ? 40 : 10, out);
}
