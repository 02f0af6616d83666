#include "facts/coverage.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "facts/fact_io.h"

#define COVERAGE_FORMAT "whet coverage facts 1"

static const char *const part_names[] = {
	[COVERAGE_START] = "start",
	[COVERAGE_PHASE] = "phase",
	[COVERAGE_STOP] = "stop",
};

const char *coverage_part_name(enum coverage_part p)
{
	return p < ARRAY_SIZE(part_names) ? part_names[p] : "?";
}

static void functions_release(struct coverage_functions *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->v[i].name);
		free(f->v[i].source_name);
		free(f->v[i].file);
	}
	free(f->v);
}

void coverage_facts_release(struct coverage_facts *c)
{
	free(c->problem);
	free(c->notes);
	for (size_t i = 0; i < c->n_phases; i++) {
		struct coverage_phase *p = &c->phases[i];

		free(p->setting);
		free(p->name);
		free(p->like);
		free(p->profile);
		functions_release(&p->first);
		functions_release(&p->mostly);
	}
	for (size_t i = 0; i < c->n_settings; i++) {
		free(c->settings[i].name);
		functions_release(&c->settings[i].only);
	}
	functions_release(&c->unreached);
	free(c->phases);
	free(c->settings);
	memset(c, 0, sizeof(*c));
}

/* ---- To JSON --------------------------------------------------------------------------------- */

static json_t *functions_json(const struct coverage_functions *f)
{
	json_t *o = json_object(), *a = json_array();

	for (size_t i = 0; i < f->n; i++) {
		const struct coverage_function *x = &f->v[i];
		json_t *one = json_object();

		json_object_set_new(one, "name", json_text(x->name));
		json_object_set_new(one, "source_name", json_text(x->source_name));
		json_object_set_new(one, "file", json_text(x->file));
		json_object_set_new(one, "counters", json_u64(x->counters));
		json_object_set_new(one, "count", json_u64(x->count));
		json_object_set_new(one, "share", json_real(x->share));
		json_array_append_new(a, one);
	}
	json_object_set_new(o, "all", json_u64(f->all));
	json_object_set_new(o, "largest", a);
	return o;
}

static json_t *phase_json(const struct coverage_phase *p)
{
	json_t *o = json_object();

	json_object_set_new(o, "part", json_string(coverage_part_name(p->part)));
	json_object_set_new(o, "setting", json_text(p->setting));
	json_object_set_new(o, "name", json_text(p->name));
	json_object_set_new(o, "count", json_u64(p->count));
	json_object_set_new(o, "functions", json_u64(p->functions));
	json_object_set_new(o, "counters", json_u64(p->counters));
	json_object_set_new(o, "new_functions", json_u64(p->new_functions));
	json_object_set_new(o, "new_counters", json_u64(p->new_counters));
	json_object_set_new(o, "new_count", json_u64(p->new_count));
	json_object_set_new(o, "first", functions_json(&p->first));
	json_object_set_new(o, "mostly", functions_json(&p->mostly));
	json_object_set_new(o, "like", json_text(p->like));
	json_object_set_new(o, "alike", json_real(p->alike));
	json_object_set_new(o, "useless", json_boolean(p->useless));
	json_object_set_new(o, "weight", json_real(p->weight));
	json_object_set_new(o, "times", json_real(p->times));
	json_object_set_new(o, "profile", json_text(p->profile));
	return o;
}

static json_t *setting_json(const struct coverage_setting *s)
{
	json_t *o = json_object();

	json_object_set_new(o, "name", json_text(s->name));
	json_object_set_new(o, "count", json_u64(s->count));
	json_object_set_new(o, "reached", json_boolean(s->reached));
	json_object_set_new(o, "only", functions_json(&s->only));
	return o;
}

json_t *coverage_json(const struct coverage_facts *c)
{
	json_t *o = json_object(), *phases = json_array(), *settings = json_array();

	for (size_t i = 0; i < c->n_phases; i++)
		json_array_append_new(phases, phase_json(&c->phases[i]));
	for (size_t i = 0; i < c->n_settings; i++)
		json_array_append_new(settings, setting_json(&c->settings[i]));
	json_object_set_new(o, "problem", json_text(c->problem));
	json_object_set_new(o, "notes", json_text(c->notes));
	json_object_set_new(o, "phases", phases);
	json_object_set_new(o, "settings", settings);
	json_object_set_new(o, "functions", json_u64(c->functions));
	json_object_set_new(o, "counters", json_u64(c->counters));
	json_object_set_new(o, "phase_functions", json_u64(c->phase_functions));
	json_object_set_new(o, "executed_counters", json_u64(c->executed_counters));
	json_object_set_new(o, "outside_functions", json_u64(c->outside_functions));
	json_object_set_new(o, "unreached", functions_json(&c->unreached));
	json_object_set_new(o, "stopped_ns", json_u64(c->stopped_ns));
	return o;
}

int coverage_facts_write(const struct coverage_facts *c, const char *path, struct error *err)
{
	auto_json json_t *o = coverage_json(c);

	json_object_set_new(o, "format", json_string(COVERAGE_FORMAT));
	return fact_write(o, path, err);
}

/* ---- From JSON ------------------------------------------------------------------------------- */

static void read_functions(const json_t *o, const char *key, struct coverage_functions *ret)
{
	const json_t *f = json_object_get(o, key), *a = json_object_get(f, "largest");

	ret->all = fact_u64(f, "all");
	for (size_t i = 0; i < json_array_size(a); i++) {
		const json_t *one = json_array_get(a, i);
		struct coverage_function x = {.counters = (uint32_t)fact_u64(one, "counters"),
			.count = fact_u64(one, "count"),
			.share = json_number_value(json_object_get(one, "share"))};

		fact_take_str(one, "name", &x.name);
		fact_take_str(one, "source_name", &x.source_name);
		fact_take_str(one, "file", &x.file);
		array_reserve(ret->v, ret->n, ret->cap);
		ret->v[ret->n++] = x;
	}
}

static int read_phases(const json_t *a, struct coverage_facts *c, struct error *err)
{
	for (size_t i = 0; i < json_array_size(a); i++) {
		const json_t *o = json_array_get(a, i);
		struct coverage_phase *p;
		int part;

		if (fact_enum(o, "part", part_names, ARRAY_SIZE(part_names), &part, err) < 0)
			return error_context(err, "phase %zu", i);
		array_reserve(c->phases, c->n_phases, c->cap_phases);
		p = &c->phases[c->n_phases++];
		*p = (struct coverage_phase){.part = (enum coverage_part)part,
			.count = fact_u64(o, "count"),
			.functions = fact_u64(o, "functions"),
			.counters = fact_u64(o, "counters"),
			.new_functions = fact_u64(o, "new_functions"),
			.new_counters = fact_u64(o, "new_counters"),
			.new_count = fact_u64(o, "new_count"),
			.alike = json_number_value(json_object_get(o, "alike")),
			.useless = json_opt_bool(o, "useless", false),
			.weight = json_number_value(json_object_get(o, "weight")),
			.times = json_number_value(json_object_get(o, "times"))};
		fact_take_str(o, "setting", &p->setting);
		fact_take_str(o, "name", &p->name);
		fact_take_str(o, "like", &p->like);
		fact_take_str(o, "profile", &p->profile);
		read_functions(o, "first", &p->first);
		read_functions(o, "mostly", &p->mostly);
	}
	return 0;
}

static void read_settings(const json_t *a, struct coverage_facts *c)
{
	for (size_t i = 0; i < json_array_size(a); i++) {
		const json_t *o = json_array_get(a, i);
		struct coverage_setting *s;

		array_reserve(c->settings, c->n_settings, c->cap_settings);
		s = &c->settings[c->n_settings++];
		*s = (struct coverage_setting){.count = fact_u64(o, "count"),
			.reached = json_opt_bool(o, "reached", false)};
		fact_take_str(o, "name", &s->name);
		read_functions(o, "only", &s->only);
	}
}

int coverage_facts_read(const char *path, struct coverage_facts *ret, struct error *err)
{
	auto_json json_t *o = fact_read(path, COVERAGE_FORMAT, err);
	struct coverage_facts c = {0};

	if (!o)
		return -1;
	if (read_phases(json_object_get(o, "phases"), &c, err) < 0) {
		coverage_facts_release(&c);
		return error_context(err, "coverage '%s'", path);
	}
	read_settings(json_object_get(o, "settings"), &c);
	fact_take_str(o, "problem", &c.problem);
	fact_take_str(o, "notes", &c.notes);
	c.functions = fact_u64(o, "functions");
	c.counters = fact_u64(o, "counters");
	c.phase_functions = fact_u64(o, "phase_functions");
	c.executed_counters = fact_u64(o, "executed_counters");
	c.outside_functions = fact_u64(o, "outside_functions");
	read_functions(o, "unreached", &c.unreached);
	c.stopped_ns = fact_u64(o, "stopped_ns");
	*ret = c;
	return 0;
}
