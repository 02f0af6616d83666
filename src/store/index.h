/* The index: (device, inode, size, mtime, ctime) of each file with the digest it had. A private
 * cache: a file that is not exactly as expected counts as absent. */
#pragma once

#include "store/source.h"

struct index;

struct index *index_open(const char *path); /* NULL when there is none or it is unusable */
/* Fills sha256 and built when the file's identity is the recorded one and was not racily fresh.
 * Files must be asked in ascending order of path. */
bool index_lookup(struct index *x, struct source_file *f);
size_t index_count(const struct index *x);
int index_write(const char *path, const struct source_tree *t, struct error *err);
void index_close(struct index *x);
