/* Which llvm-bolt there is. */
#include <ctype.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "layout/internal.h"

#define ASK_TIMEOUT_NS (60 * NS_PER_S)

void layout_tool_release(struct layout_tool *t)
{
	free(t->bolt);
	free(t->runtime);
	free(t->p2b);
	free(t->strip);
	free(t->version);
	memset(t, 0, sizeof(*t));
}

/* LLVM's programs, where distributions put those of one version: not all have links in PATH. */
static const char *const llvm_folders[] = {
	"/usr/lib/llvm-*/bin", "/usr/lib/llvm/*/bin", "/usr/lib64/llvm*/bin", "/opt/llvm*/bin"};

static void list_folders(const char *path_list, struct strv *ret)
{
	for (const char *p = path_list; p && *p;) {
		size_t n = strcspn(p, ":");
		auto_free char *folder = xstrndup(p, n);

		if (n)
			strv_add(ret, folder);
		p += n + (p[n] == ':');
	}
	for (size_t k = 0; k < ARRAY_SIZE(llvm_folders); k++) {
		glob_t g;

		if (glob(llvm_folders[k], 0, NULL, &g) != 0)
			continue;
		for (size_t i = 0; i < g.gl_pathc; i++)
			strv_add(ret, g.gl_pathv[i]);
		globfree(&g);
	}
}

/* NAME and NAME-NN in these folders, each once. resolve: as what links point to; llvm-strip is a
 * link to a program that tells by its name what to do. */
static void list_programs(const char *name, const char *path_list, bool resolve, struct strv *ret)
{
	auto_strv struct strv folders = STRV_INIT;

	list_folders(path_list, &folders);
	for (size_t k = 0; k < folders.n; k++) {
		auto_free char *pattern = xasprintf("%s/%s*", folders.v[k], name);
		glob_t g;

		if (glob(pattern, 0, NULL, &g) != 0)
			continue;
		for (size_t i = 0; i < g.gl_pathc; i++) {
			const char *rest = path_basename(g.gl_pathv[i]) + strlen(name);
			auto_free char *real =
				resolve ? path_resolve(g.gl_pathv[i]) : xstrdup(g.gl_pathv[i]);

			if ((!*rest || (*rest == '-' && isdigit((unsigned char)rest[1]))) &&
				!strv_has(ret, real))
				strv_add(ret, real);
		}
		globfree(&g);
	}
}

/* "Debian LLVM version 22.1.8" -> 22 and "22.1.8"; 0: it does not tell. */
static int version_of(const struct strv *lines, char **ret)
{
	for (size_t i = 0; i < lines->n; i++) {
		const char *at = strstr(lines->v[i], "LLVM version ");

		if (!at)
			continue;
		at += strlen("LLVM version ");
		*ret = xstrndup(at, strcspn(at, " \r\n"));
		return (int)strtol(at, NULL, 10);
	}
	return 0;
}

static int ask_version(const char *path, char **version, struct error *err)
{
	auto_strv struct strv argv = STRV_INIT, lines = STRV_INIT;
	struct proc_options o = PROC_OPTIONS_INIT;

	strv_add(&argv, path);
	strv_add(&argv, "--version");
	o.argv = &argv;
	if (proc_capture(&o, ASK_TIMEOUT_NS, &lines, err) < 0)
		return -1;
	return version_of(&lines, version);
}

static char *sibling(const char *path, const char *below)
{
	auto_free char *folder = path_dirname(path);
	auto_free char *joined = path_join(folder, below);
	char *clean = path_clean(joined);

	if (!path_exists(clean)) {
		free(clean);
		return NULL;
	}
	return clean;
}

/* The newest one in these folders. */
static char *newest(const char *name, const char *path_list)
{
	auto_strv struct strv programs = STRV_INIT;
	const char *best = NULL;
	int best_major = -1;

	list_programs(name, path_list, false, &programs);
	for (size_t i = 0; i < programs.n; i++) {
		auto_free char *version = NULL;
		int major = ask_version(programs.v[i], &version, NULL);

		if (major > best_major) {
			best = programs.v[i];
			best_major = major;
		}
	}
	return xstrdup(best);
}

/* 1: it is one; 0: it is another program, or says no version. -1: it gave no answer. */
static int ask_tool(const char *path, struct layout_tool *ret, struct error *err)
{
	auto_free char *version = NULL;
	struct layout_tool t = {0};

	t.major = ask_version(path, &version, err);
	if (t.major <= 0)
		return t.major;
	t.bolt = path_resolve(path);
	t.version = xasprintf("llvm-bolt %s", version);
	t.runtime = sibling(t.bolt, "../lib/libbolt_rt_instr.a");
	if (!t.runtime)
		t.runtime = sibling(t.bolt, "../lib64/libbolt_rt_instr.a");
	t.p2b = sibling(t.bolt, "perf2bolt");
	t.strip = sibling(t.bolt, "llvm-strip");
	*ret = t;
	return 1;
}

/* The programs that a name means. */
static void list_candidates(const char *name, const char *path_list, struct strv *ret)
{
	if (!name) {
		list_programs("llvm-bolt", path_list, true, ret);
		return;
	}
	if (isdigit((unsigned char)*name) || strncmp(name, "bolt-", 5) == 0) {
		int major = (int)strtol(*name == 'b' ? name + 5 : name, NULL, 10);
		auto_strv struct strv all = STRV_INIT;

		list_programs("llvm-bolt", path_list, true, &all);
		for (size_t i = 0; i < all.n; i++) {
			auto_free char *version = NULL;

			if (ask_version(all.v[i], &version, NULL) == major)
				strv_add(ret, all.v[i]);
		}
		return;
	}
	strv_take(ret, path_find_program(name, path_list, NULL));
	if (!ret->v[0]) {
		strv_release(ret);
		*ret = (struct strv)STRV_INIT;
	}
}

static bool is_better(const struct layout_tool *a, const struct layout_tool *b, int llvm)
{
	if (!b->bolt)
		return true;
	return b->major != llvm && (a->major == llvm || a->major > b->major);
}

static int none_found(const char *name, int llvm, struct error *err)
{
	if (name)
		return error_set(err, ERR_ENVIRONMENT,
			"'%s' is no llvm-bolt that is installed; name one that is ('22' for that "
			"of LLVM 22, or a path), or install its package (Debian: 'bolt-22')",
			name);
	return error_set(err, ERR_ENVIRONMENT,
		"llvm-bolt is neither in PATH nor in LLVM's own folders; install the package of "
		"the compiler's LLVM (Debian: 'bolt-%d')",
		llvm >= LAYOUT_OLDEST ? llvm : 22);
}

static int check_age(struct layout_tool *t, struct error *err)
{
	if (t->major >= LAYOUT_OLDEST)
		return 0;
	error_set(err, ERR_ENVIRONMENT,
		"'%s' is %s, and the oldest that is known to do it right is that of LLVM %d; "
		"install a later one (Debian: 'bolt-22')",
		t->bolt, t->version, LAYOUT_OLDEST);
	layout_tool_release(t);
	return -1;
}

int layout_find(const char *name, int llvm, const char *path_list, struct layout_tool *ret,
	struct error *err)
{
	auto_strv struct strv candidates = STRV_INIT;
	struct layout_tool best = {0};

	list_candidates(name, path_list, &candidates);
	for (size_t i = 0; i < candidates.n; i++) {
		struct layout_tool one = {0};
		struct error own = ERROR_INIT;
		int r = ask_tool(candidates.v[i], &one, &own);

		/* What was named, or gave no answer, is not passed over. */
		if (r < 0 && (name || error_is_no_answer(&own))) {
			layout_tool_release(&best);
			return error_move(err, &own);
		}
		error_release(&own);
		if (r > 0 && is_better(&one, &best, llvm)) {
			layout_tool_release(&best);
			best = one;
			one = (struct layout_tool){0};
		}
		layout_tool_release(&one);
	}
	if (!best.bolt)
		return none_found(name, llvm, err);
	if (check_age(&best, err) < 0)
		return -1;
	if (!best.strip)
		best.strip = newest("llvm-strip", path_list);
	*ret = best;
	return 0;
}
