/* The profile of the last complete build that trained, kept for builds that do not: --profile last.
 * Private to src/pipeline. */
#pragma once

#include "pipeline/run.h"

/* How the name of a published profile of gcc ends. */
#define GCC_PROFILE_ENDING ".gcda.tar.gz"
/* What --profile takes in the place of a file. */
#define PROFILE_LAST "last"

/* Of a build to the end in which every gate passed: keeps its profile and provenance, in place of
 * those of an earlier one of the same target. Nothing when the profile was given. */
int trained_keep(const struct run *r, struct error *err);
/* Path of the kept profile of the plan's target, its provenance beside it (PATH.json), as a given
 * one's. Caller frees. ERR_ENVIRONMENT, with the remedy: there is none, or it is not whole. */
int trained_find(const struct run *r, char **ret, struct error *err);
/* Whether a profile is one of gcc's, which are published as a gzipped archive. */
bool trained_is_archive(const char *path);
/* Once the compilers are known: ERR_CONFIG when the kept profile, or the plan, is of gcc. gcc
 * numbers the functions of a file, and one that is added or taken out shifts the counts of all
 * behind it to others: another revision's profile cannot be told from its own. */
int trained_check_kind(const struct run *r, struct error *err);
