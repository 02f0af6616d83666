/* What stripping changed in a file that is loaded: nothing may. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/strv.h"

struct strip_facts {
	bool stripped;      /* false: it ships as it was linked, and the rest is empty */
	bool laid_out;      /* BOLT made it */
	size_t n_segments;  /* program headers compared */
	size_t n_sections;  /* loaded sections of the stripped file */
	uint64_t bytes;     /* of loadable segments, compared */
	struct strv faults; /* each difference, with segment or section and address */
};
void strip_facts_release(struct strip_facts *f);
