/* An order of functions for the linker, by the counts of a profile: those that run together lie
 * together. docs/function-order.md. */
#pragma once

#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/strv.h"
#include "elf/elf_calls.h"
#include "facts/function_order.h"

/* ---- counts --------------------------------------------------------------------------------- */

struct order_weight {
	char *name;   /* of the function, without the path of its source */
	double count; /* of all its counters; above 0 */
};

/* In byte order of the names, each once. */
struct order_weights {
	struct order_weight *v;
	size_t n, cap;
};
void order_weights_release(struct order_weights *w);
/* A name that is there gets both counts: local functions of one name are placed side by side. */
void order_weights_add(struct order_weights *w, const char *key, double count);
/* After the last was added. */
void order_weights_sort(struct order_weights *w);
/* One line each, the count as a whole number and the name; the same weights give the same bytes. */
void order_weights_text(const struct order_weights *w, struct buf *out);
int order_weights_read(const char *path, struct order_weights *ret, struct error *err);
/* Of a symbol. What compilers hang on names (".llvm.123", ".part.0") is left out when the name with
 * it is not known; a cold part (".cold") has none. 0: not known. */
double order_weight_of(const struct order_weights *w, const char *symbol);

/* ---- order ---------------------------------------------------------------------------------- */

/* Clusters of call chains (Ottoni, Maher: Optimizing Function Placement for Large-Scale Data-Center
 * Applications, CGO 2017) with the bounds that lld has: a cluster has at most 1 MiB, and none is
 * joined to one eight times as dense. Adds the indices of the functions with counts, first to last;
 * ties are decided by name. ret has room for c->n. Returns how many. */
size_t order_functions(const struct elf_calls *c, const struct order_weights *w, uint32_t *ret);

/* ---- linkers -------------------------------------------------------------------------------- */

/* What a link needs so that this linker places functions in an order. */
struct order_words {
	struct strv words;  /* further words for the compiler that links */
	struct buf content; /* of the file that they name */
	const char *suffix; /* of that file's name */
	struct strv listed; /* the names in the order, without those that this linker cannot name */
};
void order_words_release(struct order_words *o);
/* linker: as linkmap.h names it. said: what it said when asked for its script. ERR_UNSUPPORTED says
 * why this linker cannot, and what to do. order: of n functions of c. */
int order_for_linker(const char *linker, const char *said, const struct elf_calls *c,
	const uint32_t *order, size_t n, struct order_words *ret, struct error *err);
/* Fills in the words, once the name of the file is known. */
void order_name_file(const char *linker, const char *path, struct order_words *o);

/* ---- proof ---------------------------------------------------------------------------------- */

/* Compares what was asked for (o->file) with the symbol table of the linked file. */
int order_check(const char *binary, struct function_order *o, struct error *err);
