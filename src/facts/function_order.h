/* In which order the linker was to place functions, and what became of it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/strv.h"

/* Of one link. */
struct function_order {
	char *file;    /* one function a line, first to last, named by its content; NULL: none */
	char *why;     /* why none could be written; NULL: there is no reason against it */
	size_t listed; /* functions in it */
	/* Of these: in the linked file's symbol table; and the most of them that lie there one
	 * behind the other as the list has them. */
	size_t present, placed;
	uint64_t bytes;      /* of the present ones */
	uint64_t span;       /* from the first to the end of the last of the placed ones */
	struct strv missing; /* some names that are not present */
	struct strv astray;  /* some that lie elsewhere */
};
void function_order_release(struct function_order *o);
json_t *function_order_json(const struct function_order *o);
void function_order_from_json(const json_t *o, struct function_order *ret);
/* Of the functions that are present the share that is placed, 0 to 1; 0 when none is present. */
double function_order_share(const struct function_order *o);
