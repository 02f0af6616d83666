/* Profile files in the project's folder. Private to src/pipeline. */
#pragma once

#include "pipeline/run.h"

/* Fills r->report->strays with those among the sources and those that git tracks, and warns of
 * them: compilers and other tools may use a stale one that nobody sees. Without git: of the
 * former alone. */
void strays_warn(struct run *r);
