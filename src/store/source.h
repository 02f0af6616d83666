/* The sources of a project: which files they are, one digest over all of them, and an index that
 * makes the digest cheap when nothing changed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/strv.h"

struct source_file {
	char *path; /* relative to the root */
	uint64_t dev, ino, size;
	int64_t mtime_ns, ctime_ns;
	uint32_t mode;
	uint8_t sha256[32]; /* of the content, or of a symlink's target */
	bool built;         /* an object, archive or executable that some build left: no source */
};

struct source_tree {
	struct source_file *v; /* sorted by path; built ones included */
	size_t n, cap;
	char digest[65]; /* over path, executable bit and content of every source */
	size_t n_built;
	uint64_t n_hashed; /* files whose content had to be read */
};

#define SOURCE_TREE_INIT {0}

/* What of a folder is a source: globs relative to it, and absolute paths. NULL: none. */
struct source_rules {
	const struct strv *exclude; /* no sources; a folder that matches is left out whole */
	const struct strv *include; /* sources although they look like a build's products */
	const struct strv *skip;    /* absolute paths that are no sources */
};

/* Scans root. Left out: version control folders, build folders (marked by CACHEDIR.TAG,
 * CMakeCache.txt or meson-private), and what the rules exclude or skip. Objects, archives and
 * executables are `built`, unless included. index_path: file of the index, read and rewritten when
 * it changed; NULL: none. */
int source_scan(const char *root, const struct source_rules *rules, const char *index_path,
	struct source_tree *ret, struct error *err);
void source_tree_release(struct source_tree *t);

/* What an earlier build had as sources, as source_copy() or source_list_write() left it in
 * list_path, against the present ones: whether its folder may be gone on with. Build tools compare
 * times, so: no source was added or removed, and none whose content changed is older than
 * newest_ns, the newest file of that folder. copy: the copy that the folder holds, whose files that
 * build must not have written itself; NULL: there is none. */
bool source_kept_usable(
	const struct source_tree *t, const char *list_path, const char *copy, int64_t newest_ns);
/* For a build in place: notes which sources it has. */
int source_list_write(const struct source_tree *t, const char *list_path, struct error *err);

/* Makes the folder `to` hold exactly the sources (times kept, files that are the same already left
 * alone, files of an earlier copy that are no sources any more removed). list_path: where the
 * copy's list of files is kept, outside of `to`. What is copied is what the tree's digests say: a
 * file that has another content by now is ERR_MISMATCH. */
int source_copy(const struct source_tree *t, const char *root, const char *to,
	const char *list_path, struct error *err);

/* The first source with the same content but written (or linked, or renamed) in between, or NULL:
 * what was in it meanwhile is not known. Borrowed from b. */
const char *source_first_touched(const struct source_tree *a, const struct source_tree *b);
/* The first path whose content or mode differs between the trees, or NULL. Borrowed. */
const char *source_first_difference(const struct source_tree *a, const struct source_tree *b);
