#include "facts/layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "facts/fact_io.h"

#define FORMAT "whet-layout-1"

void layout_input_release(struct layout_input *i)
{
	free(i->machine);
	free(i->build_id);
	strv_release(&i->split_names);
	free(i->memory_limit);
	memset(i, 0, sizeof(*i));
}

void layout_profile_release(struct layout_profile *p)
{
	free(p->source);
	free(p->binary);
	memset(p, 0, sizeof(*p));
}

void layout_result_release(struct layout_result *r)
{
	free(r->tool);
	strv_release(&r->options);
	for (size_t i = 0; i < r->n_changes; i++)
		free(r->changes[i].what);
	free(r->changes);
	strv_release(&r->warnings);
	memset(r, 0, sizeof(*r));
}

void layout_facts_release(struct layout_facts *f)
{
	layout_input_release(&f->input);
	layout_profile_release(&f->profile);
	layout_result_release(&f->result);
}

/* The members that are numbers or flags: one list for both directions. */
struct number {
	const char *key;
	size_t at;
};
#define NUMBER(type, member) {#member, offsetof(struct type, member)}

static const struct number input_numbers[] = {
	NUMBER(layout_input, bytes),
	NUMBER(layout_input, text_bytes),
	NUMBER(layout_input, functions),
	NUMBER(layout_input, split_functions),
	NUMBER(layout_input, memory_need),
	NUMBER(layout_input, memory_have),
};
static const struct number input_flags[] = {
	NUMBER(layout_input, relocations),
	NUMBER(layout_input, symbols),
	NUMBER(layout_input, debug),
	NUMBER(layout_input, bolted),
	NUMBER(layout_input, instrumented),
	NUMBER(layout_input, is_static),
};
static const struct number profile_numbers[] = {
	NUMBER(layout_profile, files),
	NUMBER(layout_profile, functions),
	NUMBER(layout_profile, branches),
	NUMBER(layout_profile, executed),
	NUMBER(layout_profile, unknown),
};
static const struct number result_numbers[] = {
	NUMBER(layout_result, functions),
	NUMBER(layout_result, with_profile),
	NUMBER(layout_result, samples),
	NUMBER(layout_result, stale_samples),
	NUMBER(layout_result, stale),
	NUMBER(layout_result, laid_out),
	NUMBER(layout_result, split),
	NUMBER(layout_result, skipped),
	NUMBER(layout_result, not_understood),
	NUMBER(layout_result, folded),
	NUMBER(layout_result, hot_bytes),
	NUMBER(layout_result, cold_bytes),
	NUMBER(layout_result, bytes_before),
	NUMBER(layout_result, bytes_after),
	NUMBER(layout_result, wall_ns),
	NUMBER(layout_result, peak_memory),
};

static void set_numbers(json_t *o, const void *from, const struct number *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		json_object_set_new(
			o, v[i].key, json_u64(*(const uint64_t *)((const char *)from + v[i].at)));
}

static void take_numbers(const json_t *o, void *to, const struct number *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		*(uint64_t *)((char *)to + v[i].at) = fact_u64(o, v[i].key);
}

static void set_flags(json_t *o, const void *from, const struct number *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		json_object_set_new(
			o, v[i].key, json_boolean(*(const bool *)((const char *)from + v[i].at)));
}

static void take_flags(const json_t *o, void *to, const struct number *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		*(bool *)((char *)to + v[i].at) = json_opt_bool(o, v[i].key, false);
}

json_t *layout_input_json(const struct layout_input *i)
{
	json_t *o = json_object();

	json_set_text(o, "machine", i->machine);
	json_set_text(o, "build_id", i->build_id);
	json_set_text(o, "memory_limit", i->memory_limit);
	set_flags(o, i, input_flags, ARRAY_SIZE(input_flags));
	set_numbers(o, i, input_numbers, ARRAY_SIZE(input_numbers));
	json_object_set_new(o, "split_names", json_from_strv(&i->split_names));
	return o;
}

json_t *layout_profile_json(const struct layout_profile *p)
{
	json_t *o = json_object();

	json_set_text(o, "source", p->source);
	json_set_text(o, "binary", p->binary);
	set_numbers(o, p, profile_numbers, ARRAY_SIZE(profile_numbers));
	return o;
}

json_t *layout_result_json(const struct layout_result *r)
{
	json_t *o = json_object(), *changes = json_array();

	for (size_t i = 0; i < r->n_changes; i++) {
		json_t *c = json_object();

		json_set_text(c, "what", r->changes[i].what);
		json_object_set_new(c, "before", json_u64(r->changes[i].before));
		json_object_set_new(c, "after", json_u64(r->changes[i].after));
		json_array_append_new(changes, c);
	}
	json_set_text(o, "tool", r->tool);
	json_object_set_new(o, "options", json_from_strv(&r->options));
	set_numbers(o, r, result_numbers, ARRAY_SIZE(result_numbers));
	json_object_set_new(o, "changes", changes);
	json_object_set_new(o, "warnings", json_from_strv(&r->warnings));
	return o;
}

int layout_facts_write(const struct layout_facts *f, const char *path, struct error *err)
{
	auto_json json_t *o = json_object();

	json_set_text(o, "format", FORMAT);
	json_object_set_new(o, "input", layout_input_json(&f->input));
	json_object_set_new(o, "profile", layout_profile_json(&f->profile));
	json_object_set_new(o, "result", layout_result_json(&f->result));
	return fact_write(o, path, err);
}

static void read_input(const json_t *o, struct layout_input *ret)
{
	fact_take_str(o, "machine", &ret->machine);
	fact_take_str(o, "build_id", &ret->build_id);
	fact_take_str(o, "memory_limit", &ret->memory_limit);
	take_flags(o, ret, input_flags, ARRAY_SIZE(input_flags));
	take_numbers(o, ret, input_numbers, ARRAY_SIZE(input_numbers));
	json_opt_strv(o, "split_names", &ret->split_names);
}

static void read_result(const json_t *o, struct layout_result *ret)
{
	const json_t *c;
	size_t i;

	fact_take_str(o, "tool", &ret->tool);
	json_opt_strv(o, "options", &ret->options);
	take_numbers(o, ret, result_numbers, ARRAY_SIZE(result_numbers));
	json_array_foreach(json_object_get(o, "changes"), i, c)
	{
		struct layout_change one = {
			.before = fact_u64(c, "before"), .after = fact_u64(c, "after")};

		fact_take_str(c, "what", &one.what);
		array_reserve(ret->changes, ret->n_changes, ret->cap_changes);
		ret->changes[ret->n_changes++] = one;
	}
	json_opt_strv(o, "warnings", &ret->warnings);
}

int layout_facts_read(const char *path, struct layout_facts *ret, struct error *err)
{
	auto_json json_t *o = fact_read(path, FORMAT, err);
	const json_t *profile = json_object_get(o, "profile");

	if (!o)
		return -1;
	read_input(json_object_get(o, "input"), &ret->input);
	fact_take_str(profile, "source", &ret->profile.source);
	fact_take_str(profile, "binary", &ret->profile.binary);
	take_numbers(profile, &ret->profile, profile_numbers, ARRAY_SIZE(profile_numbers));
	read_result(json_object_get(o, "result"), &ret->result);
	return 0;
}
