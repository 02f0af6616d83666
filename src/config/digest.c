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

/* The order of services is the order of their starts, and headers are sent as they stand. */
static bool order_matters(const char *key)
{
	return !strcmp(key, "services") || !strcmp(key, "headers");
}

static void add(struct sha256 *h, const struct node *n, bool ordered, const char *skip);

/* skip: a key that does not count; NULL: all do. */
static void add_mapping(struct sha256 *h, const struct node *n, bool ordered, const char *skip)
{
	struct node **pairs = xcalloc(n->n + 1, sizeof(*pairs));

	if (n->n)
		memcpy(pairs, n->items, n->n * sizeof(*pairs));
	if (!ordered)
		qsort(pairs, n->n / 2, 2 * sizeof(*pairs), by_key);
	for (size_t i = 0; i + 1 < n->n; i += 2) {
		if (skip && strcmp(pairs[i]->text, skip) == 0)
			continue;
		sha256_adds(h, pairs[i]->text);
		add(h, pairs[i + 1], order_matters(pairs[i]->text), NULL);
	}
	free(pairs);
}

static void add(struct sha256 *h, const struct node *n, bool ordered, const char *skip)
{
	if (n->kind == NODE_SCALAR) {
		sha256_adds(h, node_is_null(n) ? "null" : "text");
		sha256_adds(h, node_is_null(n) ? "" : n->text);
		return;
	}
	sha256_adds(h, n->kind == NODE_SEQUENCE ? "list" : "mapping");
	if (n->kind == NODE_SEQUENCE)
		for (size_t i = 0; i < n->n; i++)
			add(h, n->items[i], false, NULL);
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
		add(&h, n, false, skip);
	sha256_end(&h, hex);
}
