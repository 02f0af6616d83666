/* The gain over the builds, drawn with letters. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/history.h"

#define COLUMNS_MIN 20
#define VERSION_MAX 20

struct plot {
	double low, high;  /* percent, 0 among them */
	int columns;       /* of the field of the plot */
	int label, figure; /* width of what stands left and right of it */
	const char *scenario;
	bool few; /* a build has no interval */
};

static const struct comparison *row_of(const struct plot *p, const struct past_build *b)
{
	return p->scenario ? past_scenario(&b->bench, p->scenario, NULL) : past_overall(&b->bench);
}

static double low_of(const struct comparison *c)
{
	return ratio_percent(isfinite(c->low) ? fmin(c->low, c->ratio) : c->ratio);
}

static double high_of(const struct comparison *c)
{
	return ratio_percent(isfinite(c->high) ? fmax(c->high, c->ratio) : c->ratio);
}

static char *figure_text(const struct comparison *c)
{
	if (!c)
		return xstrdup("not measured");
	if (!isfinite(c->low) || !isfinite(c->high))
		return xasprintf("%+.1f", ratio_percent(c->ratio));
	return xasprintf("%+.1f [%+.1f, %+.1f]", ratio_percent(c->ratio), ratio_percent(c->low),
		ratio_percent(c->high));
}

static char *label_text(const struct past_build *b)
{
	return xasprintf("%5" PRId64 "  %.*s", b->id, VERSION_MAX, b->version);
}

static int larger(int a, size_t n)
{
	return a > (int)n ? a : (int)n;
}

static size_t measure(const struct past_builds *b, unsigned width, struct plot *p)
{
	size_t found = 0;

	for (size_t i = 0; i < b->n; i++) {
		const struct comparison *c = row_of(p, &b->v[i]);
		auto_free char *label = label_text(&b->v[i]), *figure = figure_text(c);

		p->label = larger(p->label, strlen(label));
		p->figure = larger(p->figure, strlen(figure));
		if (!c)
			continue;
		found++;
		p->low = fmin(p->low, low_of(c));
		p->high = fmax(p->high, high_of(c));
		p->few = p->few || !isfinite(c->low);
	}
	if (p->high - p->low < 0.1)
		p->high += 0.1; /* all of them 0 */
	p->columns = (int)width - p->label - p->figure - 4;
	if (p->columns < COLUMNS_MIN)
		p->columns = COLUMNS_MIN;
	return found;
}

static int column(const struct plot *p, double percent)
{
	return (int)lround((percent - p->low) / (p->high - p->low) * (p->columns - 1));
}

static void add_line(struct buf *out, const struct plot *p, const char *label, const char *field,
	const char *figure)
{
	buf_addf(out, "%-*s  %s  %s", p->label, label, field, figure);
	while (out->n && out->p[out->n - 1] == ' ')
		out->p[--out->n] = '\0';
	buf_addc(out, '\n');
}

static char *empty_field(const struct plot *p)
{
	char *f = xmalloc((size_t)p->columns + 1);

	memset(f, ' ', (size_t)p->columns);
	f[p->columns] = '\0';
	return f;
}

/* Puts a text at a column, or as far to the right as it fits, where nothing stands yet. */
static void put(const struct plot *p, char *field, int at, const char *text)
{
	int n = (int)strlen(text);

	if (at > p->columns - n)
		at = p->columns - n;
	for (int i = at > 0 ? at - 1 : 0; i < at + n && i < p->columns; i++)
		if (field[i] != ' ')
			return;
	memcpy(field + at, text, (size_t)n);
}

static void add_axis(struct buf *out, const struct plot *p)
{
	auto_free char *field = empty_field(p);
	auto_free char *low = xasprintf("%+.1f", p->low), *high = xasprintf("%+.1f", p->high);

	put(p, field, column(p, 0), "0");
	if (p->low < 0)
		put(p, field, 0, low);
	if (p->high > 0)
		put(p, field, p->columns, high);
	add_line(out, p, "build  version", field, "percent");
}

static void add_row(struct buf *out, const struct plot *p, const struct past_build *b)
{
	const struct comparison *c = row_of(p, b);
	auto_free char *label = label_text(b), *figure = figure_text(c), *field = empty_field(p);

	field[column(p, 0)] = ':';
	if (c) {
		int low = column(p, low_of(c)), high = column(p, high_of(c));

		if (isfinite(c->low)) {
			memset(field + low, '-', (size_t)(high - low + 1));
			field[low] = '[';
			field[high] = ']';
		}
		field[column(p, ratio_percent(c->ratio))] = c->shown == SHOWN_NONE ? 'x' : 'o';
	}
	add_line(out, p, label, field, figure);
}

/* The scenarios of all builds, each once, for the message that none has the one that was asked. */
static int no_such(const struct past_builds *b, const char *scenario, struct error *err)
{
	auto_strv struct strv names = STRV_INIT;
	auto_free char *list = NULL;

	for (size_t i = 0; i < b->n; i++)
		for (size_t k = 0; k < comparisons_scenarios(&b->v[i].bench); k++)
			if (!strv_has(&names, b->v[i].bench.v[k].scenario))
				strv_add(&names, b->v[i].bench.v[k].scenario);
	if (!names.n || !scenario)
		return error_set(err, ERR_USAGE, "no build in the history was measured");
	list = strv_join(&names, ", ");
	return error_set(err, ERR_USAGE,
		"no build in the history has the scenario '%s'; there are: %s", scenario, list);
}

int report_history_plot(const struct past_builds *b, const char *scenario, unsigned width,
	struct buf *out, struct error *err)
{
	struct plot p = {.scenario = scenario, .label = (int)strlen("build  version")};

	if (!measure(b, width, &p))
		return no_such(b, scenario, err);
	buf_addf(out, "CPU time against the plain build of the same sources: %s\n",
		scenario ? scenario : "all scenarios by weight");
	add_axis(out, &p);
	for (size_t i = 0; i < b->n; i++)
		add_row(out, &p, &b->v[i]);
	buf_addf(out,
		"\no  a difference is shown, x  none is; left of ':' costs less\n"
		"[---]  95 %% interval%s\n"
		"Each build was measured against its own plain build, at its own time. Builds "
		"whose\n"
		"gates failed or whose profile was given are not in the history, and not here.\n",
		p.few ? "; none with fewer than six launches" : "");
	return 0;
}
