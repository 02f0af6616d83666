/* What the inputs of `whet profile` are: LLVM's profiles or GCC's. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"

/* Splits the WEIGHT,FILE of --weighted; *path points into text. ERR_USAGE when it is none. */
int profile_weighted(const char *text, uint64_t *weight, const char **path, struct error *err);

/* Adds what a path stands for: a folder for all raw profiles below it, in the order of their paths.
 */
int profile_expand(const char *path, struct strv *files, struct error *err);
/* Reads a list of inputs, one a line: a path goes to files, WEIGHT,FILE to weighted. Blank lines,
 * and those that begin with '#', mean nothing. */
int profile_read_list(
	const char *path, struct strv *files, struct strv *weighted, struct error *err);
/* Says on standard error that a file has counters, but no value data. */
void profile_warn_values_missing(const char *path);

/* Whether the inputs (weighted: as WEIGHT,FILE; may be NULL) are GCC's: files by their content,
 * folders by what is in them. Both kinds together are ERR_USAGE, naming one of each. A path that
 * does not exist is taken for LLVM's. */
int profile_inputs_are_gcc(
	const struct strv *files, const struct strv *weighted, bool *ret, struct error *err);
