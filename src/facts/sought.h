/* The functions that a compiler looked up in a profile, as it says when it is asked to trace the
 * structural hashes (-pgo-trace-func-hash; LLVM 19 and newer). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

struct sought_function {
	char *name;   /* symbol */
	char *source; /* of its module: what stands in the key of a local function; NULL: garbled */
	uint64_t hash; /* of its structure now; 0: garbled */
};

struct sought {
	struct sought_function *v; /* in the order of the compiler's output */
	size_t n, cap;
	size_t garbled; /* lines of two threads that ran into each other */
};

void sought_release(struct sought *s);
/* Takes down one line of a compiler's standard error, without its newline. False: it is none.
 * threads: the compiler's threads write at once, so that lines may run into each other: what is not
 * whole is kept in pieces, and once there was a line, a single word is part of one. */
bool sought_parse(struct sought *s, const char *line, bool threads);
json_t *sought_json(const struct sought *s);
void sought_from_json(const json_t *o, struct sought *ret); /* NULL: none */
