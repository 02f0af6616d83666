#include "facts/past.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

void past_build_release(struct past_build *b)
{
	char *const texts[] = {b->started, b->project, b->version, b->target, b->whet, b->revision,
		b->machine, b->source, b->training, b->profile};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		free(texts[i]);
	for (size_t i = 0; i < b->n_tools; i++) {
		free(b->tools[i].name);
		free(b->tools[i].version);
	}
	for (size_t i = 0; i < b->n_artefacts; i++) {
		free(b->artefacts[i].name);
		free(b->artefacts[i].variant);
		free(b->artefacts[i].sha256);
	}
	for (size_t i = 0; i < b->n_stages; i++)
		free(b->stages[i].name);
	free(b->tools);
	free(b->artefacts);
	free(b->stages);
	comparisons_release(&b->bench);
	memset(b, 0, sizeof(*b));
}

void past_builds_release(struct past_builds *b)
{
	for (size_t i = 0; i < b->n; i++)
		past_build_release(&b->v[i]);
	free(b->v);
	memset(b, 0, sizeof(*b));
}

const struct past_build *past_find(const struct past_builds *b, int64_t id)
{
	for (size_t i = 0; i < b->n; i++)
		if (b->v[i].id == id)
			return &b->v[i];
	return NULL;
}

const struct comparison *past_overall(const struct comparisons *c)
{
	if (!c->n || comparisons_is_null(c, 0))
		return NULL;
	if (c->n_weighted)
		return &c->weighted[0];
	return comparisons_scenarios(c) == 1 ? &c->v[0] : NULL;
}

const struct comparison *past_scenario(
	const struct comparisons *c, const char *scenario, const char *variant)
{
	for (size_t i = 0; i < c->n; i++)
		if (!comparisons_is_null(c, i) && strcmp(c->v[i].scenario, scenario) == 0 &&
			(!variant || strcmp(c->v[i].variant, variant) == 0))
			return &c->v[i];
	return NULL;
}

/* ---- JSON ---- */

static json_t *tools_json(const struct past_build *b)
{
	json_t *a = json_array();

	for (size_t i = 0; i < b->n_tools; i++) {
		json_t *o = json_object();

		json_set_text(o, "name", b->tools[i].name);
		json_set_text(o, "version", b->tools[i].version);
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *artefacts_json(const struct past_build *b)
{
	json_t *a = json_array();

	for (size_t i = 0; i < b->n_artefacts; i++) {
		const struct past_artefact *x = &b->artefacts[i];
		json_t *o = json_object();

		json_set_text(o, "name", x->name);
		json_set_text(o, "variant", x->variant);
		json_set_text(o, "sha256", x->sha256);
		json_object_set_new(o, "bytes", json_u64(x->bytes));
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *stages_json(const struct past_build *b)
{
	json_t *a = json_array();

	for (size_t i = 0; i < b->n_stages; i++) {
		const struct past_stage *s = &b->stages[i];
		json_t *o = json_object();

		json_set_text(o, "name", s->name);
		json_object_set_new(o, "wall_ns", json_u64(s->wall_ns));
		json_object_set_new(o, "cpu_ns", json_u64(s->cpu_ns));
		json_object_set_new(o, "reused", json_boolean(s->reused));
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *bench_json(const struct comparisons *c)
{
	json_t *o, *one;
	size_t i;

	if (!c->n)
		return json_null();
	o = comparisons_json(c);
	json_array_foreach(json_object_get(o, "comparisons"), i, one)
		json_object_set_new(one, "null_arm", json_boolean(comparisons_is_null(c, i)));
	return o;
}

json_t *past_build_json(const struct past_build *b)
{
	json_t *o = json_object();
	char text[CLOCK_TEXT];

	clock_utc_text(b->finished_ns / NS_PER_S, text);
	json_object_set_new(o, "id", json_integer(b->id));
	json_object_set_new(o, "started", json_text(b->started));
	json_object_set_new(o, "finished", json_text(text));
	json_object_set_new(o, "project", json_text(b->project));
	json_object_set_new(o, "version", json_text(b->version));
	json_object_set_new(o, "target", json_text(b->target));
	json_object_set_new(o, "whet", json_text(b->whet));
	json_object_set_new(o, "revision", json_text(b->revision));
	json_object_set_new(o, "dirty",
		b->dirty == PAST_DIRTY_UNKNOWN ? json_null()
					       : json_boolean(b->dirty == PAST_DIRTY));
	json_object_set_new(o, "machine", json_text(b->machine));
	json_object_set_new(o, "source", json_text(b->source));
	json_object_set_new(o, "training", json_text(b->training));
	json_object_set_new(o, "profile", json_text(b->profile));
	json_object_set_new(o, "tools", tools_json(b));
	json_object_set_new(o, "artefacts", artefacts_json(b));
	json_object_set_new(o, "stages", stages_json(b));
	json_object_set_new(o, "bench", bench_json(&b->bench));
	return o;
}
