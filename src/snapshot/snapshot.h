/* Takes the counters out of a live process from outside: the raw profile that the runtime of LLVM
 * in it would write at this moment, of the program and of all its shared objects, one after the
 * other. The process stands still while its counters are copied, and is let go at once, whatever
 * happens to whet. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/strv.h"

/* One instrumented image of the process. */
struct snapshot_image {
	char *path;
	char *build_id;    /* hex, or NULL */
	uint32_t version;  /* raw version of the (first) profile */
	unsigned profiles; /* 1; 2 when its records have two sizes */
	bool assumed;      /* stripped: kind and version are not told by a symbol */
	uint64_t records, counters, executed;
	uint64_t bytes; /* of its profile sections */
};

struct snapshot {
	struct snapshot_image *v; /* the program first */
	size_t n, cap;
	uint64_t bytes;      /* of the file */
	uint64_t sections;   /* bytes of all profile sections */
	uint64_t stopped_ns; /* how long the process stood */
	size_t threads;      /* that were stopped */
	struct strv notes;   /* what a user has to know about the result */
};
void snapshot_release(struct snapshot *s);

/* Writes the profile of process pid to path, whole or not at all. What it cannot take is an error
 * that says why: no such process, no permission, no instrumented image, counters without records.
 */
int snapshot_write(pid_t pid, const char *path, struct snapshot *ret, struct error *err);
/* The same of a process that is expected to rest: it is not stopped while all its threads sleep
 * (stopped_ns and threads are 0 then), so no system call of it is interrupted. One that does not
 * come to rest within a quarter of a second is stopped after all. */
int snapshot_write_rested(pid_t pid, const char *path, struct snapshot *ret, struct error *err);
