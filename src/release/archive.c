#include "release/release.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "release/libarchive.h"

#define NAME_MAX_USTAR 255

static const struct libarchive *la;

static int by_name(const void *a, const void *b)
{
	const struct release_file *x = *(const struct release_file *const *)a;
	const struct release_file *y = *(const struct release_file *const *)b;

	return strcmp(x->name, y->name);
}

/* A name that unpacks below the top folder and nowhere else. */
static bool is_safe_name(const char *name)
{
	if (!*name || *name == '/')
		return false;
	for (const char *p = name; *p;) {
		size_t n = strcspn(p, "/");

		if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		p += n;
		if (*p == '/' && !*++p)
			return false;
	}
	return true;
}

static int check_names(
	const char *top, const struct release_file **sorted, size_t n, struct error *err)
{
	if (!is_safe_name(top) || strchr(top, '/'))
		return error_set(err, ERR_INTERNAL,
			"'%s' cannot be the folder inside an archive: expected a plain name", top);
	for (size_t i = 0; i < n; i++) {
		const char *name = sorted[i]->name;

		if (!is_safe_name(name))
			return error_set(err, ERR_CONFIG,
				"'%s' cannot be a name inside an archive: expected a relative path "
				"without "
				"'.' and '..'",
				name);
		if (i && strcmp(name, sorted[i - 1]->name) == 0)
			return error_set(err, ERR_CONFIG,
				"two files of an archive have the name '%s': '%s' and '%s'", name,
				sorted[i - 1]->path, sorted[i]->path);
	}
	return 0;
}

static int libarchive_error(struct archive *a, const char *path, struct error *err)
{
	const char *text = la->archive_error_string(a);

	return error_set(err, ERR_IO, "cannot write archive '%s': %s", path,
		text ? text : "unknown error of libarchive");
}

/* Everything that could differ from one machine or minute to another is set here. */
static void describe(struct archive_entry *e, const char *name, uint64_t epoch)
{
	la->archive_entry_clear(e);
	la->archive_entry_set_pathname(e, name);
	la->archive_entry_set_uid(e, 0);
	la->archive_entry_set_gid(e, 0);
	la->archive_entry_set_uname(e, "");
	la->archive_entry_set_gname(e, "");
	la->archive_entry_set_mtime(e, (time_t)epoch, 0);
}

static int add_folder(struct archive *a, struct archive_entry *e, const char *name, uint64_t epoch)
{
	describe(e, name, epoch);
	la->archive_entry_set_filetype(e, AE_IFDIR);
	la->archive_entry_set_perm(e, 0755);
	return la->archive_write_header(a, e) == ARCHIVE_OK ? 0 : -1;
}

static int copy_content(
	struct archive *a, int fd, const struct release_file *f, uint64_t size, struct error *err)
{
	char block[65536];
	uint64_t left = size;
	ssize_t n;

	while ((n = read(fd, block, sizeof(block))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set(
				err, ERR_IO, "cannot read '%s': %s", f->path, strerror(errno));
		if ((uint64_t)n > left)
			break;
		if (la->archive_write_data(a, block, (size_t)n) != n)
			return libarchive_error(a, f->name, err);
		left -= (uint64_t)n;
	}
	if (n != 0 || left)
		return error_set(
			err, ERR_IO, "'%s' changed its size while it was archived", f->path);
	return 0;
}

static int add_file(struct archive *a, struct archive_entry *e, const char *name,
	const struct release_file *f, uint64_t epoch, struct error *err)
{
	auto_close int fd = open(f->path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_set(err, ERR_IO, "cannot read '%s': %s", f->path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return error_set(
			err, ERR_IO, "cannot archive '%s': it is no regular file", f->path);
	describe(e, name, epoch);
	la->archive_entry_set_filetype(e, AE_IFREG);
	la->archive_entry_set_perm(e, f->executable ? 0755 : 0644);
	la->archive_entry_set_size(e, st.st_size);
	if (la->archive_write_header(a, e) != ARCHIVE_OK)
		return libarchive_error(a, f->name, err);
	return copy_content(a, fd, f, (uint64_t)st.st_size, err);
}

/* The folders of a name that the one before it did not have: "bin/a" gives "TOP/bin". */
static int add_parents(struct archive *a, struct archive_entry *e, const char *top,
	const char *before, const char *name, uint64_t epoch)
{
	for (const char *p = strchr(name, '/'); p; p = strchr(p + 1, '/')) {
		size_t n = (size_t)(p - name) + 1;
		auto_free char *folder = NULL;

		if (before && strncmp(before, name, n) == 0)
			continue;
		folder = xasprintf("%s/%.*s", top, (int)n, name);
		if (add_folder(a, e, folder, epoch) < 0)
			return -1;
	}
	return 0;
}

static int add_all(struct archive *a, const char *top, const struct release_file **v, size_t n,
	uint64_t epoch, struct error *err)
{
	struct archive_entry *e = la->archive_entry_new();
	auto_free char *root = xasprintf("%s/", top);
	int r = 0;

	if (!e)
		return error_set(err, ERR_ENVIRONMENT, "no memory for an archive");
	if (add_folder(a, e, root, epoch) < 0)
		r = libarchive_error(a, root, err);
	for (size_t i = 0; i < n && r == 0; i++) {
		auto_free char *name = xasprintf("%s/%s", top, v[i]->name);

		if (strlen(name) > NAME_MAX_USTAR)
			r = error_set(
				err, ERR_CONFIG, "'%s' is too long a name for an archive", name);
		else if (add_parents(a, e, top, i ? v[i - 1]->name : NULL, v[i]->name, epoch) < 0)
			r = libarchive_error(a, name, err);
		else
			r = add_file(a, e, name, v[i], epoch, err);
	}
	la->archive_entry_free(e);
	return r;
}

/* The gzip header without time and name: they are no part of the content. */
static int set_format(struct archive *a)
{
	if (la->archive_write_set_format_ustar(a) != ARCHIVE_OK ||
		la->archive_write_add_filter_gzip(a) != ARCHIVE_OK ||
		la->archive_write_set_filter_option(a, "gzip", "timestamp", NULL) != ARCHIVE_OK ||
		la->archive_write_set_filter_option(a, "gzip", "compression-level", "9") !=
			ARCHIVE_OK)
		return -1;
	return 0;
}

static int write_archive(int fd, const char *top, const struct release_file **v, size_t n,
	uint64_t epoch, struct error *err)
{
	struct archive *a = la->archive_write_new();
	int r;

	if (!a)
		return error_set(err, ERR_ENVIRONMENT, "no memory for an archive");
	if (set_format(a) < 0 || la->archive_write_open_fd(a, fd) != ARCHIVE_OK)
		r = libarchive_error(a, top, err);
	else
		r = add_all(a, top, v, n, epoch, err);
	if (r == 0 && la->archive_write_close(a) != ARCHIVE_OK)
		r = libarchive_error(a, top, err);
	la->archive_write_free(a);
	return r;
}

int release_archive(const char *path, const char *top, const struct release_file *files, size_t n,
	uint64_t epoch, struct error *err)
{
	auto_free const struct release_file **sorted = xcalloc(n + 1, sizeof(*sorted));
	auto_atomic struct atomic_file out = ATOMIC_FILE_INIT;

	for (size_t i = 0; i < n; i++)
		sorted[i] = &files[i];
	qsort(sorted, n, sizeof(*sorted), by_name);
	la = libarchive(err);
	if (!la || check_names(top, sorted, n, err) < 0)
		return -1;
	if (atomic_open(&out, path, 0644, err) < 0)
		return -1;
	if (write_archive(out.fd, top, sorted, n, epoch, err) < 0)
		return error_context(err, "'%s'", path);
	return atomic_commit(&out, err);
}
