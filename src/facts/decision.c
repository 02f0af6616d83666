#include "facts/decision.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "facts/figure_json.h"

void decision_release(struct decision *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->v[i].name);
		free(d->v[i].settings);
		free(d->v[i].why);
		strv_release(&d->v[i].added);
	}
	free(d->v);
	free(d->proposed);
	free(d->why);
	free(d->released);
	memset(d, 0, sizeof(*d));
}

const char *decided_state_name(enum decided_state s)
{
	static const char *const names[] = {
		[DECIDED_PASSES] = "passes",
		[DECIDED_OUT] = "out",
		[DECIDED_WORSE] = "worse",
		[DECIDED_UNDECIDED] = "undecided",
		[DECIDED_NO_BETTER] = "no better",
	};

	return names[s];
}

const struct decided *decision_find(const struct decision *d, const char *name)
{
	for (size_t i = 0; i < d->n; i++)
		if (strcmp(d->v[i].name, name) == 0)
			return &d->v[i];
	return NULL;
}

char *decision_proposal(const struct decision *d, const char *wanted)
{
	if (!d->proposed || strcmp(d->proposed, wanted) == 0)
		return NULL;
	if (!decision_find(d, d->proposed))
		return xasprintf("none of %zu variants may be released, plain is what remains: %s",
			d->n, d->why);
	return xasprintf("proposes '%s': %s; set release.variant to it", d->proposed, d->why);
}

json_t *decision_json(const struct decision *d)
{
	json_t *o = json_object(), *a = json_array();

	for (size_t i = 0; i < d->n; i++) {
		const struct decided *v = &d->v[i];
		json_t *one = json_object();

		json_set_text(one, "name", v->name);
		json_set_text(one, "settings", v->settings);
		json_set_text(one, "state", decided_state_name(v->state));
		json_set_text(one, "why", v->why);
		json_object_set_new(one, "ratio", figure_json_real(v->ratio));
		json_object_set_new(one, "low", figure_json_real(v->low));
		json_object_set_new(one, "high", figure_json_real(v->high));
		json_object_set_new(one, "added", json_from_strv(&v->added));
		json_array_append_new(a, one);
	}
	json_object_set_new(o, "proposed", json_text(d->proposed));
	json_object_set_new(o, "why", json_text(d->why));
	json_object_set_new(o, "released", json_text(d->released));
	json_object_set_new(o, "variants", a);
	return o;
}
