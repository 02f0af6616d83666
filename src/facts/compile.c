#include "facts/compile.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "facts/compile_json.h"
#include "facts/fact_io.h"

#define RECORD_FORMAT "whet compile record 1"

static const char *const kind_names[] = {
	[CALL_QUERY] = "query",
	[CALL_PREPROCESS] = "preprocess",
	[CALL_ASSEMBLE] = "assemble",
	[CALL_COMPILE] = "compile",
	[CALL_PCH] = "pch",
	[CALL_PARTIAL_LINK] = "partial-link",
	[CALL_LINK] = "link",
	[CALL_COMPILE_LINK] = "compile-link",
	[CALL_RUSTC] = "rustc",
};

static const char *const class_names[] = {
	[CLASS_TARGET] = "target",
	[CLASS_HOST] = "host",
	[CLASS_OBSERVE] = "observe",
	[CLASS_FOREIGN] = "foreign",
	[CLASS_NONE] = "none",
};

static const char *const diag_names[] = {
	[DIAG_MISMATCH] = "mismatch",
	[DIAG_MISSING] = "missing",
	[DIAG_UNREADABLE] = "unreadable",
	[DIAG_OTHER] = "other",
};

const char *call_kind_name(enum call_kind k)
{
	return k < ARRAY_SIZE(kind_names) ? kind_names[k] : "?";
}

const char *call_class_name(enum call_class c)
{
	return c < ARRAY_SIZE(class_names) ? class_names[c] : "?";
}

void profile_diag_release(struct profile_diag *d)
{
	free(d->function);
	free(d->text);
	memset(d, 0, sizeof(*d));
}

void link_input_release(struct link_input *l)
{
	free(l->path);
	free(l->member);
	free(l->sha256);
	free(l->code_hash);
	free(l->maker);
	strv_release(&l->functions);
	strv_release(&l->files);
	strv_release(&l->labels);
	memset(l, 0, sizeof(*l));
}

void compile_record_release(struct compile_record *r)
{
	char *texts[] = {r->id, r->parent, r->language, r->tool, r->cwd, r->output, r->crate_name,
		r->crate_type, r->metadata, r->target_triple, r->source, r->text_hash, r->map_error,
		r->why, r->launcher, r->linker};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free(texts[i]);
	strv_release(&r->argv);
	strv_release(&r->added);
	strv_release(&r->removed);
	strv_release(&r->inputs);
	for (size_t i = 0; i < r->n_diags; i++)
		profile_diag_release(&r->diags[i]);
	for (size_t i = 0; i < r->n_links; i++)
		link_input_release(&r->links[i]);
	free(r->diags);
	sought_release(&r->sought);
	function_order_release(&r->functions);
	free(r->links);
	memset(r, 0, sizeof(*r));
}

void compile_log_release(struct compile_log *l)
{
	for (size_t i = 0; i < l->n; i++)
		compile_record_release(&l->v[i]);
	free(l->v);
	memset(l, 0, sizeof(*l));
}

static json_t *diags_json(const struct compile_record *r)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->n_diags; i++) {
		const struct profile_diag *d = &r->diags[i];
		json_t *o = json_object();

		json_object_set_new(o, "kind", json_string(diag_names[d->kind]));
		json_set_text(o, "function", d->function);
		if (d->hash) { /* as text: JSON numbers of the library end at 2^63 */
			auto_free char *hex = xasprintf("%016" PRIx64, d->hash);

			json_set_text(o, "hash", hex);
		}
		json_set_text(o, "text", d->text);
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *links_json(const struct compile_record *r)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->n_links; i++) {
		const struct link_input *l = &r->links[i];
		json_t *o = json_object();

		json_set_text(o, "path", l->path);
		json_set_text(o, "member", l->member);
		json_set_text(o, "sha256", l->sha256);
		json_set_text(o, "code_hash", l->code_hash);
		fact_set_strv(o, "functions", &l->functions);
		json_set_text(o, "maker", l->maker);
		fact_set_strv(o, "files", &l->files);
		fact_set_strv(o, "labels", &l->labels);
		if (l->data)
			json_object_set_new(o, "data", json_true());
		if (l->temporary)
			json_object_set_new(o, "temporary", json_true());
		json_array_append_new(a, o);
	}
	return a;
}

json_t *compile_record_json(const struct compile_record *r)
{
	json_t *o = json_object();

	json_object_set_new(o, "format", json_string(RECORD_FORMAT));
	json_set_text(o, "id", r->id);
	json_set_text(o, "parent", r->parent);
	fact_set_u64(o, "order", r->order);
	json_object_set_new(o, "kind", json_string(call_kind_name(r->kind)));
	json_object_set_new(o, "class", json_string(call_class_name(r->class)));
	json_set_text(o, "why", r->why);
	json_set_text(o, "language", r->language);
	json_set_text(o, "tool", r->tool);
	json_set_text(o, "launcher", r->launcher);
	if (r->bypassed)
		json_object_set_new(o, "bypassed", json_true());
	json_set_text(o, "cwd", r->cwd);
	fact_set_strv(o, "argv", &r->argv);
	fact_set_strv(o, "added", &r->added);
	fact_set_strv(o, "removed", &r->removed);
	fact_set_strv(o, "inputs", &r->inputs);
	json_set_text(o, "output", r->output);
	json_object_set_new(o, "status", json_integer(r->status));
	fact_set_u64(o, "cpu_ns", r->cpu_ns);
	fact_set_u64(o, "own_cpu_ns", r->own_cpu_ns);
	json_set_text(o, "crate_name", r->crate_name);
	json_set_text(o, "crate_type", r->crate_type);
	json_set_text(o, "metadata", r->metadata);
	json_set_text(o, "target_triple", r->target_triple);
	json_set_text(o, "source", r->source);
	if (r->n_diags)
		json_object_set_new(o, "diags", diags_json(r));
	if (r->sought.n || r->sought.garbled)
		json_object_set_new(o, "sought", sought_json(&r->sought));
	if (r->n_links)
		json_object_set_new(o, "links", links_json(r));
	json_set_text(o, "text_hash", r->text_hash);
	json_set_text(o, "linker", r->linker);
	if (text_bytes_sum(&r->text))
		json_object_set_new(o, "text", text_bytes_json(&r->text));
	if (r->functions.file || r->functions.why)
		json_object_set_new(o, "functions", function_order_json(&r->functions));
	json_set_text(o, "map_error", r->map_error);
	return o;
}

static int diags_from_json(const json_t *a, struct compile_record *r, struct error *err)
{
	for (size_t i = 0; i < json_array_size(a); i++) {
		const json_t *o = json_array_get(a, i);
		struct profile_diag d = {0};
		auto_free char *hex = json_opt_str(o, "hash");
		int kind;

		if (fact_enum(o, "kind", diag_names, ARRAY_SIZE(diag_names), &kind, err) < 0)
			return error_context(err, "diagnostic %zu", i);
		d.kind = (enum diag_kind)kind;
		fact_take_str(o, "function", &d.function);
		fact_take_str(o, "text", &d.text);
		if (!d.function)
			d.function = xstrdup("");
		d.hash = hex ? strtoull(hex, NULL, 16) : 0;
		array_reserve(r->diags, r->n_diags, r->cap_diags);
		r->diags[r->n_diags++] = d;
	}
	return 0;
}

static int links_from_json(const json_t *a, struct compile_record *r, struct error *err)
{
	for (size_t i = 0; i < json_array_size(a); i++) {
		const json_t *o = json_array_get(a, i);
		struct link_input l = {0};

		if (json_get_str(o, "path", &l.path, err) < 0)
			return error_context(err, "link input %zu", i);
		fact_take_str(o, "member", &l.member);
		fact_take_str(o, "sha256", &l.sha256);
		fact_take_str(o, "code_hash", &l.code_hash);
		json_opt_strv(o, "functions", &l.functions);
		fact_take_str(o, "maker", &l.maker);
		json_opt_strv(o, "files", &l.files);
		json_opt_strv(o, "labels", &l.labels);
		l.data = json_is_true(json_object_get(o, "data"));
		l.temporary = json_is_true(json_object_get(o, "temporary"));
		array_reserve(r->links, r->n_links, r->cap_links);
		r->links[r->n_links++] = l;
	}
	return 0;
}

static void texts_from_json(const json_t *o, struct compile_record *r)
{
	r->order = fact_u64(o, "order");
	r->status = (int)json_opt_int(o, "status", 0);
	r->cpu_ns = fact_u64(o, "cpu_ns");
	r->own_cpu_ns = fact_u64(o, "own_cpu_ns");
	fact_take_str(o, "parent", &r->parent);
	fact_take_str(o, "why", &r->why);
	fact_take_str(o, "language", &r->language);
	if (!r->language)
		r->language = xstrdup("");
	fact_take_str(o, "tool", &r->tool);
	fact_take_str(o, "launcher", &r->launcher);
	r->bypassed = json_opt_bool(o, "bypassed", false);
	fact_take_str(o, "cwd", &r->cwd);
	json_opt_strv(o, "argv", &r->argv);
	json_opt_strv(o, "added", &r->added);
	json_opt_strv(o, "removed", &r->removed);
	json_opt_strv(o, "inputs", &r->inputs);
	fact_take_str(o, "output", &r->output);
	fact_take_str(o, "crate_name", &r->crate_name);
	fact_take_str(o, "crate_type", &r->crate_type);
	fact_take_str(o, "metadata", &r->metadata);
	fact_take_str(o, "target_triple", &r->target_triple);
	fact_take_str(o, "source", &r->source);
	fact_take_str(o, "text_hash", &r->text_hash);
	fact_take_str(o, "linker", &r->linker);
	text_bytes_from_json(json_object_get(o, "text"), &r->text);
	function_order_from_json(json_object_get(o, "functions"), &r->functions);
	fact_take_str(o, "map_error", &r->map_error);
}

int compile_record_from_json(const json_t *o, struct compile_record *ret, struct error *err)
{
	struct compile_record r = {0};
	int kind, class;

	if (json_get_str(o, "id", &r.id, err) < 0 ||
		fact_enum(o, "kind", kind_names, ARRAY_SIZE(kind_names), &kind, err) < 0 ||
		fact_enum(o, "class", class_names, ARRAY_SIZE(class_names), &class, err) < 0 ||
		diags_from_json(json_object_get(o, "diags"), &r, err) < 0 ||
		links_from_json(json_object_get(o, "links"), &r, err) < 0) {
		compile_record_release(&r);
		return -1;
	}
	r.kind = (enum call_kind)kind;
	r.class = (enum call_class) class;
	sought_from_json(json_object_get(o, "sought"), &r.sought);
	texts_from_json(o, &r);
	*ret = r;
	return 0;
}

int compile_record_write(const struct compile_record *r, const char *path, struct error *err)
{
	auto_json json_t *o = compile_record_json(r);

	return fact_write(o, path, err);
}

int compile_record_read(const char *path, struct compile_record *ret, struct error *err)
{
	auto_json json_t *o = fact_read(path, RECORD_FORMAT, err);

	if (!o)
		return -1;
	if (compile_record_from_json(o, ret, err) < 0)
		return error_context(err, "compile record '%s'", path);
	return 0;
}

/* Temporary files start with a dot; they and files of other kinds are no records. */
static bool is_record_name(const char *name)
{
	size_t n = strlen(name);

	return name[0] != '.' && n > 5 && strcmp(name + n - 5, ".json") == 0;
}

/* 0 added, 1 a JSON file of another kind, -1 unreadable: a lost record is lost evidence. */
static int log_add_file(struct compile_log *l, const char *path, struct error *err)
{
	auto_json json_t *o = json_read_file(path, err);
	const char *format = json_string_value(json_object_get(o, "format"));
	struct compile_record r;

	if (!o)
		return -1;
	if (!format || strcmp(format, RECORD_FORMAT) != 0)
		return 1;
	if (compile_record_from_json(o, &r, err) < 0)
		return error_context(err, "compile record '%s'", path);
	array_reserve(l->v, l->n, l->cap);
	l->v[l->n++] = r;
	return 0;
}

static int by_order(const void *a, const void *b)
{
	const struct compile_record *x = a, *y = b;

	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return strcmp(x->id, y->id);
}

int compile_log_read(const char *folder, struct compile_log *ret, struct error *err)
{
	struct compile_log l = {0};
	struct dirent *e;
	DIR *d = opendir(folder);
	int r = 0;

	if (!d)
		return error_set(err, ERR_IO, "cannot open the compile log '%s': %s", folder,
			strerror(errno));
	while (r >= 0 && (e = readdir(d))) {
		auto_free char *path = path_join(folder, e->d_name);

		if (is_record_name(e->d_name) && !path_is_dir(path))
			r = log_add_file(&l, path, err);
	}
	closedir(d);
	if (r < 0) {
		compile_log_release(&l);
		return -1;
	}
	if (l.n)
		qsort(l.v, l.n, sizeof(*l.v), by_order);
	*ret = l;
	return 0;
}
