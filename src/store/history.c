#include "store/history.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "store/seal.h"

#define LISTS_KEPT 16
#define LIST_MAX ((size_t)256 << 20)

/* ---- nodes --------------------------------------------------------------------------------- */

enum node_state history_node_state(const struct store *s, const char *key)
{
	auto_free char *folder = store_node_folder(s, key);
	auto_free char *record = path_join(folder, "node.json");
	auto_json json_t *j = NULL;

	if (!path_exists(folder))
		return NODE_ABSENT;
	if (!path_exists(record))
		return NODE_UNFINISHED;
	j = store_node_record(s, key);
	return j ? NODE_COMPLETE : NODE_DAMAGED;
}

static bool is_of(const json_t *record, const char *kind, const char *variant)
{
	auto_free char *k = json_opt_str(record, "kind"), *v = json_opt_str(record, "variant");

	return k && strcmp(k, kind) == 0 && strcmp(v ? v : "", variant) == 0;
}

json_t *history_newest(const struct store *s, const char *kind, const char *variant)
{
	auto_free char *nodes = store_path(s, "nodes");
	DIR *d = opendir(nodes);
	int64_t newest = -1;
	json_t *best = NULL;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		auto_free char *path = xasprintf("%s/%s/node.json", nodes, e->d_name);
		auto_json json_t *j =
			e->d_name[0] != '.' && path_exists(path) ? sealed_read(path, NULL) : NULL;
		int64_t at = json_opt_int(j, "finished_ns", 0);

		if (!j || !is_of(j, kind, variant) || at <= newest)
			continue;
		json_decref(best);
		best = json_incref(j);
		newest = at;
	}
	if (d)
		closedir(d);
	return best;
}

/* ---- lists of sources: "f" or "x" or "l", the digest, a blank, the path, NUL ------------------
 */

static char *lists_folder(const struct store *s)
{
	return store_path(s, "sources");
}

struct list {
	char *path;
	struct timespec used;
};

static int newest_first(const void *a, const void *b)
{
	const struct list *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec > y->used.tv_sec ? -1 : 1;
	return x->used.tv_nsec > y->used.tv_nsec ? -1 : x->used.tv_nsec < y->used.tv_nsec;
}

static void remove_oldest(const char *folder)
{
	struct list *v = NULL;
	size_t n = 0, cap = 0;
	DIR *d = opendir(folder);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		auto_free char *path = path_join(folder, e->d_name);
		struct stat st;

		if (e->d_name[0] == '.' || stat(path, &st) < 0)
			continue;
		array_reserve(v, n, cap);
		v[n++] = (struct list){take_ptr(path), st.st_mtim};
	}
	if (d)
		closedir(d);
	if (n)
		qsort(v, n, sizeof(*v), newest_first);
	for (size_t i = 0; i < n; i++) {
		if (i >= LISTS_KEPT)
			unlink(v[i].path);
		free(v[i].path);
	}
	free(v);
}

static char kind_of(const struct source_file *f)
{
	return S_ISLNK(f->mode) ? 'l' : f->mode & 0100 ? 'x' : 'f';
}

static void add_line(struct buf *b, const struct source_file *f)
{
	buf_addc(b, kind_of(f));
	for (size_t i = 0; i < sizeof(f->sha256); i++)
		buf_addf(b, "%02x", f->sha256[i]);
	buf_addf(b, " %s", f->path);
	buf_addc(b, '\0');
}

int history_keep_sources(const struct store *s, const struct source_tree *t, struct error *err)
{
	auto_free char *folder = lists_folder(s);
	auto_free char *path = path_join(folder, t->digest);
	auto_buf struct buf b = {.max = LIST_MAX};

	/* Its time tells that it is in use. */
	if (utimensat(AT_FDCWD, path, NULL, 0) == 0)
		return 0;
	for (size_t i = 0; i < t->n; i++)
		if (!t->v[i].built)
			add_line(&b, &t->v[i]);
	if (buf_failed(&b))
		return 0;
	if (dir_create(folder, 0755, err) < 0 ||
		file_write_atomic(path, buf_str(&b), b.n, 0644, err) < 0)
		return -1;
	remove_oldest(folder);
	return 0;
}

static void note(struct history_change *c, const char *path)
{
	if (!c->first)
		c->first = xstrdup(path);
	c->n++;
}

/* Both lists are sorted by path; a path starts behind kind, digest and blank. */
#define PATH_AT 66

static void compare(const struct buf *old, const struct buf *new, struct history_change *ret)
{
	const char *a = old->p, *b = new->p;
	const char *a_end = a + old->n, *b_end = b + new->n;

	while (a < a_end || b < b_end) {
		int order = a >= a_end ? 1 : b >= b_end ? -1 : strcmp(a + PATH_AT, b + PATH_AT);

		if (order || strcmp(a, b) != 0)
			note(ret, (order < 0 ? a : b) + PATH_AT);
		a += order <= 0 ? strlen(a) + 1 : 0;
		b += order >= 0 ? strlen(b) + 1 : 0;
	}
}

static bool is_list(const struct buf *b)
{
	const char *p = b->p, *end = p + b->n;

	if (b->n && end[-1])
		return false;
	for (; p < end; p += strlen(p) + 1)
		if (strlen(p) <= PATH_AT)
			return false;
	return true;
}

bool history_changed_sources(const struct store *s, const char *digest, const struct source_tree *t,
	struct history_change *ret)
{
	auto_free char *folder = lists_folder(s);
	auto_free char *path = path_join(folder, digest);
	auto_buf struct buf old = BUF_INIT, new = {.max = LIST_MAX};
	struct error ignored = ERROR_INIT;
	bool ok = file_read(path, LIST_MAX, &old, &ignored) == 0 && is_list(&old);

	error_release(&ignored);
	for (size_t i = 0; i < t->n; i++)
		if (!t->v[i].built)
			add_line(&new, &t->v[i]);
	*ret = (struct history_change){0};
	if (ok && !buf_failed(&new))
		compare(&old, &new, ret);
	return ok && !buf_failed(&new);
}
