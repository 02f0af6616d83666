/* A full disk shows in many ways: a write of whet's own, a compiler that fails, a profile that is
 * cut off. Private to src/pipeline. */
#pragma once

#include "pipeline/run.h"

/* Adds to the error of a stopped build that a disk is full, which one and what to do, when that is
 * why. What else would read as the failure of a program is then one of the environment; a gate's
 * verdict stays one. */
void space_explain(const struct run *r, struct error *err);
