#include "facts/compile.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "facts/compile_json.h"
#include "facts/fact_io.h"

#define BUILD_FORMAT "whet build facts 1"

static const char *const object_names[] = {
	[OBJECT_TARGET] = "target",
	[OBJECT_FOREIGN] = "foreign",
	[OBJECT_ASSEMBLY] = "assembly",
	[OBJECT_DATA] = "data",
	[OBJECT_TOOLCHAIN] = "toolchain",
	[OBJECT_WHET] = "whet",
	[OBJECT_UNKNOWN] = "unknown",
};

const char *object_class_name(enum object_class c)
{
	return c < ARRAY_SIZE(object_names) ? object_names[c] : "?";
}

void object_fact_release(struct object_fact *o)
{
	free(o->path);
	free(o->member);
	free(o->why);
	strv_release(&o->via);
	free(o->record);
	free(o->unit);
	free(o->source);
	free(o->code_hash);
	strv_release(&o->functions);
	memset(o, 0, sizeof(*o));
}

void binary_fact_release(struct binary_fact *b)
{
	free(b->name);
	free(b->path);
	free(b->sha256);
	free(b->link);
	for (size_t i = 0; i < b->n_objects; i++)
		object_fact_release(&b->objects[i]);
	free(b->objects);
	memset(b, 0, sizeof(*b));
}

void build_facts_release(struct build_facts *f)
{
	free(f->variant);
	free(f->source_before);
	free(f->source_after);
	free(f->source_changed);
	free(f->profile_name);
	free(f->profile_before);
	free(f->profile_after);
	compile_log_release(&f->log);
	for (size_t i = 0; i < f->n_binaries; i++)
		binary_fact_release(&f->binaries[i]);
	free(f->binaries);
	strv_release(&f->quarantine);
	memset(f, 0, sizeof(*f));
}

static json_t *object_json(const struct object_fact *f)
{
	json_t *o = json_object();

	json_set_text(o, "path", f->path);
	json_set_text(o, "member", f->member);
	json_object_set_new(o, "class", json_string(object_class_name(f->class)));
	json_set_text(o, "why", f->why);
	if (f->via.n)
		fact_set_strv(o, "via", &f->via);
	json_set_text(o, "record", f->record);
	json_set_text(o, "unit", f->unit);
	json_set_text(o, "source", f->source);
	json_set_text(o, "code_hash", f->code_hash);
	fact_set_strv(o, "functions", &f->functions);
	return o;
}

static json_t *binary_json(const struct binary_fact *b)
{
	json_t *o = json_object(), *a = json_array();

	json_set_text(o, "name", b->name);
	json_set_text(o, "path", b->path);
	json_set_text(o, "sha256", b->sha256);
	json_set_text(o, "link", b->link);
	for (size_t i = 0; i < b->n_objects; i++)
		json_array_append_new(a, object_json(&b->objects[i]));
	json_object_set_new(o, "objects", a);
	return o;
}

int build_facts_write(const struct build_facts *f, const char *path, struct error *err)
{
	auto_json json_t *o = json_object();
	json_t *log = json_array(), *binaries = json_array();

	json_object_set_new(o, "format", json_string(BUILD_FORMAT));
	json_set_text(o, "variant", f->variant);
	json_set_text(o, "source_before", f->source_before);
	json_set_text(o, "source_after", f->source_after);
	json_set_text(o, "source_changed", f->source_changed);
	json_set_text(o, "profile_name", f->profile_name);
	json_set_text(o, "profile_before", f->profile_before);
	json_set_text(o, "profile_after", f->profile_after);
	for (size_t i = 0; i < f->log.n; i++)
		json_array_append_new(log, compile_record_json(&f->log.v[i]));
	for (size_t i = 0; i < f->n_binaries; i++)
		json_array_append_new(binaries, binary_json(&f->binaries[i]));
	json_object_set_new(o, "log", log);
	json_object_set_new(o, "binaries", binaries);
	fact_set_strv(o, "quarantine", &f->quarantine);
	return fact_write(o, path, err);
}

static int object_from_json(const json_t *o, struct binary_fact *b, struct error *err)
{
	struct object_fact f = {0};
	int class;

	if (fact_enum(o, "class", object_names, ARRAY_SIZE(object_names), &class, err) < 0 ||
		json_get_str(o, "path", &f.path, err) < 0)
		return error_context(err, "object %zu", b->n_objects);
	f.class = (enum object_class) class;
	fact_take_str(o, "member", &f.member);
	fact_take_str(o, "why", &f.why);
	json_opt_strv(o, "via", &f.via);
	fact_take_str(o, "record", &f.record);
	fact_take_str(o, "unit", &f.unit);
	fact_take_str(o, "source", &f.source);
	fact_take_str(o, "code_hash", &f.code_hash);
	json_opt_strv(o, "functions", &f.functions);
	array_reserve(b->objects, b->n_objects, b->cap_objects);
	b->objects[b->n_objects++] = f;
	return 0;
}

static int binary_from_json(const json_t *o, struct build_facts *f, struct error *err)
{
	const json_t *objects = json_object_get(o, "objects");
	struct binary_fact b = {0};

	if (json_get_str(o, "name", &b.name, err) < 0)
		return error_context(err, "binary %zu", f->n_binaries);
	fact_take_str(o, "path", &b.path);
	fact_take_str(o, "sha256", &b.sha256);
	fact_take_str(o, "link", &b.link);
	for (size_t i = 0; i < json_array_size(objects); i++) {
		if (object_from_json(json_array_get(objects, i), &b, err) < 0) {
			error_context(err, "binary '%s'", b.name);
			binary_fact_release(&b);
			return -1;
		}
	}
	array_reserve(f->binaries, f->n_binaries, f->cap_binaries);
	f->binaries[f->n_binaries++] = b;
	return 0;
}

static int build_from_json(const json_t *o, struct build_facts *f, struct error *err)
{
	const json_t *log = json_object_get(o, "log"), *binaries = json_object_get(o, "binaries");

	for (size_t i = 0; i < json_array_size(log); i++) {
		struct compile_record r;

		if (compile_record_from_json(json_array_get(log, i), &r, err) < 0)
			return error_context(err, "record %zu", i);
		array_reserve(f->log.v, f->log.n, f->log.cap);
		f->log.v[f->log.n++] = r;
	}
	for (size_t i = 0; i < json_array_size(binaries); i++) {
		if (binary_from_json(json_array_get(binaries, i), f, err) < 0)
			return -1;
	}
	return 0;
}

int build_facts_read(const char *path, struct build_facts *ret, struct error *err)
{
	auto_json json_t *o = fact_read(path, BUILD_FORMAT, err);
	struct build_facts f = {0};

	if (!o)
		return -1;
	if (json_get_str(o, "variant", &f.variant, err) < 0 || build_from_json(o, &f, err) < 0) {
		build_facts_release(&f);
		return error_context(err, "build facts '%s'", path);
	}
	fact_take_str(o, "source_before", &f.source_before);
	fact_take_str(o, "source_after", &f.source_after);
	fact_take_str(o, "source_changed", &f.source_changed);
	fact_take_str(o, "profile_name", &f.profile_name);
	fact_take_str(o, "profile_before", &f.profile_before);
	fact_take_str(o, "profile_after", &f.profile_after);
	json_opt_strv(o, "quarantine", &f.quarantine);
	*ret = f;
	return 0;
}

const struct compile_record *build_facts_link(
	const struct build_facts *f, const struct binary_fact *b)
{
	for (size_t i = 0; b->link && i < f->log.n; i++)
		if (strcmp(f->log.v[i].id, b->link) == 0)
			return &f->log.v[i];
	return NULL;
}
