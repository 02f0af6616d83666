/* What callgrind wrote: the cost of each function, summed over any number of its files. Format:
 * "Callgrind Format Specification" of the valgrind manual (version 1). The files come from a
 * process that ran what is measured, so they are read as untrusted input. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct callgrind_function {
	char *object; /* path of the file that holds it; "" or "???": not known */
	char *name;
	bool assembly; /* its source file is assembly */
	bool known;    /* it has a source file: there was debug information */
	uint64_t instructions, i1_misses;
};

struct callgrind {
	struct callgrind_function *v;
	size_t n, cap;
	uint64_t instructions, i1_misses;
};

/* Adds a file's costs to sum, which is left alone on error: ERR_CORRUPT with file and line. A file
 * that says nothing of misses of the first instruction cache (--cache-sim=yes) is an error, too. */
int callgrind_add(struct callgrind *sum, const char *path, struct error *err);
/* One entry for each object and name, those with most instructions first. */
void callgrind_sort(struct callgrind *sum);
void callgrind_release(struct callgrind *sum);
