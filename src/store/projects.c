/* The states of all projects: which there are, and their removal. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "store/place.h"
#include "store/trim.h"

static int add_project(
	const char *base, const char *name, struct store_projects *to, struct error *err)
{
	struct state_mark mark = {0};
	struct store_project p = {0};
	auto_free char *marker = NULL;
	struct stat st;

	if (!state_recognise(base, name, &mark))
		return 0;
	p = (struct store_project){path_join(base, name), mark.project, mark.folder, 0, 0};
	marker = path_join(p.state, STATE_MARKER);
	if (lstat(marker, &st) == 0)
		p.used_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	array_reserve(to->v, to->n, to->cap);
	to->v[to->n++] = p;
	return store_bytes(p.state, &to->v[to->n - 1].bytes, err);
}

static int by_state(const void *a, const void *b)
{
	return strcmp(
		((const struct store_project *)a)->state, ((const struct store_project *)b)->state);
}

int store_projects(struct store_projects *ret, struct error *err)
{
	auto_free char *base = store_base(err);
	struct store_projects all = {0};
	DIR *d = base ? opendir(base) : NULL;
	struct dirent *e;
	int r = 0;

	if (!base)
		return -1;
	if (!d)
		return errno == ENOENT ? 0 : file_error(err, "read folder", base);
	while (r == 0 && (e = readdir(d)))
		if (e->d_name[0] != '.')
			r = add_project(base, e->d_name, &all, err);
	closedir(d);
	if (r < 0) {
		store_projects_release(&all);
		return -1;
	}
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_state);
	*ret = all;
	return 0;
}

void store_projects_release(struct store_projects *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->v[i].state);
		free(p->v[i].project);
		free(p->v[i].folder);
	}
	free(p->v);
	*p = (struct store_projects){0};
}

/* ---- removal ---- */

/* What whet makes in a state, in the order in which it goes: first the records that say that
 * something is finished, last what says whose folder this is. */
static const char *const own[] = {"last", "run.json", "index", "nodes", "builds", "profiles",
	"trained", "sources", "slot", "hook", "shim", "shim-node.json", "written.json",
	STORE_CALIBRATION, STORE_HISTORY,
	/* beside it while it is written */
	STORE_HISTORY "-journal", STORE_HISTORY "-wal", STORE_HISTORY "-shm", "lock", STATE_MARKER};

static bool is_own(const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		size_t k = strlen(own[i]);

		if (strcmp(name, own[i]) == 0)
			return true;
		/* left by a kill in the middle of an atomic write: ".index.a1B2c3" */
		if (n == k + 8 && name[0] == '.' && strncmp(name + 1, own[i], k) == 0 &&
			name[k + 1] == '.')
			return true;
	}
	return false;
}

struct removing {
	char *foreign;
};

static int remove_temporary(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	struct removing *r = ctx;
	auto_free char *full = path_join(root, path);

	if (!is_own(path)) {
		if (!r->foreign)
			r->foreign = xstrdup(path);
	} else if (path[0] == '.' && S_ISREG(st->st_mode) && tree_remove(full, err) < 0) {
		return -1;
	}
	return 1; /* not into folders */
}

int store_project_remove(const struct store_project *p, char **foreign, struct error *err)
{
	struct store s = {.root = p->state, .lock_fd = -1};
	struct removing r = {0};
	int result = store_lock(&s, err);

	if (result == 0)
		result = tree_walk(p->state, remove_temporary, &r, err);
	for (size_t i = 0; result == 0 && i < ARRAY_SIZE(own); i++) {
		auto_free char *path = path_join(p->state, own[i]);

		/* A folder with something foreign in it stays whet's. */
		if (!r.foreign || strcmp(own[i], STATE_MARKER) != 0)
			result = tree_remove(path, err);
	}
	/* Not empty: another whet has begun there since the lock's file went. */
	if (result == 0 && !r.foreign && rmdir(p->state) < 0 && errno != ENOTEMPTY &&
		errno != ENOENT)
		result = file_error(err, "remove", p->state);
	if (s.lock_fd >= 0)
		close(s.lock_fd);
	if (result == 0)
		*foreign = r.foreign;
	else
		free(r.foreign);
	return result;
}
