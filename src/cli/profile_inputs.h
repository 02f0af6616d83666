/* The inputs of `whet profile`: what they are (LLVM's profiles or GCC's), and reading LLVM's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"
#include "profile/profile.h"

/* Splits the WEIGHT,FILE of --weighted; *path points into text. ERR_USAGE when it is none. */
int profile_weighted(const char *text, uint64_t *weight, const char **path, struct error *err);

/* Adds what a path stands for: a folder for all raw profiles below it, in the order of their paths.
 */
int profile_expand(const char *path, struct strv *files, struct error *err);
/* Reads a list of inputs, one a line: a path goes to files, WEIGHT,FILE to weighted. Blank lines,
 * and those that begin with '#', mean nothing. */
int profile_read_list(
	const char *path, struct strv *files, struct strv *weighted, struct error *err);
/* Says on standard error when not all was read that a file's program has counted. */
void profile_warn(const char *path, bool values_missing, bool mixed);

/* Whether the inputs (weighted: as WEIGHT,FILE; may be NULL) are GCC's: files by their content,
 * folders by what is in them. Both kinds together are ERR_USAGE, naming one of each. A path that
 * does not exist is taken for LLVM's. */
int profile_inputs_are_gcc(
	const struct strv *files, const struct strv *weighted, bool *ret, struct error *err);

/* Adds a file, or all raw profiles below a folder. Says on standard error when value data are
 * missing. */
int profile_add_input(struct profile *p, const char *path, uint64_t weight, struct error *err);
