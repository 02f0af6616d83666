#include <stdlib.h>

#include "facts/figure_json.h"
#include "report/history.h"
#include "report/history_changes.h"

json_t *report_history_json(const char *project, const struct past_build *v, size_t n)
{
	json_t *o = json_object(), *builds = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(builds, past_build_json(&v[i]));
	json_object_set_new(o, "schema", json_string("whet-history-1"));
	json_object_set_new(o, "project", json_text(project));
	json_object_set_new(o, "builds", builds);
	return o;
}

static json_t *interval_json(double at, double low, double high)
{
	json_t *o = json_object();

	json_object_set_new(o, "ratio", figure_json_real(at));
	json_object_set_new(o, "low", figure_json_real(low));
	json_object_set_new(o, "high", figure_json_real(high));
	return o;
}

static json_t *figure_json(const struct comparison *c)
{
	return c ? interval_json(c->ratio, c->low, c->high) : json_null();
}

static json_t *change_json(const struct history_change *c)
{
	static const char *const shown[] = {"less", "none", "more"};
	bool both = c->before && c->after;
	json_t *o = json_object();

	json_object_set_new(o, "scenario", json_text(c->scenario));
	json_object_set_new(o, "variant", json_text(c->variant));
	json_object_set_new(o, "before", figure_json(c->before));
	json_object_set_new(o, "after", figure_json(c->after));
	json_object_set_new(o, "change",
		both ? interval_json(c->change.ratio.at, c->change.ratio.low, c->change.ratio.high)
		     : json_null());
	json_object_set_new(o, "shown", json_string(shown[history_shown(c) + 1]));
	json_object_set_new(o, "overlap",
		both && c->change.known ? json_boolean(c->change.overlap) : json_null());
	return o;
}

json_t *report_history_compare_json(const struct past_build *before, const struct past_build *after)
{
	json_t *o = json_object(), *changes = json_array();
	auto_strv struct strv others = STRV_INIT;
	struct history_changes c = {0};

	history_changes(before, after, &c);
	history_differences(before, after, &others);
	for (size_t i = 0; i < c.n; i++)
		json_array_append_new(changes, change_json(&c.v[i]));
	json_object_set_new(o, "schema", json_string("whet-history-compare-1"));
	json_object_set_new(o, "before", past_build_json(before));
	json_object_set_new(o, "after", past_build_json(after));
	json_object_set_new(o, "changes", changes);
	json_object_set_new(o, "also_different", json_from_strv(&others));
	free(c.v);
	return o;
}
