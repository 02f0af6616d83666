#include "store/trim.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

int store_budget(uint64_t *ret, struct error *err)
{
	static const char units[] = "KMGT";
	const char *text = getenv("WHET_STATE_BUDGET"), *unit;
	unsigned long long v;
	unsigned shift = 0;
	char *end;

	*ret = STORE_BUDGET_DEFAULT;
	if (!text || !*text)
		return 0;
	if (strcmp(text, "none") == 0) {
		*ret = UINT64_MAX;
		return 0;
	}
	errno = 0;
	v = strtoull(text, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (unit) {
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
	}
	if (*text < '0' || *text > '9' || errno || *end || v > UINT64_MAX >> shift)
		return error_set(err, ERR_CONFIG,
			"WHET_STATE_BUDGET is '%s': a number of bytes is needed, with K, M, G or T "
			"behind it, or none",
			text);
	*ret = (uint64_t)v << shift;
	return 0;
}

static int add_bytes(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	*(uint64_t *)ctx += (uint64_t)st->st_blocks * 512;
	return 0;
}

int store_bytes(const char *folder, uint64_t *ret, struct error *err)
{
	uint64_t n = 0;

	if (tree_walk(folder, add_bytes, &n, err) < 0)
		return -1;
	*ret = n;
	return 0;
}

/* ---- what may go ---- */

struct unit {
	char *name; /* "nodes/KEY" */
	uint64_t bytes;
	int64_t used_ns;
};

struct units {
	struct unit *v;
	size_t n, cap;
};

/* What one of a kind is: a folder or a file, and the file whose time is that of its last use. */
static const struct kind {
	const char *name, *mark;
	bool folder;
} kinds[] = {
	{"nodes", "/node.json", true},
	{"builds", ".whole", true},
	{"profiles", "", false},
};

static int add_unit(const struct store *s, const struct kind *k, const char *name, struct units *to,
	struct error *err)
{
	auto_free char *what = xasprintf("%s/%s", k->name, name);
	auto_free char *path = store_path(s, what);
	auto_free char *mark = xasprintf("%s%s", path, k->mark);
	struct unit u = {0};
	struct stat st;

	if (lstat(path, &st) < 0 || (k->folder ? !S_ISDIR(st.st_mode) : !S_ISREG(st.st_mode)))
		return 0;
	u.bytes = (uint64_t)st.st_blocks * 512;
	if (k->folder && store_bytes(path, &u.bytes, err) < 0)
		return -1;
	/* Without its mark it is not whole, and goes first. */
	if (lstat(mark, &st) == 0)
		u.used_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	u.name = take_ptr(what);
	array_reserve(to->v, to->n, to->cap);
	to->v[to->n++] = u;
	return 0;
}

static int add_kind(
	const struct store *s, const struct kind *k, struct units *to, struct error *err)
{
	auto_free char *folder = store_path(s, k->name);
	DIR *d = opendir(folder);
	struct dirent *e;
	int r = 0;

	if (!d)
		return errno == ENOENT ? 0 : file_error(err, "read folder", folder);
	while (r == 0 && (e = readdir(d)))
		if (e->d_name[0] != '.')
			r = add_unit(s, k, e->d_name, to, err);
	closedir(d);
	return r;
}

static int least_recent_first(const void *a, const void *b)
{
	const struct unit *x = a, *y = b;

	if (x->used_ns != y->used_ns)
		return x->used_ns < y->used_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* The mark goes first: what a kill leaves behind is then not whole, and never taken for it. */
static int remove_unit(const struct store *s, const struct unit *u, struct error *err)
{
	auto_free char *path = store_path(s, u->name);

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t n = strlen(kinds[i].name);
		auto_free char *mark = xasprintf("%s%s", path, kinds[i].mark);
		auto_free char *dir = path_dirname(mark);

		if (strncmp(u->name, kinds[i].name, n) != 0 || u->name[n] != '/')
			continue;
		if (unlink(mark) < 0 && errno != ENOENT)
			return file_error(err, "remove", mark);
		if (dir_sync(dir, err) < 0)
			return -1;
	}
	return tree_remove(path, err);
}

static int remove_until(const struct store *s, uint64_t budget, const struct strv *keep,
	const struct units *units, struct store_trimmed *ret, struct error *err)
{
	for (size_t i = 0; ret->left > budget && i < units->n; i++) {
		const struct unit *u = &units->v[i];

		if (strv_has(s->used, u->name) || strv_has(keep, u->name))
			continue;
		if (remove_unit(s, u, err) < 0)
			return -1;
		strv_add(&ret->gone, u->name);
		ret->freed += u->bytes;
		ret->left -= u->bytes < ret->left ? u->bytes : ret->left;
	}
	return 0;
}

int store_trim(const struct store *s, uint64_t budget, const struct strv *keep,
	struct store_trimmed *ret, struct error *err)
{
	struct units units = {0};
	int r = 0;

	if (budget == UINT64_MAX)
		return 0;
	if (store_bytes(s->root, &ret->left, err) < 0)
		return -1;
	if (ret->left <= budget)
		return 0;
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(kinds); i++)
		r = add_kind(s, &kinds[i], &units, err);
	if (r == 0 && units.n) {
		qsort(units.v, units.n, sizeof(*units.v), least_recent_first);
		r = remove_until(s, budget, keep, &units, ret, err);
	}
	for (size_t i = 0; i < units.n; i++)
		free(units.v[i].name);
	free(units.v);
	return r;
}

void store_trimmed_release(struct store_trimmed *t)
{
	strv_release(&t->gone);
	*t = (struct store_trimmed){0};
}
