/* The lld that can pad between sections. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "toolchain/internal.h"

void lld_release(struct lld *l)
{
	free(l->path);
	free(l->version);
	*l = (struct lld){0};
}

/* 1: it is one, and *ret is set; 0: it is not. -1: it gave no answer. */
static int ask_lld(const char *path, const char *path_list, struct lld *ret, struct error *err)
{
	const struct question q = {.path = path, .path_list = path_list};
	struct error why = ERROR_INIT;
	auto_free char *line = NULL;
	const char *at;
	int r = ask_line(&q, "--version", &line, &why);

	if (r < 0 && error_is_no_answer(&why))
		return error_move(err, &why);
	error_release(&why);
	at = r < 0 ? NULL : strstr(line, "LLD ");
	if (!at || !leading_int(at + 4))
		return 0;
	ret->path = xstrdup(path);
	ret->major = leading_int(at + 4);
	ret->version = xasprintf("lld %.*s", (int)strcspn(at + 4, " ("), at + 4);
	return 1;
}

/* "ld.lld", "ld.lld-22" */
static bool is_lld_name(const char *name)
{
	size_t n = strlen("ld.lld");

	return strncmp(name, "ld.lld", n) == 0 &&
	       (!name[n] || (name[n] == '-' && name[n + 1] &&
				    !name[n + 1 + strspn(name + n + 1, "0123456789")]));
}

static void list_folder(const char *folder, struct strv *ret)
{
	DIR *d = opendir(folder);
	const struct dirent *e;

	if (!d)
		return;
	while ((e = readdir(d))) {
		auto_free char *path = is_lld_name(e->d_name) ? path_join(folder, e->d_name) : NULL;

		if (path)
			strv_add(ret, path);
	}
	closedir(d);
}

static void list_candidates(
	const struct compiler *compilers, size_t n, const char *path_list, struct strv *ret)
{
	for (size_t i = 0; i < n; i++) {
		auto_free char *real = path_resolve(compilers[i].path);
		auto_free char *folder = path_dirname(real);

		if (compilers[i].family == FAMILY_CLANG)
			list_folder(folder, ret);
	}
	for (const char *p = path_list; p && *p;) {
		size_t k = strcspn(p, ":");
		auto_free char *given = xstrndup(p, k);
		auto_free char *folder = path_absolute(given); /* links run elsewhere */

		if (k)
			list_folder(folder, ret);
		p += k + (p[k] == ':');
	}
	strv_sort(ret);
}

/* 1: *ret is set, 0: there is none. */
int find_lld_of(const struct compiler *c, const char *path_list, struct lld *ret, struct error *err)
{
	auto_strv struct strv paths = STRV_INIT;

	list_candidates(c, 1, path_list, &paths);
	for (size_t i = 0; i < paths.n; i++) {
		struct lld one = {0};

		if (ask_lld(paths.v[i], path_list, &one, err) < 0)
			return -1;
		if (one.major == c->llvm) {
			*ret = one;
			return 1;
		}
		lld_release(&one);
	}
	return 0;
}

static bool is_better(const struct lld *a, const struct lld *b, int llvm)
{
	if (!b->path)
		return true;
	return b->major != llvm && (a->major == llvm || a->major > b->major);
}

int toolchain_find_lld(const struct compiler *compilers, size_t n, int llvm, const char *path_list,
	struct lld *ret, struct error *err)
{
	auto_strv struct strv paths = STRV_INIT;
	struct lld best = {0};
	auto_free char *seen = NULL;

	list_candidates(compilers, n, path_list, &paths);
	for (size_t i = 0; i < paths.n; i++) {
		struct lld one = {0};
		int r = ask_lld(paths.v[i], path_list, &one, err);

		if (r < 0) {
			lld_release(&best);
			return -1;
		}
		if (r == 0)
			continue;
		free(seen);
		seen = xstrdup(one.version);
		if (one.major >= LLD_PADDING && is_better(&one, &best, llvm)) {
			lld_release(&best);
			best = one;
			one = (struct lld){0};
		}
		lld_release(&one);
	}
	if (!best.path)
		return error_set(err, ERR_ENVIRONMENT,
			"relinks with random padding need lld %d or later, and %s%s; install the "
			"package 'lld-%d' or a later one",
			LLD_PADDING, seen ? "there is only " : "none is in PATH", seen ? seen : "",
			llvm >= LLD_PADDING ? llvm : LLD_PADDING);
	*ret = best;
	return 0;
}
