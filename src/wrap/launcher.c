#include "wrap/launcher.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

/* What the user had set is kept under this name until the shim puts it back. */
#define KEPT "WHET_KEPT_"
#define SWITCHED "WHET_LAUNCHERS_OFF"

static const struct launcher_variable ccache_front[] = {
	{"CCACHE_DISABLE", "1"}, {"CCACHE_PREFIX", NULL}, {"CCACHE_PATH", NULL}, {NULL, NULL}};
/* Direct and depend mode answer without looking at what was included, by times of files if the user
 * wishes so, and the shim learns of no header; a compilation of preprocessed text names local
 * functions by another file; a hard link lets a later step change the object in the cache; a prefix
 * (distcc) would send the call to another machine. */
static const struct launcher_variable ccache_behind[] = {{"CCACHE_NODIRECT", "1"},
	{"CCACHE_DIRECT", NULL}, {"CCACHE_NODEPEND", "1"}, {"CCACHE_DEPEND", NULL},
	{"CCACHE_CPP2", "1"}, {"CCACHE_NOCPP2", NULL}, {"CCACHE_NOHARDLINK", "1"},
	{"CCACHE_HARDLINK", NULL}, {"CCACHE_PREFIX", ""}, {NULL, NULL}};
static const struct launcher_variable sccache_front[] = {
	{"SCCACHE_NO_CACHE", "1"}, {"SCCACHE_RECACHE", "1"}, {NULL, NULL}};
/* The server may be another build's, and end with it. */
static const struct launcher_variable sccache_behind[] = {
	{"SCCACHE_IGNORE_SERVER_IO_ERROR", "1"}, {NULL, NULL}};
static const struct launcher_variable distcc_front[] = {
	{"DISTCC_HOSTS", "localhost"}, {NULL, NULL}};
static const struct launcher_variable icecc_front[] = {{"ICECC", "no"}, {NULL, NULL}};
static const struct launcher_variable buildcache_front[] = {
	{"BUILDCACHE_DISABLE", "true"}, {NULL, NULL}};
static const struct launcher_variable none[] = {{NULL, NULL}};

const struct launcher launchers[] = {
	{"ccache", true, true, "CCACHE_DISABLE", ccache_front, ccache_behind},
	{"sccache", true, false, "SCCACHE_NO_CACHE", sccache_front, sccache_behind},
	{"distcc", false, false, NULL, distcc_front, none},
	{"icecc", false, false, NULL, icecc_front, none},
	{"buildcache", false, false, NULL, buildcache_front, none},
	{"cachepot", false, false, NULL, none, none},
	{"gomacc", false, false, NULL, none, none},
	{NULL, false, false, NULL, NULL, NULL},
};

const struct launcher *launcher_named(const char *name)
{
	size_t n = strlen(LAUNCHER_PREFIX);

	if (strncmp(name, LAUNCHER_PREFIX, n) == 0)
		name += n;
	for (const struct launcher *l = launchers; l->name; l++)
		if (strcmp(l->name, name) == 0)
			return l;
	return NULL;
}

const struct launcher *launcher_of_file(const char *path)
{
	char real[PATH_MAX];

	return realpath(path, real) ? launcher_named(path_basename(real)) : NULL;
}

char *launcher_masked(const char *path, const char *path_list)
{
	const char *name = path_basename(path);

	if (!launcher_of_file(path))
		return NULL;
	for (const char *list = path_list; list && *list;) {
		const char *end = strchrnul(list, ':');
		auto_free char *folder = xstrndup(list, (size_t)(end - list));
		auto_free char *candidate = path_join(*folder ? folder : ".", name);

		if (access(candidate, X_OK) == 0 && !path_is_dir(candidate) &&
			!launcher_of_file(candidate))
			return take_ptr(candidate);
		list = *end ? end + 1 : NULL;
	}
	return NULL;
}

static void switch_off(struct strv *env, const char *name, const char *value)
{
	auto_free char *kept = xasprintf(KEPT "%s", name);
	auto_free char *own = xstrdup(env_get(env, name));

	env_set(env, kept, own);
	env_set(env, name, value);
}

void launchers_switch_off(struct strv *env, const char *folder)
{
	auto_free char *prefix = xasprintf("%s/" LAUNCHER_PREFIX "ccache", folder);
	const char *path = env_get(env, "CCACHE_PATH");
	auto_free char *before = path ? xasprintf("%s:%s", folder, path) : NULL;
	bool own = launcher_is_off(launcher_named("ccache"), env);

	if (env_get(env, SWITCHED))
		return;
	env_set(env, SWITCHED, "1");
	for (const struct launcher *l = launchers; l->name; l++)
		for (const struct launcher_variable *v = l->front; v->name; v++)
			switch_off(env, v->name, v->value);
	if (!own)
		env_set(env, "CCACHE_PREFIX", prefix);
	if (before)
		env_set(env, "CCACHE_PATH", before);
}

void launchers_restore(struct strv *env)
{
	if (!env_get(env, SWITCHED))
		return;
	env_set(env, SWITCHED, NULL);
	for (const struct launcher *l = launchers; l->name; l++)
		for (const struct launcher_variable *v = l->front; v->name; v++) {
			auto_free char *kept = xasprintf(KEPT "%s", v->name);
			auto_free char *own = xstrdup(env_get(env, kept));

			env_set(env, v->name, own);
			env_set(env, kept, NULL);
		}
}

bool launcher_is_off(const struct launcher *l, const struct strv *env)
{
	return l->off && env_get(env, l->off);
}

void launcher_behind(const struct launcher *l, const char *space, struct strv *env)
{
	const char *own = env_get(env, "CCACHE_NAMESPACE");
	auto_free char *joined = own && *own ? xasprintf("%s-%s", own, space) : xstrdup(space);

	for (const struct launcher_variable *v = l ? l->behind : none; v->name; v++)
		env_set(env, v->name, v->value);
	env_set(env, "CCACHE_NAMESPACE", joined);
	own = env_get(env, "SCCACHE_C_CUSTOM_CACHE_BUSTER");
	if (own && *own) {
		auto_free char *buster = xasprintf("%s-%s", own, space);

		env_set(env, "SCCACHE_C_CUSTOM_CACHE_BUSTER", buster);
	} else {
		env_set(env, "SCCACHE_C_CUSTOM_CACHE_BUSTER", space);
	}
}

static bool same_file(const char *a, const char *b)
{
	char x[PATH_MAX], y[PATH_MAX];

	return realpath(a, x) && realpath(b, y) && strcmp(x, y) == 0;
}

/* A compiler named by its path is one of the node's tools when it is that very file, or the shim
 * that stands for it. */
static const struct node_tool *tool_of_word(const struct shim_node *n, const char *word)
{
	const char *base = path_basename(word);
	const struct node_tool *t = shim_node_tool(n, base);
	auto_free char *folder = path_dirname(word);

	if (base == word || (t && strcmp(folder, n->folder) == 0))
		return t;
	return t && same_file(t->path, word) ? t : NULL;
}

const struct node_tool *launcher_compiler(
	const struct shim_node *n, int argc, char **argv, int *place)
{
	for (int i = 1; i < argc && argv[i][0] != '-'; i++) {
		const struct node_tool *t;

		/* `ccache distcc clang`, and ccache's own KEY=VALUE */
		if (launcher_named(path_basename(argv[i])) || strchr(argv[i], '='))
			continue;
		t = tool_of_word(n, argv[i]);
		*place = i;
		return t;
	}
	return NULL;
}
