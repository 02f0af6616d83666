/* What the code of a linked file consists of, by the names of the input sections: compilers put the
 * functions (and parts of functions) that a profile shows to be hot, or never executed, into
 * sections of their own, which linkers place together. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

enum text_class {
	TEXT_HOT,      /* .text.hot and .text.hot.* */
	TEXT_UNLIKELY, /* .text.unlikely and .text.unlikely.* */
	TEXT_SPLIT,    /* .text.split.*: cold parts that LLVM's splitter took out of functions */
	TEXT_STARTUP,  /* .text.startup, .text.exit and theirs: constructors, main, destructors */
	TEXT_OTHER,    /* every other input section */
	TEXT_PADDING,  /* between input sections: alignment, and what the linker itself put there */
	TEXT_CLASSES
};

/* Bytes of the output sections .text and .text.*; all 0: not known. */
struct text_bytes {
	uint64_t v[TEXT_CLASSES];
};

/* The size of these output sections: the sum of all classes. */
uint64_t text_bytes_sum(const struct text_bytes *t);
/* The class of an input section, as GNU ld's own script, gold, lld and mold read its name. A
 * function `hot` that is compiled with -ffunction-sections has such a name, too. name: n bytes. */
enum text_class text_class_of(const char *name, size_t n);
const char *text_class_name(enum text_class c); /* "hot", …, "padding": keys of JSON, too */

/* null for one that is not known. */
json_t *text_bytes_json(const struct text_bytes *t);
/* Not known when it is none. */
void text_bytes_from_json(const json_t *o, struct text_bytes *ret);
