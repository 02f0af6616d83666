#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "pipeline/gcc_profile.h"

#define FORMAT "whet gcc profile 1"
#define MARK "{slot}"
#define SUFFIX ".gcda"

static void release_one(struct gcc_indexed *o)
{
	for (size_t i = 0; i < o->n; i++) {
		free(o->v[i].name);
		free(o->v[i].source);
		free(o->v[i].object);
	}
	free(o->v);
	free(o->file);
	free(o->path);
}

void gcc_index_release(struct gcc_index *x)
{
	for (size_t i = 0; i < x->n; i++)
		release_one(&x->v[i]);
	free(x->v);
	memset(x, 0, sizeof(*x));
}

char *gcc_mark(const char *path, const char *slot)
{
	size_t n = strlen(slot);

	if (strncmp(path, slot, n) != 0 || (path[n] && path[n] != '/'))
		return xstrdup(path);
	return xasprintf(MARK "%s", path + n);
}

char *gcc_unmark(const char *path, const char *slot)
{
	size_t n = strlen(MARK);

	if (strncmp(path, MARK, n) != 0)
		return xstrdup(path);
	return xasprintf("%s%s", slot, path + n);
}

static json_t *functions_json(const struct gcc_indexed *o)
{
	json_t *a = json_array();

	for (size_t i = 0; i < o->n; i++) {
		const struct gcc_named *f = &o->v[i];
		json_t *j = json_object();

		json_object_set_new(j, "ident", json_integer(f->ident));
		json_set_text(j, "name", f->name);
		json_set_text(j, "source", f->source);
		json_set_text(j, "object", f->object);
		if (f->line)
			json_object_set_new(j, "line", json_integer(f->line));
		json_array_append_new(a, j);
	}
	return a;
}

int gcc_index_write(const struct gcc_index *x, const char *path, struct error *err)
{
	auto_json json_t *o = json_object();
	json_t *a = json_array();

	json_object_set_new(o, "format", json_string(FORMAT));
	json_object_set_new(o, "objects", a);
	for (size_t i = 0; i < x->n; i++) {
		json_t *j = json_object();

		json_set_text(j, "file", x->v[i].file);
		json_set_text(j, "path", x->v[i].path);
		json_object_set_new(j, "functions", functions_json(&x->v[i]));
		json_array_append_new(a, j);
	}
	return json_write_file(o, path, err);
}

static bool is_u32(int64_t v)
{
	return v >= 0 && v <= UINT32_MAX;
}

static int functions_from(const json_t *a, struct gcc_indexed *o, struct error *err)
{
	if (!json_is_array(a))
		return error_set(err, ERR_CORRUPT, "object '%s': 'functions' is no list", o->path);
	for (size_t i = 0; i < json_array_size(a); i++) {
		const json_t *j = json_array_get(a, i);
		int64_t ident = json_opt_int(j, "ident", -1), line = json_opt_int(j, "line", 0);

		if (!is_u32(ident) || !is_u32(line))
			return error_set(err, ERR_CORRUPT,
				"object '%s': a function's 'ident' or 'line' is missing or out of "
				"range",
				o->path);
		array_reserve(o->v, o->n, o->cap);
		o->v[o->n++] = (struct gcc_named){.ident = (uint32_t)ident,
			.name = json_opt_str(j, "name"),
			.source = json_opt_str(j, "source"),
			.object = json_opt_str(j, "object"),
			.line = (uint32_t)line};
		if ((o->v[o->n - 1].object || o->v[o->n - 1].source) &&
			(!o->v[o->n - 1].source || !o->v[o->n - 1].name))
			return error_set(err, ERR_CORRUPT,
				"object '%s': a function lacks 'name' or 'source'", o->path);
	}
	return 0;
}

static bool is_name(const char *file)
{
	size_t n = strlen(file), suffix = strlen(SUFFIX);

	return file[0] != '.' && !strchr(file, '/') && n > suffix &&
	       strcmp(file + n - suffix, SUFFIX) == 0;
}

/* The path becomes that of a file below a folder of whet's: one that is not absolute could lead
 * out of it. */
static int check_object(const struct gcc_index *x, const struct gcc_indexed *o, struct error *err)
{
	if (!is_name(o->file))
		return error_set(err, ERR_CORRUPT, "'%s' is no name of a file in it", o->file);
	if (o->path[0] != '/' && strncmp(o->path, MARK "/", strlen(MARK "/")) != 0)
		return error_set(
			err, ERR_CORRUPT, "object '%s': its path is not absolute", o->path);
	if (o > x->v && strcmp(o[-1].path, o->path) >= 0)
		return error_set(err, ERR_CORRUPT,
			"object '%s' stands in it twice, or out of order", o->path);
	return 0;
}

static int objects_from(const json_t *a, struct gcc_index *x, struct error *err)
{
	if (!json_is_array(a))
		return error_set(err, ERR_CORRUPT, "'objects' is no list");
	for (size_t i = 0; i < json_array_size(a); i++) {
		const json_t *j = json_array_get(a, i);
		struct gcc_indexed *o;

		array_reserve(x->v, x->n, x->cap);
		o = &x->v[x->n++];
		*o = (struct gcc_indexed){0};
		if (json_get_str(j, "file", &o->file, err) < 0 ||
			json_get_str(j, "path", &o->path, err) < 0 || check_object(x, o, err) < 0 ||
			functions_from(json_object_get(j, "functions"), o, err) < 0)
			return -1;
	}
	return 0;
}

static int read_index(const char *path, bool may_be_empty, struct gcc_index *ret, struct error *err)
{
	auto_json json_t *o = json_read_file(path, err);
	const char *format = json_string_value(json_object_get(o, "format"));
	struct gcc_index x = {0};
	int r;

	if (!o)
		return -1;
	if (!format || strcmp(format, FORMAT) != 0)
		return error_set(err, ERR_CORRUPT, "its format is not '%s'", FORMAT);
	r = objects_from(json_object_get(o, "objects"), &x, err);
	if (r == 0 && !x.n && !may_be_empty)
		r = error_set(err, ERR_CORRUPT, "it names no objects");
	if (r < 0)
		gcc_index_release(&x);
	else
		*ret = x;
	return r;
}

int gcc_index_read(const char *path, struct gcc_index *ret, struct error *err)
{
	return read_index(path, false, ret, err);
}

int gcc_index_read_beside(const char *path, struct gcc_index *ret, struct error *err)
{
	return read_index(path, true, ret, err);
}
