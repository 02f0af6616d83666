/* Programs out of an archive. Only what is asked for is written, below names that are whet's, so a
 * hostile archive writes nowhere else. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "release/libarchive.h"
#include "release/release.h"

#define PROGRAM_MAX ((uint64_t)8 << 30)

static const struct libarchive *la;

static int failed(struct archive *a, const char *path, struct error *err)
{
	const char *text = la->archive_error_string(a);

	return error_set(err, ERR_IO, "cannot read archive '%s': %s", path,
		text ? text : "unknown error of libarchive");
}

static int write_program(struct archive *a, const char *path, const char *to, struct error *err)
{
	auto_close int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	uint64_t written = 0;
	char block[65536];
	ssize_t n;

	if (fd < 0)
		return error_set(err, ERR_IO, "cannot write '%s': %s", to, strerror(errno));
	while ((n = la->archive_read_data(a, block, sizeof(block))) > 0) {
		written += (uint64_t)n;
		if (written > PROGRAM_MAX)
			return error_set(err, ERR_MISMATCH,
				"archive '%s': a program of more than %llu bytes", path,
				(unsigned long long)PROGRAM_MAX);
		if (file_write_all(fd, block, (size_t)n) < 0)
			return error_set(err, ERR_IO, "cannot write '%s': %s", to, strerror(errno));
	}
	return n < 0 ? failed(a, path, err) : 0;
}

/* The name below the archive's folder; NULL: it does not lie right below it. */
static const char *name_of(const char *path)
{
	const char *slash = path ? strchr(path, '/') : NULL;

	if (!slash || slash == path || strchr(slash + 1, '/') || strncmp(path, "./", 2) == 0 ||
		strncmp(path, "../", 3) == 0)
		return NULL;
	return slash + 1;
}

static int take_out(struct archive *a, const char *path, const struct strv *names,
	const char *folder, struct strv *taken, struct error *err)
{
	struct archive_entry *e;
	int r;

	while ((r = la->archive_read_next_header(a, &e)) == ARCHIVE_OK) {
		const char *name = name_of(la->archive_entry_pathname(e));
		auto_free char *to = name ? path_join(folder, name) : NULL;

		if (!name || !strv_has(names, name) || strv_has(taken, name))
			continue;
		if (la->archive_entry_filetype(e) != AE_IFREG)
			return error_set(err, ERR_MISMATCH,
				"'%s' in archive '%s' is no regular file", name, path);
		if (write_program(a, path, to, err) < 0)
			return -1;
		strv_add(taken, name);
	}
	return r == ARCHIVE_EOF ? 0 : failed(a, path, err);
}

int release_take_out(
	const char *path, const struct strv *names, const char *folder, struct error *err)
{
	auto_strv struct strv taken = STRV_INIT;
	struct archive *a;
	int r = 0;

	la = libarchive(err);
	if (!la)
		return -1;
	a = la->archive_read_new();
	if (!a || la->archive_read_support_filter_gzip(a) != ARCHIVE_OK ||
		la->archive_read_support_format_tar(a) != ARCHIVE_OK ||
		la->archive_read_open_filename(a, path, 65536) != ARCHIVE_OK)
		r = a ? failed(a, path, err)
		      : error_set(err, ERR_INTERNAL, "libarchive gives no reader");
	if (r == 0)
		r = take_out(a, path, names, folder, &taken, err);
	if (a)
		(void)la->archive_read_free(a);
	for (size_t i = 0; r == 0 && i < names->n; i++)
		if (!strv_has(&taken, names->v[i]))
			r = error_set(err, ERR_MISMATCH,
				"archive '%s' does not hold the program '%s' of the plan", path,
				names->v[i]);
	return r;
}
