/* The profile of a program that gcc compiled. What is published is one archive: a .gcda for each
 * object, and an index with the names that a .gcda does not hold. In it the slot's path reads
 * {slot}, and the idents of local functions, which are made of paths, are those of such paths: so
 * the same training gives the same archive in every folder, and it can be put to use in every
 * folder (docs/formats/gcc.md). Private to src/pipeline. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "pipeline/run.h"
#include "profile/gcc/gcda.h"

struct gcc_named {
	uint32_t ident; /* in the archive's .gcda */
	char *name;     /* as the assembler has it; NULL: not known */
	char *source;   /* as the compiler was given it, marked; NULL: not known */
	char *object;  /* of a local function: the output's name without suffix, as given, marked */
	uint32_t line; /* its first one; 0: not known */
};

struct gcc_indexed {
	char *file; /* in the archive */
	char *path; /* of its .gcda, as the compiler was told it, marked */
	struct gcc_named *v;
	size_t n, cap;
};

struct gcc_index {
	struct gcc_indexed *v; /* in byte order of the paths */
	size_t n, cap;
};
void gcc_index_release(struct gcc_index *x);
int gcc_index_write(const struct gcc_index *x, const char *path, struct error *err);
/* ERR_CORRUPT names what is wrong with it. */
int gcc_index_read(const char *path, struct gcc_index *ret, struct error *err);
/* The same of a program whose main compiler has LLVM's counters: beside those, all that gcc made
 * may be data, and then it names no objects. */
int gcc_index_read_beside(const char *path, struct gcc_index *ret, struct error *err);

/* The slot's path as {slot}, and back. Caller frees. */
char *gcc_mark(const char *path, const char *slot);
char *gcc_unmark(const char *path, const char *slot);

/* Gives copies of a function that were not linked the counts of the one that was: data[i] is that
 * of object i of the index. What they share must not be changed from then on. */
void gcc_fill_copies(const struct gcc_index *x, struct gcda *const *data);

#define GCC_PROFILE_TOP "profile" /* folder in the archive */
#define GCC_PROFILE_INDEX "index.json"

/* The merge of all processes of the training, as an archive at path. */
int gcc_profile_publish(struct run *r, const char *path, struct error *err);
/* Makes of the published archive the folder that the compilers read here: r->track->profiles of
 * each gcc that takes part. facts: gets what the profile holds; NULL. */
int gcc_profile_localise(struct run *r, struct profile_facts *facts, struct error *err);
/* For each instrumented binary that has some the paths of its .gcda, cleaned and sorted; caller
 * frees all of *ret. Stops the build when none has any, unless gcc stands beside the main compiler:
 * then objects without a function may be all that it made. images, as many as binaries: the index
 * of the binary of each. */
int gcc_profile_objects(
	struct run *r, struct strv **ret, size_t *images, size_t *n, struct error *err);
