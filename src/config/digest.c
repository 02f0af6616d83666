#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "config/keys.h"

static int by_key(const void *a, const void *b)
{
	struct node *const *x = a, *const *y = b;

	return strcmp((*x)->text, (*y)->text);
}

/* In how many levels below a key the order matters: services start in theirs, headers are sent as
 * they stand, and of a matrix the first value of each setting is measured. */
static unsigned int ordered_levels(const char *key)
{
	if (!strcmp(key, "matrix"))
		return 2;
	return !strcmp(key, "services") || !strcmp(key, "headers") ? 1 : 0;
}

static void add(struct sha256 *h, const struct node *n, unsigned int ordered, const char *skip);

/* skip: a key that does not count; NULL: all do. */
static void add_mapping(
	struct sha256 *h, const struct node *n, unsigned int ordered, const char *skip)
{
	struct node **pairs = xcalloc(n->n + 1, sizeof(*pairs));

	if (n->n)
		memcpy(pairs, n->items, n->n * sizeof(*pairs));
	if (!ordered)
		qsort(pairs, n->n / 2, 2 * sizeof(*pairs), by_key);
	for (size_t i = 0; i + 1 < n->n; i += 2) {
		unsigned int below = ordered_levels(pairs[i]->text);

		if (skip && strcmp(pairs[i]->text, skip) == 0)
			continue;
		sha256_adds(h, pairs[i]->text);
		add(h, pairs[i + 1], ordered > 1 ? ordered - 1 : below, NULL);
	}
	free(pairs);
}

static void add(struct sha256 *h, const struct node *n, unsigned int ordered, const char *skip)
{
	if (n->kind == NODE_SCALAR) {
		sha256_adds(h, node_is_null(n) ? "null" : "text");
		sha256_adds(h, node_is_null(n) ? "" : n->text);
		return;
	}
	sha256_adds(h, n->kind == NODE_SEQUENCE ? "list" : "mapping");
	if (n->kind == NODE_SEQUENCE)
		for (size_t i = 0; i < n->n; i++)
			add(h, n->items[i], 0, NULL);
	else
		add_mapping(h, n, ordered, skip);
	sha256_adds(h, "end");
}

void digest_node(const struct node *n, const char *skip, char hex[65])
{
	struct sha256 h;

	sha256_begin(&h);
	sha256_adds(&h, "whet plan 1");
	if (n)
		add(&h, n, 0, skip);
	sha256_end(&h, hex);
}
