#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "toolchain/internal.h"

struct majors {
	int *v;
	size_t n, cap;
};

static void add_major(struct majors *m, int major)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->v[i] == major)
			return;
	array_reserve(m->v, m->n, m->cap);
	m->v[m->n++] = major;
}

/* Every clang-NN in a folder of PATH. */
static void scan_folder(const char *folder, struct majors *m)
{
	DIR *d = opendir(folder);
	const struct dirent *e;

	if (!d)
		return;
	while ((e = readdir(d))) {
		const char *digits = e->d_name + 6;

		if (!strncmp(e->d_name, "clang-", 6) && *digits && strlen(digits) < 4 &&
			!digits[strspn(digits, "0123456789")])
			add_major(m, leading_int(digits));
	}
	closedir(d);
}

static int newest_first(const void *a, const void *b)
{
	return *(const int *)b - *(const int *)a;
}

static void scan(const char *path_list, struct majors *m)
{
	for (const char *p = path_list; p && *p;) {
		size_t n = strcspn(p, ":");
		auto_free char *folder = xstrndup(p, n);

		if (n)
			scan_folder(folder, m);
		p += n + (p[n] == ':');
	}
	if (m->n)
		qsort(m->v, m->n, sizeof(*m->v), newest_first);
}

/* 1: it can be used; 0: it cannot, and why says what is the matter. -1: it gave no answer; taking
 * another compiler for that would be another release. */
static int try_one(const char *name, const char *path_list, struct compiler *ret, struct buf *why,
	struct error *err)
{
	struct error own = ERROR_INIT;
	struct compiler c = {0};
	int rc = toolchain_probe(name, path_list, &c, &own);

	if (!rc && c.family != FAMILY_CLANG) {
		compiler_release(&c);
		rc = error_set(&own, ERR_ENVIRONMENT, "'%s' is not clang", name);
	}
	if (rc < 0 && error_is_no_answer(&own))
		return error_move(err, &own);
	if (rc < 0)
		buf_addf(why, "\n  %s", own.msg);
	else
		*ret = c;
	error_release(&own);
	return rc < 0 ? 0 : 1;
}

/* Clang that has the plain name, when it is as new: builds know it best. Else the newest. */
static int find_best(const char *path_list, const struct majors *m, struct compiler *ret,
	struct buf *why, struct error *err)
{
	int have = try_one("clang", path_list, ret, why, err);

	for (size_t i = 0; i < m->n && have >= 0 && (!have || m->v[i] > ret->major); i++) {
		auto_free char *name = xasprintf("clang-%d", m->v[i]);
		struct compiler newer = {0};
		int found = try_one(name, path_list, &newer, why, err);

		if (found == 0)
			continue;
		if (have)
			compiler_release(ret);
		if (found > 0)
			*ret = newer;
		return found;
	}
	return have;
}

int toolchain_find_clang(const char *path_list, struct compiler *ret, struct error *err)
{
	auto_buf struct buf why = BUF_INIT;
	struct compiler best = {0};
	struct majors m = {0};
	int found;

	scan(path_list, &m);
	found = find_best(path_list, &m, &best, &why, err);
	free(m.v);
	if (found == 0)
		return error_set(err, ERR_ENVIRONMENT,
			"no usable clang is in PATH; install the Debian packages 'clang' and "
			"'libclang-rt-dev' (Debian 12: 'clang' and 'libclang-rt-14-dev'). Tried:%s",
			buf_str(&why));
	if (found < 0)
		return -1;
	*ret = best;
	return 0;
}

char *toolchain_cxx_name(const char *cc)
{
	static const struct {
		const char *c, *cxx;
	} pairs[] = {{"clang", "clang++"}, {"gcc", "g++"}, {"cc", "c++"}};
	const char *base = path_basename(cc);

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		size_t n = strlen(pairs[i].c), len = strlen(base);
		const char *at = base;
		const char *end;

		/* "clang", "clang-22", "x86_64-linux-gnu-gcc-12": the name stands between dashes.
		 */
		for (; (at = strstr(at, pairs[i].c)); at++) {
			end = at + n;
			if ((at == base || at[-1] == '-') &&
				(!*end || (*end == '-' && end[1] >= '0' && end[1] <= '9')))
				return xasprintf("%.*s%s%.*s", (int)(at - cc), cc, pairs[i].cxx,
					(int)(base + len - end), end);
		}
	}
	return NULL;
}
