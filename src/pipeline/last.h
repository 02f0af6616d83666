/* The record of the last complete build. Private to src/pipeline. */
#pragma once

#include "pipeline/run.h"

/* Written after a build to the end in which every gate passed. */
int last_write(const struct run *r, struct error *err);
/* NULL when inputs, compilers and artefacts are still what they were then; else what is not. since:
 * when that build ended, may be NULL. Caller frees both. */
char *last_difference(const struct run *r, char **since);
/* Keeps what the builds of a stopped run recorded, for pipeline_stopped_logs(); with stopped false
 * what an earlier run left goes. What cannot be written is left out. */
void last_keep_stopped(const struct run *r, bool stopped);
/* The kept build folder of a token, or NULL when there is none. Caller frees. */
char *last_kept(const struct store *s, const char *token);
/* Adds the keys of its build nodes. */
void last_builds(const struct run *r, struct strv *keys);
/* Adds the names of what the last complete build used of the store. */
void last_used(const struct run *r, struct strv *ret);
