/* Files: whole reads with a limit, atomic writes, trees. Every descriptor is close-on-exec. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/strv.h"

/* Reads a whole file of at most max bytes (0: BUF_MAX_DEFAULT) into out (replacing its content).
 * Larger: ERR_UNSUPPORTED naming the file. */
int file_read(const char *path, size_t max, struct buf *out, struct error *err);

/* The last lines of a text file (of its last 16 KiB) without the last line end; "" when there is
 * none. NUL bytes become '?'. Caller frees. */
char *file_tail(const char *path, size_t lines);

/* A read-only mapping. p is NULL for an empty file. Release with file_unmap(). */
struct file_map {
	const uint8_t *p;
	size_t n;
};
int file_map(const char *path, struct file_map *ret, struct error *err);
void file_unmap(struct file_map *m);

/* Appears whole or not at all: temporary file beside it, fsync, rename, fsync of the folder. A
 * device, pipe or /dev/stdout stays what it is and is written to. */
int file_write_atomic(const char *path, const void *data, size_t n, mode_t mode, struct error *err);

/* The same for content written in pieces. On leaving scope without commit the temporary file is
 * removed (use auto_atomic). */
struct atomic_file {
	int fd; /* -1: not open */
	char *path, *temporary;
	mode_t mode;
};
#define ATOMIC_FILE_INIT {.fd = -1}
int atomic_open(struct atomic_file *f, const char *path, mode_t mode, struct error *err);
int atomic_write(struct atomic_file *f, const void *data, size_t n, struct error *err);
int atomic_commit(struct atomic_file *f, struct error *err);
void atomic_abandon(struct atomic_file *f);
#define auto_atomic __attribute__((cleanup(atomic_abandon)))

int file_write_all(int fd, const void *data, size_t n); /* 0, or -1 with errno */

/* ERR_IO "cannot WHAT 'PATH': reason" by errno; returns -1. */
int file_error(struct error *err, const char *what, const char *path);

int dir_create(const char *path, mode_t mode, struct error *err); /* with parents; exists is fine */
int tree_remove(const char *path, struct error *err);             /* absent is fine */
int dir_sync(const char *path, struct error *err);                /* fsync of a folder */
/* rename(2) followed by fsync of both folders. */
int file_rename(const char *from, const char *to, struct error *err);
int file_copy(const char *from, const char *to, mode_t mode, struct error *err); /* atomic */

/* Calls fn for every entry below root except the root itself, parents before children, names in
 * byte order in each folder. path is relative to root. fn returns 0 to go on, 1 to skip a folder's
 * content, -1 to stop with err set. Symlinks are not followed. */
typedef int tree_fn(
	void *ctx, const char *root, const char *path, const struct stat *st, struct error *err);
int tree_walk(const char *root, tree_fn *fn, void *ctx, struct error *err);

bool path_exists(const char *path);
bool path_is_dir(const char *path);
char *path_join(const char *a, const char *b); /* b alone when it is absolute; caller frees */
char *path_dirname(const char *path);          /* caller frees; "." when there is no slash */
const char *path_basename(const char *path);   /* points into path */
char *path_absolute(const char *path);         /* against the working folder, cleaned; frees */
char *path_clean(const char *path);            /* removes //, /./ and /../ by text alone */
/* Absolute, with the symlinks of the part that exists resolved; caller frees. */
char *path_resolve(const char *path);
bool path_is_below(const char *path, const char *folder); /* also true when equal; by text */
/* Text with the path `from`, and what lies below it, moved to `to` wherever it stands ("-I/a/b"
 * with /a to /c: "-I/c/b"). Caller frees. */
char *path_replace(const char *text, const char *from, const char *to);
/* The first executable of this name in a PATH list (or the name itself when it has a slash), or
 * NULL. skip_dir, when not NULL, is a folder that does not count. Caller frees. */
char *path_find_program(const char *name, const char *path_list, const char *skip_dir);
