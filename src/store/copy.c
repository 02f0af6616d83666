/* Copies of the sources in the slot. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "store/source.h"

static bool same_already(const struct source_file *f, const char *to)
{
	struct stat st;

	return lstat(to, &st) == 0 && st.st_mode == f->mode && (uint64_t)st.st_size == f->size &&
	       (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec == f->mtime_ns;
}

static int copy_content(const char *from, const char *to, mode_t mode, struct error *err)
{
	auto_close int in = open(from, O_RDONLY | O_CLOEXEC);
	auto_close int out = -1;
	char block[65536];
	ssize_t r;

	if (in < 0)
		return file_error(err, "open", from);
	unlink(to);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode | 0200);
	if (out < 0)
		return file_error(err, "create", to);
	while ((r = read(in, block, sizeof(block))) > 0)
		if (file_write_all(out, block, (size_t)r) < 0)
			return file_error(err, "write", to);
	if (r < 0)
		return file_error(err, "read", from);
	if (fchmod(out, mode & 07777) < 0)
		return file_error(err, "set the mode of", to);
	return 0;
}

static int copy_one(
	const struct source_file *f, const char *from, const char *to, struct error *err)
{
	struct timespec times[2] = {
		{.tv_nsec = UTIME_OMIT}, {f->mtime_ns / 1000000000, f->mtime_ns % 1000000000}};

	if (S_ISLNK(f->mode)) {
		char target[4096];
		ssize_t n = readlink(from, target, sizeof(target) - 1);

		if (n < 0)
			return file_error(err, "read link", from);
		target[n] = '\0';
		unlink(to);
		if (symlink(target, to) < 0)
			return file_error(err, "create", to);
	} else if (copy_content(from, to, f->mode, err) < 0) {
		return -1;
	}
	if (utimensat(AT_FDCWD, to, times, AT_SYMLINK_NOFOLLOW) < 0)
		return file_error(err, "set the times of", to);
	return 0;
}

/* The list of an earlier copy: path, NUL, digest of the content that was copied. */
struct list {
	struct buf text;
	size_t off;
	const char *path;
	const uint8_t *sha256;
};

static bool list_next(struct list *l)
{
	size_t left = l->text.n - l->off, n;

	l->path = NULL;
	if (!left)
		return false;
	n = strnlen(l->text.p + l->off, left) + 1;
	if (n + 32 > left)
		return false;
	l->path = l->text.p + l->off;
	l->sha256 = (const uint8_t *)l->path + n;
	l->off += n + 32;
	return true;
}

static int remove_vanished(const char *to, const char *path, struct error *err)
{
	auto_free char *full = path_join(to, path);

	if (unlink(full) < 0 && errno != ENOENT)
		return file_error(err, "remove", full);
	return 0;
}

/* Steps the list to a source's path, removing what lies before it. 1: the earlier copy had this
 * content; 0: it had not; -1: error. */
static int list_step(struct list *l, const struct source_file *f, const char *to, struct error *err)
{
	int c = 1;

	while (l->path && (!f || (c = strcmp(l->path, f->path)) < 0)) {
		if (remove_vanished(to, l->path, err) < 0)
			return -1;
		list_next(l);
	}
	if (!l->path || c != 0)
		return 0;
	c = memcmp(l->sha256, f->sha256, 32) == 0;
	list_next(l);
	return c;
}

static int copy_file(
	const struct source_file *f, const char *root, const char *to, int known, struct error *err)
{
	auto_free char *target = path_join(to, f->path);
	auto_free char *from = path_join(root, f->path);
	auto_free char *dir = path_dirname(target);

	/* Equal times and size are not enough: an edit may keep both. */
	if (known && same_already(f, target))
		return 0;
	if (!path_is_dir(dir) && dir_create(dir, 0755, err) < 0)
		return -1;
	return copy_one(f, from, target, err);
}

int source_copy(const struct source_tree *t, const char *root, const char *to,
	const char *list_path, struct error *err)
{
	auto_buf struct buf list = BUF_INIT;
	struct list old = {.text = BUF_INIT};
	int known = 0;

	if (dir_create(to, 0755, err) < 0)
		return -1;
	if (path_exists(list_path) && file_read(list_path, 0, &old.text, err) < 0)
		return -1;
	list_next(&old);
	for (size_t i = 0; known >= 0 && i < t->n; i++) {
		const struct source_file *f = &t->v[i];

		if (f->built)
			continue;
		buf_add(&list, f->path, strlen(f->path) + 1);
		buf_add(&list, f->sha256, 32);
		known = list_step(&old, f, to, err);
		if (known >= 0 && copy_file(f, root, to, known, err) < 0)
			known = -1;
	}
	if (known >= 0)
		known = list_step(&old, NULL, to, err);
	buf_release(&old.text);
	if (known < 0)
		return -1;
	return file_write_atomic(list_path, list.p ? list.p : "", list.n, 0644, err);
}
