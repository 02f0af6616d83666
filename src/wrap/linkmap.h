/* Linker maps: which objects a link loaded. Formats of GNU ld (and gold), lld and mold. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "facts/text_bytes.h"

struct map_input {
	char *path;   /* as the linker named it */
	char *member; /* of an archive; NULL */
};

struct map_inputs {
	const char *linker;  /* whose map it is: "GNU ld", "gold", "lld" or "mold" */
	struct map_input *v; /* each once, in the order of the map */
	size_t n, cap;
	size_t *slots, n_slots; /* hash table of the entries, private */
	struct text_bytes text; /* not known: the map has no .text, or contradicts itself */
};
void map_inputs_release(struct map_inputs *m);
/* Adds one, unless it is there already. */
void map_inputs_add(
	struct map_inputs *m, const char *path, size_t n, const char *member, size_t n_member);

/* The index of an entry, or -1. */
ssize_t map_inputs_find(const struct map_inputs *m, const char *path, const char *member);

/* text: the whole map, NUL-terminated. ERR_CORRUPT when it is none of the known formats. Files that
 * GNU ld merely opened (archives, shared objects, linker scripts) are in the list too: they are
 * told apart by their content. */
int linkmap_parse(const char *text, struct map_inputs *ret, struct error *err);
