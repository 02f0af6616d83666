/* The record of the last complete build. Private to src/pipeline. */
#pragma once

#include "pipeline/run.h"

/* Written after a build to the end in which every gate passed. */
int last_write(const struct run *r, struct error *err);
/* Whether inputs, compilers and artefacts are still what they were then. */
bool last_is_current(const struct run *r, const struct buf *text);
/* Adds the keys of its build nodes. */
void last_builds(const struct run *r, struct strv *keys);
/* Adds the names of what the last complete build used of the store. */
void last_used(const struct run *r, struct strv *ret);
