/* What zig makes by itself. */
#pragma once

#include <stdbool.h>

/* Whether an input of a link is a start file or a library of the target, which zig makes when it is
 * first asked for, in a cache of its own: CACHE/o/DIGEST/NAME. The objects of a build of whet lie
 * in another cache (see lend_zig() in prepare.c). */
bool zig_made(const char *path);
