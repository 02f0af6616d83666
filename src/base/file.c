#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/mem.h"

int file_error(struct error *err, const char *what, const char *path)
{
	return error_set(err, ERR_IO, "cannot %s '%s': %s", what, path, strerror(errno));
}

static int read_fd(int fd, struct buf *out)
{
	for (;;) {
		char *to = buf_reserve(out, 65536);
		ssize_t r;

		if (!to)
			return -2;
		r = read(fd, to, 65536);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -1;
		out->n += (size_t)r;
		out->p[out->n] = '\0';
		if (r == 0)
			return 0;
	}
}

int file_read(const char *path, size_t max, struct buf *out, struct error *err)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r;

	if (fd < 0)
		return file_error(err, "open", path);
	buf_clear(out);
	/* One block more than allowed, so that the last full block is not taken for too much. */
	out->max = (max ? max : BUF_MAX_DEFAULT) + 65536;
	r = read_fd(fd, out);
	if (r == -1)
		return file_error(err, "read", path);
	if (r == -2 || out->n > out->max - 65536)
		return error_set(err, ERR_UNSUPPORTED, "'%s' is larger than %zu bytes", path,
			out->max - 65536);
	return 0;
}

char *file_tail(const char *path, size_t lines)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char text[16385], *p;
	ssize_t n;
	size_t seen = 0;

	if (fd < 0 || fstat(fd, &st) < 0)
		return xstrdup("");
	n = pread(fd, text, sizeof(text) - 1,
		st.st_size > (off_t)sizeof(text) - 1 ? st.st_size - (off_t)sizeof(text) + 1 : 0);
	if (n <= 0)
		return xstrdup("");
	while (n && text[n - 1] == '\n')
		n--;
	text[n] = '\0';
	for (ssize_t i = 0; i < n; i++)
		if (!text[i])
			text[i] = '?';
	for (p = text + n; p > text; p--)
		if (p[-1] == '\n' && ++seen == lines)
			break;
	return xstrdup(p);
}

int file_map(const char *path, struct file_map *ret, struct error *err)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p = NULL;

	if (fd < 0)
		return file_error(err, "open", path);
	if (fstat(fd, &st) < 0)
		return file_error(err, "stat", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERR_IO, "'%s' is not a regular file", path);
	if (st.st_size > 0) {
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (p == MAP_FAILED)
			return file_error(err, "map", path);
	}
	ret->p = p;
	ret->n = (size_t)st.st_size;
	return 0;
}

void file_unmap(struct file_map *m)
{
	if (m->p)
		munmap((void *)(uintptr_t)m->p, m->n);
	m->p = NULL;
	m->n = 0;
}

int file_write_all(int fd, const void *data, size_t n)
{
	const char *p = data;

	while (n) {
		ssize_t r = write(fd, p, n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return -1;
		p += r;
		n -= (size_t)r;
	}
	return 0;
}

int dir_sync(const char *path, struct error *err)
{
	auto_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return file_error(err, "open", path);
	if (fsync(fd) < 0 && errno != EINVAL)
		return file_error(err, "sync", path);
	return 0;
}

static int sync_parent(const char *path, struct error *err)
{
	auto_free char *dir = path_dirname(path);

	return dir_sync(dir, err);
}

/* A device, a pipe, or a name of an open file (/dev/stdout): written to, since nothing can take its
 * place. */
static bool is_stream(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return false;
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return true;
	return (strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0) &&
	       lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

static int stream_open(struct atomic_file *f, const char *path, struct error *err)
{
	f->fd = open(path, O_WRONLY | O_CLOEXEC);
	if (f->fd < 0)
		return file_error(err, "open", path);
	f->path = xstrdup(path);
	return 0;
}

int atomic_open(struct atomic_file *f, const char *path, mode_t mode, struct error *err)
{
	auto_free char *dir = path_dirname(path);

	if (is_stream(path))
		return stream_open(f, path, err);

	f->temporary = xasprintf("%s/.%s.XXXXXX", dir, path_basename(path));
	f->fd = mkostemp(f->temporary, O_CLOEXEC);
	if (f->fd < 0) {
		free(take_ptr(f->temporary));
		return file_error(err, "create", path);
	}
	f->path = xstrdup(path);
	f->mode = mode;
	return 0;
}

int atomic_write(struct atomic_file *f, const void *data, size_t n, struct error *err)
{
	if (file_write_all(f->fd, data, n) < 0)
		return file_error(err, "write", f->path);
	return 0;
}

int atomic_commit(struct atomic_file *f, struct error *err)
{
	if (!f->temporary) {
		atomic_abandon(f);
		return 0;
	}
	if (fchmod(f->fd, f->mode) < 0 || fsync(f->fd) < 0)
		return file_error(err, "write", f->path);
	if (rename(f->temporary, f->path) < 0)
		return file_error(err, "create", f->path);
	free(take_ptr(f->temporary));
	if (sync_parent(f->path, err) < 0)
		return -1;
	atomic_abandon(f);
	return 0;
}

void atomic_abandon(struct atomic_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	if (f->temporary)
		unlink(f->temporary);
	free(f->temporary);
	free(f->path);
	*f = (struct atomic_file)ATOMIC_FILE_INIT;
}

int file_write_atomic(const char *path, const void *data, size_t n, mode_t mode, struct error *err)
{
	auto_atomic struct atomic_file f = ATOMIC_FILE_INIT;

	if (atomic_open(&f, path, mode, err) < 0 || atomic_write(&f, data, n, err) < 0)
		return -1;
	return atomic_commit(&f, err);
}

int dir_create(const char *path, mode_t mode, struct error *err)
{
	auto_free char *p = xstrdup(path);

	for (char *s = p + 1; *p; s++) {
		char c = *s;

		if (c != '/' && c != '\0')
			continue;
		*s = '\0';
		if (mkdir(p, mode) < 0 && (errno != EEXIST || !path_is_dir(p))) {
			errno = errno == EEXIST ? ENOTDIR : errno;
			return file_error(err, "create folder", p);
		}
		*s = c;
		if (c == '\0')
			break;
	}
	return 0;
}

static int remove_at(int dirfd, const char *name);

static int remove_content(int fd)
{
	DIR *d = fdopendir(fd);
	struct dirent *e;
	int r = 0;

	if (!d) {
		close(fd);
		return -1;
	}
	while (r == 0 && (e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			r = remove_at(fd, e->d_name);
	closedir(d);
	return r;
}

static int remove_at(int dirfd, const char *name)
{
	int fd;

	if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -1;
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == EACCES && fchmodat(dirfd, name, 0700, 0) == 0)
		fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -1;
	(void)fchmod(fd, 0700);
	if (remove_content(fd) < 0)
		return -1;
	return unlinkat(dirfd, name, AT_REMOVEDIR);
}

int tree_remove(const char *path, struct error *err)
{
	if (remove_at(AT_FDCWD, path) < 0)
		return file_error(err, "remove", path);
	return 0;
}

int file_rename(const char *from, const char *to, struct error *err)
{
	if (rename(from, to) < 0)
		return error_set(
			err, ERR_IO, "cannot rename '%s' to '%s': %s", from, to, strerror(errno));
	if (sync_parent(from, err) < 0)
		return -1;
	return sync_parent(to, err);
}

int file_copy(const char *from, const char *to, mode_t mode, struct error *err)
{
	auto_atomic struct atomic_file f = ATOMIC_FILE_INIT;
	auto_close int in = open(from, O_RDONLY | O_CLOEXEC);
	char block[65536];
	ssize_t r;

	if (in < 0)
		return file_error(err, "open", from);
	if (atomic_open(&f, to, mode, err) < 0)
		return -1;
	while ((r = read(in, block, sizeof(block))) != 0) {
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return file_error(err, "read", from);
		if (atomic_write(&f, block, (size_t)r, err) < 0)
			return -1;
	}
	return atomic_commit(&f, err);
}

static int list_names(int fd, struct strv *names)
{
	DIR *d = fdopendir(fd);
	struct dirent *e;

	if (!d) {
		close(fd);
		return -1;
	}
	while ((e = readdir(d)))
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			strv_add(names, e->d_name);
	closedir(d);
	strv_sort(names);
	return 0;
}

struct walk {
	const char *root;
	int rootfd;
	tree_fn *fn;
	void *ctx;
};

static int walk_dir(struct walk *w, const char *rel, struct error *err)
{
	auto_strv struct strv names = STRV_INIT;
	int fd = openat(w->rootfd, *rel ? rel : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || list_names(fd, &names) < 0)
		return error_set(err, ERR_IO, "cannot read folder '%s/%s': %s", w->root, rel,
			strerror(errno));
	for (size_t i = 0; i < names.n; i++) {
		auto_free char *path =
			*rel ? xasprintf("%s/%s", rel, names.v[i]) : xstrdup(names.v[i]);
		struct stat st;
		int r;

		if (fstatat(w->rootfd, path, &st, AT_SYMLINK_NOFOLLOW) < 0) {
			if (errno == ENOENT)
				continue; /* went away since the folder was listed */
			return error_set(err, ERR_IO, "cannot stat '%s/%s': %s", w->root, path,
				strerror(errno));
		}
		r = w->fn(w->ctx, w->root, path, &st, err);
		if (r < 0)
			return -1;
		if (r == 0 && S_ISDIR(st.st_mode) && walk_dir(w, path, err) < 0)
			return -1;
	}
	return 0;
}

int tree_walk(const char *root, tree_fn *fn, void *ctx, struct error *err)
{
	auto_close int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct walk w = {root, fd, fn, ctx};

	if (fd < 0)
		return file_error(err, "open folder", root);
	return walk_dir(&w, "", err);
}
