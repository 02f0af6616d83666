#include "service/content.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

#define BLOCK 65536
#define LINE 80

char *content_path(const char *file, const char *root, const struct strv *vars, struct error *err)
{
	auto_free char *name = NULL;

	return plan_expand(file, vars, &name, err) < 0 ? NULL : path_join(root, name);
}

/* xorshift64 (Marsaglia 2003). */
static uint64_t next(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

static int write_generated(int fd, uint64_t n, uint64_t seed)
{
	uint64_t x = seed * 2 + 1; /* never 0 */
	char block[BLOCK];

	for (uint64_t at = 0; at < n;) {
		size_t k = n - at < BLOCK ? (size_t)(n - at) : BLOCK;

		for (size_t i = 0; i < k; i++)
			block[i] = (at + i) % LINE == LINE - 1
					   ? '\n'
					   : (char)('a' + (next(&x) >> 11) % 26);
		if (file_write_all(fd, block, k) < 0)
			return -1;
		at += k;
	}
	return 0;
}

static int copy(const char *from, int to, struct error *err)
{
	auto_close int in = open(from, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (in < 0)
		return file_error(err, "read", from);
	do
		n = sendfile(to, in, NULL, (size_t)1 << 30);
	while (n > 0);
	return n < 0 ? error_set(err, ERR_IO, "cannot copy '%s': %s", from, strerror(errno)) : 0;
}

int content_write(const struct plan_content *c, const char *root, const struct strv *vars,
	uint64_t seed, const char *path, struct error *err)
{
	auto_free char *folder = path_dirname(path), *from = NULL;
	auto_close int fd = -1;
	int r;

	if (dir_create(folder, 0755, err) < 0)
		return -1;
	/* Not through a link, and not into a file that somebody else still has open. */
	if (unlink(path) < 0 && errno != ENOENT)
		return file_error(err, "replace", path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return file_error(err, "write", path);
	if (c->file) {
		from = content_path(c->file, root, vars, err);
		return from ? copy(from, fd, err) : -1;
	}
	r = c->text ? file_write_all(fd, c->text, strlen(c->text))
		    : write_generated(fd, (uint64_t)c->bytes, seed);
	return r < 0 ? file_error(err, "write", path) : 0;
}
