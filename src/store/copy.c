/* Copies of the sources in the slot. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "store/source.h"

static bool same_already(const struct source_file *f, const char *to)
{
	struct stat st;

	return lstat(to, &st) == 0 && st.st_mode == f->mode && (uint64_t)st.st_size == f->size &&
	       (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec == f->mtime_ns;
}

/* Copies and hashes in one reading: what is compiled is what the digest is of. */
static int copy_content(
	const char *from, const char *to, mode_t mode, char hex[SHA256_HEX], struct error *err)
{
	auto_close int in = open(from, O_RDONLY | O_CLOEXEC);
	auto_close int out = -1;
	char block[65536];
	struct sha256 h;
	ssize_t r;

	if (in < 0)
		return file_error(err, "open", from);
	unlink(to);
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode | 0200);
	if (out < 0)
		return file_error(err, "create", to);
	sha256_begin(&h);
	while ((r = read(in, block, sizeof(block))) > 0) {
		sha256_add(&h, block, (size_t)r);
		if (file_write_all(out, block, (size_t)r) < 0)
			break;
	}
	sha256_end(&h, hex);
	if (r)
		return r < 0 ? file_error(err, "read", from) : file_error(err, "write", to);
	if (fchmod(out, mode & 07777) < 0)
		return file_error(err, "set the mode of", to);
	return 0;
}

static int copy_link(const char *from, const char *to, char hex[SHA256_HEX], struct error *err)
{
	char target[4096];
	ssize_t n = readlink(from, target, sizeof(target) - 1);

	if (n < 0)
		return file_error(err, "read link", from);
	target[n] = '\0';
	sha256_of(target, (size_t)n, hex);
	unlink(to);
	return symlink(target, to) < 0 ? file_error(err, "create", to) : 0;
}

/* An editor may be at work: what it saves and takes back within a moment is waited for. */
#define COPY_TRIES 20
#define COPY_PAUSE_NS (20 * NS_PER_MS)

static int copy_one(
	const struct source_file *f, const char *from, const char *to, struct error *err)
{
	struct timespec times[2] = {
		{.tv_nsec = UTIME_OMIT}, {f->mtime_ns / 1000000000, f->mtime_ns % 1000000000}};
	char hex[SHA256_HEX], wanted[SHA256_HEX];

	for (size_t i = 0; i < sizeof(f->sha256); i++)
		snprintf(wanted + 2 * i, 3, "%02x", f->sha256[i]);
	for (int i = 0;; i++) {
		if ((S_ISLNK(f->mode) ? copy_link(from, to, hex, err)
				      : copy_content(from, to, f->mode, hex, err)) < 0)
			return -1;
		if (strcmp(hex, wanted) == 0)
			break;
		if (i == COPY_TRIES)
			return error_set(err, ERR_MISMATCH,
				"'%s' changed between its digest and its copy", from);
		nanosleep(&(struct timespec){.tv_nsec = COPY_PAUSE_NS}, NULL);
	}
	if (utimensat(AT_FDCWD, to, times, AT_SYMLINK_NOFOLLOW) < 0)
		return file_error(err, "set the times of", to);
	return 0;
}

/* What the list of an earlier build's sources says of one, behind its path and a NUL. */
struct listed {
	uint8_t sha256[32];
	uint64_t size;
	int64_t mtime_ns;
};

struct list {
	struct buf text;
	size_t off;
	const char *path;
	struct listed is;
};

static bool list_next(struct list *l)
{
	size_t left = l->text.n - l->off, n;

	l->path = NULL;
	if (!left)
		return false;
	n = strnlen(l->text.p + l->off, left) + 1;
	if (n + sizeof(l->is) > left)
		return false;
	l->path = l->text.p + l->off;
	memcpy(&l->is, l->path + n, sizeof(l->is));
	l->off += n + sizeof(l->is);
	return true;
}

static void list_add(struct buf *list, const struct source_file *f)
{
	struct listed is = {.size = f->size, .mtime_ns = f->mtime_ns};

	memcpy(is.sha256, f->sha256, sizeof(is.sha256));
	buf_add(list, f->path, strlen(f->path) + 1);
	buf_add(list, &is, sizeof(is));
}

static int list_write(const struct buf *list, const char *path, struct error *err)
{
	return file_write_atomic(path, list->p ? list->p : "", list->n, 0644, err);
}

int source_list_write(const struct source_tree *t, const char *list_path, struct error *err)
{
	auto_buf struct buf list = BUF_INIT;

	for (size_t i = 0; i < t->n; i++)
		if (!t->v[i].built)
			list_add(&list, &t->v[i]);
	return list_write(&list, list_path, err);
}

/* ---- may a kept folder be gone on with ---- */

static bool written_by_build(const struct list *l, const char *copy)
{
	auto_free char *path = path_join(copy, l->path);
	struct stat st;

	return lstat(path, &st) < 0 || (uint64_t)st.st_size != l->is.size ||
	       (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec != l->is.mtime_ns;
}

bool source_kept_usable(
	const struct source_tree *t, const char *list_path, const char *copy, int64_t newest_ns)
{
	struct list l = {.text = BUF_INIT};
	bool ok = path_exists(list_path) && file_read(list_path, 0, &l.text, NULL) == 0;

	for (size_t i = 0; ok && i < t->n; i++) {
		const struct source_file *f = &t->v[i];

		if (f->built)
			continue;
		ok = list_next(&l) && strcmp(l.path, f->path) == 0 &&
		     !(copy && written_by_build(&l, copy)) &&
		     (memcmp(l.is.sha256, f->sha256, 32) == 0 || f->mtime_ns > newest_ns);
	}
	ok = ok && !list_next(&l);
	buf_release(&l.text);
	return ok;
}

/* ---- the copy ---- */

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
	c = memcmp(l->is.sha256, f->sha256, 32) == 0;
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
		list_add(&list, f);
		known = list_step(&old, f, to, err);
		if (known >= 0 && copy_file(f, root, to, known, err) < 0)
			known = -1;
	}
	if (known >= 0)
		known = list_step(&old, NULL, to, err);
	buf_release(&old.text);
	if (known < 0)
		return -1;
	return list_write(&list, list_path, err);
}
