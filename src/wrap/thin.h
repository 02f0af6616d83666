/* Thin archives (GNU ar, llvm-ar): a table of names of files elsewhere. libarchive reads only the
 * kind that holds its members. */
#pragma once

#include "base/error.h"
#include "base/file.h"

/* Calls fn for every member: its name in the archive and the file's absolute path. path: of the
 * archive itself. fn returns 0 to go on, -1 to stop with err set. */
typedef int thin_fn(void *ctx, const char *name, const char *file, struct error *err);
int thin_walk(
	const struct file_map *f, const char *path, thin_fn *fn, void *ctx, struct error *err);
