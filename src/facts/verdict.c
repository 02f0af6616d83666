#include "facts/verdict.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/strv.h"
#include "facts/fact_io.h"

static const char *const state_names[] = {
	[VERDICT_PASS] = "pass",
	[VERDICT_FAIL] = "FAIL",
	[VERDICT_SKIPPED] = "skipped",
};

const char *verdict_state_name(enum verdict_state s)
{
	return s < ARRAY_SIZE(state_names) ? state_names[s] : "?";
}

void verdict_add(struct verdicts *vs, const char *gate, enum verdict_state state,
	const char *summary, const char *evidence, const char *remedy)
{
	array_reserve(vs->v, vs->n, vs->cap);
	vs->v[vs->n++] = (struct verdict){
		.gate = gate,
		.state = state,
		.summary = xstrdup(summary ? summary : ""),
		.evidence = xstrdup(evidence ? evidence : ""),
		.remedy = xstrdup(remedy ? remedy : ""),
	};
}

static void verdict_release(struct verdict *v)
{
	free(v->summary);
	free(v->evidence);
	free(v->remedy);
}

void verdicts_drop_last(struct verdicts *vs)
{
	verdict_release(&vs->v[--vs->n]);
}

bool verdicts_failed(const struct verdicts *vs)
{
	for (size_t i = 0; i < vs->n; i++) {
		if (vs->v[i].state == VERDICT_FAIL)
			return true;
	}
	return false;
}

void verdicts_release(struct verdicts *vs)
{
	for (size_t i = 0; i < vs->n; i++)
		verdict_release(&vs->v[i]);
	free(vs->v);
	memset(vs, 0, sizeof(*vs));
}

json_t *verdicts_json(const struct verdicts *vs)
{
	json_t *a = json_array();

	for (size_t i = 0; i < vs->n; i++) {
		const struct verdict *v = &vs->v[i];
		json_t *o = json_object();

		json_set_text(o, "gate", v->gate);
		json_object_set_new(o, "state", json_string(verdict_state_name(v->state)));
		json_set_text(o, "summary", v->summary);
		json_set_text(o, "evidence", v->evidence);
		json_set_text(o, "remedy", v->remedy);
		json_array_append_new(a, o);
	}
	return a;
}

/* Gate names read from a file must live as long as those compiled in: each is kept once, for ever.
 */
static const char *intern(const char *name)
{
	static struct strv known;

	for (size_t i = 0; i < known.n; i++) {
		if (strcmp(known.v[i], name) == 0)
			return known.v[i];
	}
	strv_add(&known, name);
	return known.v[known.n - 1];
}

int verdicts_from_json(const json_t *j, struct verdicts *ret, struct error *err)
{
	struct verdicts vs = {0};

	if (!json_is_array(j))
		return error_set(err, ERR_CORRUPT, "the verdicts are no list");
	for (size_t i = 0; i < json_array_size(j); i++) {
		const json_t *o = json_array_get(j, i);
		const char *gate = json_string_value(json_object_get(o, "gate"));
		int state;

		if (!gate)
			error_set(err, ERR_CORRUPT, "'gate' is missing or no string");
		if (!gate || fact_enum(o, "state", state_names, ARRAY_SIZE(state_names), &state,
				     err) < 0) {
			verdicts_release(&vs);
			return error_context(err, "verdict %zu", i);
		}
		verdict_add(&vs, intern(gate), (enum verdict_state)state,
			json_string_value(json_object_get(o, "summary")),
			json_string_value(json_object_get(o, "evidence")),
			json_string_value(json_object_get(o, "remedy")));
	}
	*ret = vs;
	return 0;
}
