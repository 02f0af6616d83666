/* The key of a node: a digest over named parts. The parts travel with the node's record, so that a
 * later build can say which of them changed. Private to src/pipeline. */
#pragma once

#include "base/hash.h"
#include "base/json.h"
#include "base/strv.h"

struct node_key {
	const char *kind, *variant; /* variant "": the kind has none */
	json_t *parts;              /* name to text, or to an object of texts */
	char hex[SHA256_HEX];       /* set by node_key_end() */
};

void node_key_begin(struct node_key *k, const char *kind, const char *variant);
void node_key_add(struct node_key *k, const char *part, const char *text); /* NULL counts as "" */
/* One entry of a part that has several, e.g. a compiler by its path. */
void node_key_add_entry(struct node_key *k, const char *part, const char *name, const char *text);
void node_key_end(struct node_key *k);
void node_key_release(struct node_key *k);
#define auto_key __attribute__((cleanup(node_key_release)))

/* Puts kind, variant and parts into a record. */
void node_key_describe(const struct node_key *k, json_t *record);
