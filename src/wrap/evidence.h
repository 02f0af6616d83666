/* Link evidence: the objects in a linker map, hashed while they exist. */
#pragma once

#include "base/error.h"
#include "facts/compile.h"
#include "wrap/linkmap.h"

/* Adds to the record's links every object and archive member that the map names; relative names are
 * taken from the record's working folder. Shared objects, linker scripts and archives as a whole
 * are no objects and are left out. When the link optimised bitcode, the objects of the command line
 * are added as well, because the map then names only what came out of it. kept: folder with the
 * objects that a call which compiled and linked made and removed, or NULL. */
int evidence_collect(struct compile_record *r, const struct map_inputs *map, const char *kept,
	struct error *err);
