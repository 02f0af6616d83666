/* The gain over the last builds, as a section of the document. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "report/plot.h"
#include "report/sections.h"
#include "report/text.h"

static const char *machine_of(const struct report_past *p)
{
	return p->build->machine ? p->build->machine : "not known";
}

/* Where all were measured on one machine, no column says it. */
static bool machines_differ(const struct report_past *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (strcmp(machine_of(&v[i]), machine_of(&v[0])) != 0)
			return true;
	return false;
}

static void add_row(struct doc *d, const struct report_past *p, bool machines, bool labels)
{
	const struct comparison *c = p->figure;
	auto_free char *revision = report_revision(p->build);
	auto_buf struct buf gain = BUF_INIT;

	report_change_text(c, &gain);
	if (p->build->id)
		doc_cell(d, "%" PRId64, p->build->id);
	else
		doc_cell(d, "this build");
	doc_cell(d, "%s", p->build->started);
	doc_cell(d, "%s", p->build->version);
	doc_cell(d, "%s", revision);
	doc_mark_cell(d,
		c->shown == SHOWN_NONE   ? DOC_PLAIN
		: c->shown == SHOWN_LESS ? DOC_GOOD
					 : DOC_BAD,
		"%s", buf_str(&gain));
	if (machines)
		doc_cell(d, "%s", machine_of(p));
	if (labels)
		doc_mark_cell(d, *p->label ? DOC_WARN : DOC_PLAIN, "%s", p->label);
}

static void add_table(struct doc *d, const struct report_past *v, size_t n, const char *label)
{
	const char *heads[7] = {"build", "started", "version", "`revision", "=against plain"};
	bool machines = machines_differ(v, n);
	size_t columns = 5;

	if (machines)
		heads[columns++] = "machine";
	if (*label)
		heads[columns++] = "=label";
	doc_table(d,
		"CPU time against the plain build of the same sources, percent with 95 % "
		"intervals",
		heads, columns);
	for (size_t i = 0; i < n; i++)
		add_row(d, &v[i], machines, *label != 0);
	doc_end_table(d);
}

static void add_reading(struct doc *d)
{
	doc_begin_list(d);
	doc_item(d,
		"Each build was measured against its own plain build, at its own time: gains can "
		"be compared, times cannot.");
	doc_item(d, "The figure is that of all scenarios by weight, or of the only one.");
	doc_item(d, "Revision: + tracked files differed from it, ? that is not known.");
	doc_item(d, "Builds whose gates failed or whose profile was given are not in the history.");
	doc_end_list(d);
}

void section_history(struct doc *d, const struct report *r)
{
	struct report_past v[REPORT_PAST_MAX];
	size_t n = report_past(r, v);
	const char *label = n ? v[n - 1].label : "";
	auto_buf struct buf svg = BUF_INIT;

	if (!n)
		return;
	doc_section(d, "history", "History");
	if (*label)
		doc_note(d, DOC_BAD, "The figure of this build is not that of a release: %s.",
			label);
	add_table(d, v, n, label);
	plot_history(v, n, &svg);
	doc_figure(d, buf_str(&svg),
		"One point a build, the newest last. Filled points: a difference is shown. Hollow "
		"points: none is. Lines: 95 % intervals.");
	add_reading(d);
}
