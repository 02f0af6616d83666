/* The plain build's compilations as editors and tools read them: compile_commands.json. */
#include "report/compile_commands.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"

/* Where a path of the build lies for the user: the copy of the sources is his own tree, and what
 * the build made lies in the folder that was kept. */
static char *users(const struct compile_logs *l, const char *word)
{
	auto_free char *in_tree = l->copy ? path_replace(word, l->copy, l->source) : xstrdup(word);

	return l->kept ? path_replace(in_tree, l->slot, l->kept) : take_ptr(in_tree);
}

static char *users_path(const struct compile_logs *l, const char *cwd, const char *path)
{
	auto_free char *joined = path_join(cwd, path);
	auto_free char *clean = path_clean(joined);

	return users(l, clean);
}

/* The length of an option that a path may follow in the same word. */
static size_t path_option(const char *word)
{
	static const char *const options[] = {
		"-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-o"};
	size_t best = 0;

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		size_t n = strlen(options[i]);

		if (strncmp(word, options[i], n) == 0 && word[n] && n > best)
			best = n;
	}
	return best;
}

/* Beside the sources a build reaches them by "../src/x.c", which for the user is another place. */
static char *users_word(const struct compile_logs *l, const char *cwd, const char *word)
{
	size_t n = path_option(word);
	const char *path = word + n;
	auto_free char *joined = NULL, *clean = NULL, *to = NULL;

	if (!l->copy || path_is_below(cwd, l->copy) || *path == '/' || (!n && *word == '-'))
		return users(l, word);
	joined = path_join(cwd, path);
	clean = path_clean(joined);
	if (!path_is_below(clean, l->copy))
		return users(l, word);
	to = users(l, clean);
	return xasprintf("%.*s%s", (int)n, word, to);
}

static bool is_wanted(const struct compile_record *r)
{
	return r->status == 0 &&
	       (r->kind == CALL_COMPILE || r->kind == CALL_COMPILE_LINK || r->kind == CALL_PCH) &&
	       (r->class == CLASS_TARGET || r->class == CLASS_FOREIGN) &&
	       (strcmp(r->language, "c") == 0 || strcmp(r->language, "c++") == 0);
}

/* Objects of a call that also links are no sources. */
static bool is_source(const char *path)
{
	static const char *const others[] = {".o", ".a", ".so", ".lo", ".obj", ".s", ".S"};
	size_t n = strlen(path);

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		size_t k = strlen(others[i]);

		if (n > k && strcmp(path + n - k, others[i]) == 0)
			return false;
	}
	return !strstr(path, ".so.");
}

static json_t *entry(const struct compile_logs *l, const struct compile_record *r, const char *file)
{
	json_t *o = json_object(), *arguments = json_array();
	auto_free char *directory = users(l, r->cwd);
	auto_free char *path = users_path(l, r->cwd, file);
	auto_free char *output = r->output ? users(l, r->output) : NULL;

	json_array_append_new(arguments, json_text(r->tool));
	for (size_t i = 0; i < r->argv.n; i++) {
		auto_free char *word = users_word(l, r->cwd, r->argv.v[i]);

		json_array_append_new(arguments, json_text(word));
	}
	json_object_set_new(o, "directory", json_text(directory));
	json_object_set_new(o, "file", json_text(path));
	json_object_set_new(o, "arguments", arguments);
	json_set_text(o, "output", output);
	return o;
}

/* A kept build folder holds the calls of earlier builds too: of the same file and output the last
 * one counts. */
static void add_entry(json_t *list, json_t *places, json_t *o)
{
	const char *output = json_string_value(json_object_get(o, "output"));
	auto_free char *key =
		xasprintf("%s > %s > %s", json_string_value(json_object_get(o, "directory")),
			json_string_value(json_object_get(o, "file")), output ? output : "");
	json_t *at = json_object_get(places, key);

	if (at) {
		json_array_set_new(list, (size_t)json_integer_value(at), o);
		return;
	}
	json_object_set_new(places, key, json_integer((json_int_t)json_array_size(list)));
	json_array_append_new(list, o);
}

static const struct build_facts *plain_build(const struct compile_logs *l)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i].variant, "plain") == 0 && l->v[i].source_after)
			return &l->v[i];
	return NULL;
}

json_t *compile_commands_json(const struct compile_logs *l, struct error *err)
{
	const struct build_facts *f = plain_build(l);
	auto_json json_t *places = json_object();
	json_t *list;

	if (!f) {
		error_set(err, ERR_ENVIRONMENT,
			"no compile_commands.json was written: the plain build did not end well");
		return NULL;
	}
	list = json_array();
	for (size_t i = 0; i < f->log.n; i++) {
		const struct compile_record *r = &f->log.v[i];

		for (size_t j = 0; is_wanted(r) && j < r->inputs.n; j++)
			if (is_source(r->inputs.v[j]))
				add_entry(list, places, entry(l, r, r->inputs.v[j]));
	}
	return list;
}
