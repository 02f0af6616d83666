/* What the state knows of earlier builds: which nodes there were, and of which files the sources
 * consisted. Needed to say why something is made again, and for nothing else. */
#pragma once

#include "store/source.h"
#include "store/store.h"

enum node_state {
	NODE_ABSENT,
	NODE_UNFINISHED, /* there are outputs and no record */
	NODE_DAMAGED,    /* record or outputs are not what was committed */
	NODE_COMPLETE,
};
enum node_state history_node_state(const struct store *s, const char *key);

/* The record of the node of this kind and variant that was committed last, or NULL. New reference.
 */
json_t *history_newest(const struct store *s, const char *kind, const char *variant);

/* Keeps the list of the files behind a digest of sources, in place of the oldest of such lists. */
int history_keep_sources(const struct store *s, const struct source_tree *t, struct error *err);
struct history_change {
	size_t n;    /* files that are other than they were, new or gone */
	char *first; /* one of them; NULL when n is 0; caller frees */
};
/* Compares with the files behind an earlier digest. False: their list is not there any more. */
bool history_changed_sources(const struct store *s, const char *digest, const struct source_tree *t,
	struct history_change *ret);
