#include "wrap/node.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"

#define NODE_FORMAT "whet shim node 9"

void shim_node_release(struct shim_node *n)
{
	free(n->folder);
	free(n->space);
	free(n->log);
	free(n->slot);
	free(n->target_dir);
	free(n->target);
	free(n->cross);
	free(n->rust_linker);
	free(n->instrument_linker);
	free(n->zig);
	free(n->evidence);
	free(n->relinker);
	free(n->order);
	free(n->order_program);
	strv_release(&n->released);
	for (size_t i = 0; i < n->n_compilers; i++) {
		strv_release(&n->compilers[i].compile);
		strv_release(&n->compilers[i].link);
		free(n->compilers[i].profile);
		strv_release(&n->compilers[i].lto_words);
		free(n->compilers[i].lto_linker);
	}
	for (size_t i = 0; i < n->n_tools; i++) {
		free(n->tools[i].name);
		free(n->tools[i].path);
		free(n->tools[i].launcher);
		free(n->tools[i].machine);
	}
	free(n->compilers);
	free(n->tools);
	memset(n, 0, sizeof(*n));
}

const struct node_tool *shim_node_tool(const struct shim_node *n, const char *name)
{
	for (size_t i = 0; i < n->n_tools; i++)
		if (strcmp(n->tools[i].name, name) == 0)
			return &n->tools[i];
	return NULL;
}

bool shim_is_zig(const struct node_tool *t)
{
	return strcmp(t->name, ZIG_CC) == 0 || strcmp(t->name, ZIG_CXX) == 0;
}

const struct node_tool *shim_node_zig(const struct shim_node *n, int argc, char **argv)
{
	if (argc < 2)
		return NULL;
	if (strcmp(argv[1], "cc") == 0)
		return shim_node_tool(n, ZIG_CC);
	return strcmp(argv[1], "c++") == 0 ? shim_node_tool(n, ZIG_CXX) : NULL;
}

const struct node_compiler *shim_node_compiler(
	const struct shim_node *n, enum compiler_family family)
{
	for (size_t i = 0; i < n->n_compilers; i++)
		if (n->compilers[i].family == family)
			return &n->compilers[i];
	return NULL;
}

static json_t *compilers_json(const struct shim_node *n)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n->n_compilers; i++) {
		json_t *o = json_object();

		json_object_set_new(o, "family", json_integer((int)n->compilers[i].family));
		json_object_set_new(o, "compile", json_from_strv(&n->compilers[i].compile));
		json_object_set_new(o, "link", json_from_strv(&n->compilers[i].link));
		json_set_text(o, "profile", n->compilers[i].profile);
		json_object_set_new(o, "takes_part", json_boolean(n->compilers[i].takes_part));
		json_object_set_new(o, "lto", json_integer((int)n->compilers[i].lto));
		json_object_set_new(o, "lto_words", json_from_strv(&n->compilers[i].lto_words));
		json_set_text(o, "lto_linker", n->compilers[i].lto_linker);
		json_object_set_new(o, "retag", json_integer(n->compilers[i].retag));
		json_array_append_new(a, o);
	}
	return a;
}

static json_t *tools_json(const struct shim_node *n)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n->n_tools; i++) {
		const struct node_tool *t = &n->tools[i];
		json_t *o = json_object();

		json_set_text(o, "name", t->name);
		json_set_text(o, "path", t->path);
		json_set_text(o, "launcher", t->launcher);
		json_set_text(o, "machine", t->machine);
		json_object_set_new(o, "cxx", json_boolean(t->cxx));
		json_object_set_new(o, "bare_linker", json_boolean(t->bare_linker));
		json_object_set_new(o, "family", json_integer((int)t->family));
		json_object_set_new(o, "compiler", json_integer(t->compiler));
		json_array_append_new(a, o);
	}
	return a;
}

int shim_node_write(const struct shim_node *n, const char *path, struct error *err)
{
	auto_json json_t *o = json_object();
	auto_free char *text = NULL;

	json_object_set_new(o, "format", json_string(NODE_FORMAT));
	json_object_set_new(o, "mode", json_integer((int)n->mode));
	json_set_text(o, "folder", n->folder);
	json_set_text(o, "space", n->space);
	json_set_text(o, "log", n->log);
	json_set_text(o, "slot", n->slot);
	json_set_text(o, "target_dir", n->target_dir);
	json_set_text(o, "target", n->target);
	json_set_text(o, "cross", n->cross);
	json_set_text(o, "rust_linker", n->rust_linker);
	json_set_text(o, "instrument_linker", n->instrument_linker);
	json_set_text(o, "zig", n->zig);
	json_set_text(o, "evidence", n->evidence);
	json_object_set_new(o, "relinks", json_integer(n->relinks));
	json_set_text(o, "relinker", n->relinker);
	json_object_set_new(o, "relocs", json_boolean(n->relocs));
	json_set_text(o, "order", n->order);
	json_set_text(o, "order_program", n->order_program);
	json_object_set_new(o, "released", json_from_strv(&n->released));
	json_object_set_new(o, "compilers", compilers_json(n));
	json_object_set_new(o, "tools", tools_json(n));
	text = json_dumps(o, JSON_COMPACT);
	if (!text)
		return error_set(err, ERR_INTERNAL, "cannot encode the node file '%s'", path);
	return file_write_atomic(path, text, strlen(text), 0644, err);
}

static int family_from(const json_t *o, enum compiler_family *ret, struct error *err)
{
	int64_t f = json_opt_int(o, "family", -1);

	if (f < FAMILY_CLANG || f > FAMILY_UNKNOWN)
		return error_set(err, ERR_CORRUPT, "'family' is missing or out of range");
	*ret = (enum compiler_family)f;
	return 0;
}

static enum plan_lto lto_from(const json_t *o)
{
	int64_t lto = json_opt_int(o, "lto", PLAN_LTO_DEFAULT);

	return lto > PLAN_LTO_DEFAULT && lto <= PLAN_LTO_FULL ? (enum plan_lto)lto
							      : PLAN_LTO_DEFAULT;
}

static int compilers_from(const json_t *a, struct shim_node *n, struct error *err)
{
	for (size_t i = 0; i < json_array_size(a); i++) {
		const json_t *o = json_array_get(a, i);
		struct node_compiler c = {0};

		if (family_from(o, &c.family, err) < 0)
			return -1;
		json_opt_strv(o, "compile", &c.compile);
		json_opt_strv(o, "link", &c.link);
		c.profile = json_opt_str(o, "profile");
		c.takes_part = json_opt_bool(o, "takes_part", false);
		c.retag = (int)json_opt_int(o, "retag", 0);
		c.lto = lto_from(o);
		json_opt_strv(o, "lto_words", &c.lto_words);
		c.lto_linker = json_opt_str(o, "lto_linker");
		array_reserve(n->compilers, n->n_compilers, n->cap_compilers);
		n->compilers[n->n_compilers++] = c;
	}
	return 0;
}

static int tools_from(const json_t *a, struct shim_node *n, struct error *err)
{
	for (size_t i = 0; i < json_array_size(a); i++) {
		const json_t *o = json_array_get(a, i);
		struct node_tool t = {.cxx = json_opt_bool(o, "cxx", false),
			.bare_linker = json_opt_bool(o, "bare_linker", false)};
		int64_t index = json_opt_int(o, "compiler", -1);

		if (index < -1 || index >= (int64_t)n->n_compilers)
			return error_set(err, ERR_CORRUPT, "'compiler' %lld is out of range",
				(long long)index);
		t.compiler = (int)index;
		if (family_from(o, &t.family, err) < 0 || json_get_str(o, "name", &t.name, err) < 0)
			return -1;
		if (json_get_str(o, "path", &t.path, err) < 0) {
			free(t.name);
			return -1;
		}
		t.launcher = json_opt_str(o, "launcher");
		t.machine = json_opt_str(o, "machine");
		array_reserve(n->tools, n->n_tools, n->cap_tools);
		n->tools[n->n_tools++] = t;
	}
	return 0;
}

static int node_from(const json_t *o, struct shim_node *n, struct error *err)
{
	const char *format = json_string_value(json_object_get(o, "format"));
	int64_t mode = json_opt_int(o, "mode", -1);

	if (!format || strcmp(format, NODE_FORMAT) != 0)
		return error_set(err, ERR_CORRUPT, "format is not '%s'", NODE_FORMAT);
	if (mode < MODE_PLAIN || mode > MODE_OPTIMISED)
		return error_set(err, ERR_CORRUPT, "'mode' is missing or out of range");
	n->mode = (enum toolchain_mode)mode;
	if (json_get_str(o, "folder", &n->folder, err) < 0 ||
		json_get_str(o, "space", &n->space, err) < 0 ||
		json_get_str(o, "log", &n->log, err) < 0 ||
		json_get_str(o, "slot", &n->slot, err) < 0 ||
		json_get_str(o, "evidence", &n->evidence, err) < 0)
		return -1;
	n->target_dir = json_opt_str(o, "target_dir");
	n->target = json_opt_str(o, "target");
	n->cross = json_opt_str(o, "cross");
	n->rust_linker = json_opt_str(o, "rust_linker");
	n->instrument_linker = json_opt_str(o, "instrument_linker");
	n->zig = json_opt_str(o, "zig");
	n->relinks = (uint32_t)json_opt_int(o, "relinks", 0);
	n->relinker = json_opt_str(o, "relinker");
	n->relocs = json_is_true(json_object_get(o, "relocs"));
	n->order = json_opt_str(o, "order");
	n->order_program = json_opt_str(o, "order_program");
	json_opt_strv(o, "released", &n->released);
	if (compilers_from(json_object_get(o, "compilers"), n, err) < 0)
		return -1;
	return tools_from(json_object_get(o, "tools"), n, err);
}

int shim_node_read(const char *path, struct shim_node *ret, struct error *err)
{
	auto_json json_t *o = json_read_file(path, err);
	struct shim_node n = {0};

	if (!o)
		return -1;
	if (node_from(o, &n, err) < 0) {
		shim_node_release(&n);
		return error_context(err, "node file '%s'", path);
	}
	*ret = n;
	return 0;
}

enum compiler_family compiler_family_of(const char *path)
{
	char real[PATH_MAX];
	const char *names[2];

	names[0] = path_basename(path);
	names[1] = realpath(path, real) ? path_basename(real) : "";
	for (size_t i = 0; i < 2; i++) {
		if (strstr(names[i], "clang"))
			return FAMILY_CLANG;
		if (strstr(names[i], "rustc"))
			return FAMILY_RUSTC;
	}
	for (size_t i = 0; i < 2; i++)
		if (strstr(names[i], "gcc") || strstr(names[i], "g++"))
			return FAMILY_GCC;
	return FAMILY_UNKNOWN;
}

char *path_list_without(const char *list, const char *folder)
{
	auto_buf struct buf b = BUF_INIT;
	size_t n = strlen(folder);
	bool first = true;

	while (list) {
		const char *end = strchrnul(list, ':');
		size_t len = (size_t)(end - list);
		size_t bare = len;

		while (bare > 1 && list[bare - 1] == '/')
			bare--;
		if (bare != n || memcmp(list, folder, n) != 0) {
			if (!first)
				buf_addc(&b, ':');
			buf_add(&b, list, len);
			first = false;
		}
		list = *end ? end + 1 : NULL;
	}
	return buf_detach(&b);
}
