/* The .gcda files of a program: one for each object, in a folder, matched with those of other runs
 * by the path below that folder. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"
#include "profile/compare.h"
#include "profile/gcc/gcda.h"

struct gcc_input {
	const char *path;
	uint64_t weight; /* 1 or more */
};

/* The .gcda files below a folder, relative to it, in byte order. Symlinks are not followed. */
int gcc_list(const char *folder, struct strv *ret, struct error *err);

/* Adds files of one object up and writes the result, the whole file, atomically. One file alone of
 * weight 1 is checked and written as it was read. */
int gcc_merge_files(const struct gcc_input *in, size_t n, const char *out, struct error *err);
/* Adds folders up, file by file of equal relative path; a file that only one of them has is taken
 * from there. One object is in memory at a time. The folder `out` must not exist (or be empty); it
 * appears whole or not at all. */
int gcc_merge_folders(const struct gcc_input *in, size_t n, const char *out, struct error *err);

struct gcc_object {
	char *name; /* path below its folder; the path as given for a file that was named itself */
	char *path; /* where it was read first */
	struct gcda *data;
};

/* In byte order of the names, each once. */
struct gcc_objects {
	struct gcc_object *v;
	size_t n, cap;
};

/* Adds a file, or all files below a folder, to what is there. On failure ret holds a part. A folder
 * without .gcda files is ERR_USAGE. Release with gcc_objects_release(). */
int gcc_objects_add(struct gcc_objects *ret, const char *path, uint64_t weight, struct error *err);
void gcc_objects_release(struct gcc_objects *o);

/* How far two profiles agree on where time goes. */
struct gcc_overlap {
	double share; /* 0 to 1: over all arc counters, the smaller of the two shares in its own sum
		       */
	uint64_t objects, only_first, only_second; /* in both; in one alone */
	uint64_t functions,
		mismatched; /* in both; of them with another control flow, not counted */
};
/* Objects are matched by name, functions by ident; stamps may differ, so that builds can be
 * compared. A single file on each side is matched whatever its name. each, when not NULL, is told
 * the share of every object in both, and the object's own share in each profile. ERR_MISMATCH when
 * one counted nothing. */
typedef void gcc_overlap_each(
	void *ctx, const char *name, double share, double first, double second);
int gcc_overlap(const struct gcc_objects *a, const struct gcc_objects *b, struct gcc_overlap *ret,
	gcc_overlap_each *each, void *ctx, struct error *err);

/* What the new profile trained that the old one did not (profile/compare.h). Objects and functions
 * are matched as above. name says what a function is called; the result becomes that of the diff.
 */
typedef char *gcc_function_name(
	void *ctx, const struct gcc_object *o, const struct gcda_function *f);
int gcc_diff(const struct gcc_objects *old, const struct gcc_objects *new, double threshold,
	gcc_function_name *name, void *ctx, struct profile_diff *ret, struct error *err);

/* What both are made of. */
double gcda_arc_sum(const struct gcda_function *f);
double gcc_objects_sum(const struct gcc_objects *o);
/* The same checksum of the control flow and number of arcs. */
bool gcda_same_flow(const struct gcda_function *a, const struct gcda_function *b);
/* The functions that are in the program, ascending by ident; caller frees. */
const struct gcda_function **gcda_by_ident(const struct gcda *g, size_t *n);
/* Less than 0 when object i of a comes before object k of b, 0 when they are one object. */
int gcc_objects_order(const struct gcc_objects *a, size_t i, const struct gcc_objects *b, size_t k);
