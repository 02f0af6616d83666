#include "store/store.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "store/seal.h"

#define LOCK_WAIT_NS (2 * NS_PER_S)

static int lock_busy(struct store *s, struct error *err)
{
	char pid[32] = "";
	ssize_t n = pread(s->lock_fd, pid, sizeof(pid) - 1, 0);

	close(s->lock_fd);
	s->lock_fd = -1;
	pid[n > 0 ? strcspn(pid, "\n") : 0] = '\0';
	return error_set(err, ERR_ENVIRONMENT,
		"another whet (process %s) is building this project; wait for it to end", pid);
}

/* Whether the locked file is still the one of this name: `whet clean` may have removed it between
 * our opening and our locking. */
static bool lock_is_current(const struct store *s, const char *path)
{
	struct stat held, named;

	return fstat(s->lock_fd, &held) == 0 && stat(path, &named) == 0 &&
	       held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

static int lock_once(struct store *s, const char *path, bool *ret, struct error *err)
{
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	auto_free char *pid = xasprintf("%d\n", (int)getpid());
	uint64_t end = clock_mono_ns() + LOCK_WAIT_NS;

	s->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (s->lock_fd < 0)
		return file_error(err, "open", path);
	/* A whet that was killed a moment ago may still be ending. */
	while (fcntl(s->lock_fd, F_OFD_SETLK, &l) < 0) {
		if (clock_mono_ns() >= end)
			return lock_busy(s, err);
		nanosleep(&(struct timespec){.tv_nsec = 10 * (long)NS_PER_MS}, NULL);
	}
	*ret = lock_is_current(s, path);
	if (!*ret) {
		close(s->lock_fd);
		s->lock_fd = -1;
		return 0;
	}
	if (ftruncate(s->lock_fd, 0) < 0 || pwrite(s->lock_fd, pid, strlen(pid), 0) < 0)
		return file_error(err, "write", path);
	return 0;
}

int store_lock(struct store *s, struct error *err)
{
	auto_free char *path = store_path(s, "lock");
	bool held = false;

	for (int i = 0; i < 100 && !held; i++)
		if (dir_create(s->root, 0755, err) < 0 || lock_once(s, path, &held, err) < 0)
			return -1;
	return held ? 0 : error_set(err, ERR_IO, "'%s' goes away again and again", path);
}

/* ".NAME.XXXXXX", as atomic writes name their temporary files. */
static bool is_temporary(const char *name)
{
	size_t n = strlen(name);

	return name[0] == '.' && n > 8 && name[n - 7] == '.';
}

static int sweep_entry(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	auto_free char *full = path_join(root, path);

	if (S_ISREG(st->st_mode) && is_temporary(path_basename(path)))
		unlink(full);
	return 1; /* not into folders */
}

void store_sweep(const struct store *s)
{
	/* All is written under the lock but the index, and that may fail. */
	static const char *const folders[] = {".", "last", "hook", "profiles", "builds", "sources"};

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		auto_free char *folder = store_path(s, folders[i]);

		if (path_is_dir(folder))
			tree_walk(folder, sweep_entry, NULL, NULL);
	}
}

void store_close(struct store *s)
{
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	free(s->root);
	if (s->used)
		strv_release(s->used);
	free(s->used);
	*s = (struct store)STORE_INIT;
}

void store_use(const struct store *s, const char *kind, const char *name)
{
	auto_free char *what = xasprintf("%s/%s", kind, name);

	if (s->used && !strv_has(s->used, what))
		strv_add(s->used, what);
}

char *store_path(const struct store *s, const char *name)
{
	return path_join(s->root, name);
}

/* ---- nodes ---- */

char *store_node_folder(const struct store *s, const char *key)
{
	return xasprintf("%s/nodes/%s", s->root, key);
}

#define NODE_RECORD "node.json"

/* The outputs of a node by name, with the digests of their content. */
static int list_output(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	auto_free char *full = path_join(root, path);
	char hex[SHA256_HEX];

	if (!S_ISREG(st->st_mode) || strcmp(path, NODE_RECORD) == 0)
		return 0;
	if (sha256_file(full, hex, err) < 0)
		return -1;
	json_object_set_new(ctx, path, json_string(hex));
	return 0;
}

static bool outputs_are_whole(const char *folder, const json_t *record)
{
	auto_json json_t *now = json_object();
	struct error ignored = ERROR_INIT;
	bool ok = tree_walk(folder, list_output, now, &ignored) == 0;

	error_release(&ignored);
	return ok && json_equal(now, json_object_get(record, "outputs"));
}

json_t *store_node_record(const struct store *s, const char *key)
{
	auto_free char *folder = store_node_folder(s, key);
	auto_free char *path = path_join(folder, NODE_RECORD);
	struct error ignored = ERROR_INIT;
	json_t *j = path_exists(path) ? sealed_read(path, &ignored) : NULL;

	error_release(&ignored);
	if (!j)
		return NULL;
	if (!outputs_are_whole(folder, j)) {
		json_decref(j);
		return NULL;
	}
	(void)utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW); /* for store_trim() */
	store_use(s, "nodes", key);
	return j;
}

int store_node_begin(const struct store *s, const char *key, char **ret, struct error *err)
{
	auto_free char *folder = store_node_folder(s, key);

	if (tree_remove(folder, err) < 0 || dir_create(folder, 0755, err) < 0)
		return -1;
	*ret = take_ptr(folder);
	return 0;
}

static int sync_entry(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	auto_free char *full = path_join(root, path);
	auto_close int fd = -1;

	if (!S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode))
		return 0;
	fd = open(full, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
		return error_set(err, ERR_IO, "cannot sync '%s': %s", full, strerror(errno));
	return 0;
}

int store_node_commit(const struct store *s, const char *key, json_t *record, struct error *err)
{
	auto_free char *folder = store_node_folder(s, key);
	auto_free char *path = path_join(folder, NODE_RECORD);
	auto_free char *parent = path_dirname(folder);
	json_t *outputs = json_object();

	json_object_set_new(record, "outputs", outputs);
	json_object_set_new(record, "finished_ns", json_u64(clock_real_ns()));
	if (tree_walk(folder, sync_entry, NULL, err) < 0 || dir_sync(folder, err) < 0 ||
		dir_sync(parent, err) < 0 || tree_walk(folder, list_output, outputs, err) < 0)
		return -1;
	store_use(s, "nodes", key);
	return sealed_write(record, path, err);
}

/* ---- slot ---- */

/* A build tool judges what it made before by times alone. So does this digest, but it sees any
 * write: nobody can set a file's change time. */
static int add_identity(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	if (S_ISDIR(st->st_mode))
		return 0;
	sha256_adds(ctx, path);
	sha256_add(ctx, &st->st_mode, sizeof(st->st_mode));
	sha256_add(ctx, &st->st_ino, sizeof(st->st_ino));
	sha256_add(ctx, &st->st_size, sizeof(st->st_size));
	sha256_add(ctx, &st->st_mtim, sizeof(st->st_mtim));
	sha256_add(ctx, &st->st_ctim, sizeof(st->st_ctim));
	return 0;
}

static int folder_identity(const char *folder, char hex[SHA256_HEX], struct error *err)
{
	struct sha256 h;
	int result;

	sha256_begin(&h);
	result = tree_walk(folder, add_identity, &h, err);
	sha256_end(&h, hex);
	return result;
}

/* Whether a kept build folder is there, with every file as its build left it. */
static bool kept_is_whole(const char *kept, const char *mark)
{
	auto_buf struct buf then = BUF_INIT;
	struct error ignored = ERROR_INIT;
	char now[SHA256_HEX];
	bool ok = path_is_dir(kept) && file_read(mark, SHA256_HEX, &then, &ignored) == 0 &&
		  folder_identity(kept, now, &ignored) == 0 && strcmp(buf_str(&then), now) == 0;

	error_release(&ignored);
	return ok;
}

int store_slot_begin(
	const struct store *s, const char *token, char **ret, bool *reused, struct error *err)
{
	auto_free char *slot = store_path(s, "slot");
	auto_free char *kept = xasprintf("%s/builds/%s", s->root, token);
	auto_free char *mark = xasprintf("%s.whole", kept);

	if (tree_remove(slot, err) < 0)
		return -1;
	*reused = kept_is_whole(kept, mark);
	if (tree_remove(mark, err) < 0 || (!*reused && tree_remove(kept, err) < 0))
		return -1;
	if (*reused ? file_rename(kept, slot, err) < 0 : dir_create(slot, 0755, err) < 0)
		return -1;
	*ret = take_ptr(slot);
	return 0;
}

static int note_newest(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err)
{
	int64_t *newest = ctx;
	int64_t at = (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec;

	if (at > *newest)
		*newest = at;
	return 0;
}

int store_newest(const char *folder, int64_t *ret, struct error *err)
{
	int64_t newest = 0;

	if (tree_walk(folder, note_newest, &newest, err) < 0)
		return -1;
	*ret = newest;
	return 0;
}

int store_slot_end(const struct store *s, const char *token, struct error *err)
{
	auto_free char *slot = store_path(s, "slot");
	auto_free char *builds = store_path(s, "builds");
	auto_free char *kept = path_join(builds, token);
	auto_free char *mark = xasprintf("%s.whole", kept);
	char hex[SHA256_HEX];

	if (dir_create(builds, 0755, err) < 0 || tree_remove(mark, err) < 0 ||
		tree_remove(kept, err) < 0 || folder_identity(slot, hex, err) < 0 ||
		file_rename(slot, kept, err) < 0)
		return -1;
	store_use(s, "builds", token);
	return file_write_atomic(mark, hex, strlen(hex), 0644, err);
}

int store_put_profile(
	const struct store *s, const char *file, char sha256[65], char **ret, struct error *err)
{
	auto_free char *folder = store_path(s, "profiles");
	auto_free char *path = NULL;
	char there[SHA256_HEX] = "";

	if (sha256_file(file, sha256, err) < 0 || dir_create(folder, 0755, err) < 0)
		return -1;
	path = xasprintf("%s/%s.profdata", folder, sha256);
	/* A file of that name with other content was damaged: it is replaced. */
	if (!path_exists(path) || sha256_file(path, there, NULL) < 0 || strcmp(there, sha256) != 0)
		if (file_copy(file, path, 0644, err) < 0)
			return -1;
	(void)utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW); /* for store_trim() */
	store_use(s, "profiles", path_basename(path));
	*ret = take_ptr(path);
	return 0;
}
