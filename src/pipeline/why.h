/* Why a node runs, or what it is reused from; told before it runs, when asked (--why).
 * Private to src/pipeline. */
#pragma once

#include "pipeline/key.h"
#include "pipeline/run.h"

/* The reason why a node with this key has to run: what is wrong with its outputs, or which parts of
 * the key are other than those of the newest node of its kind. Caller frees. */
char *why_node_runs(const struct run *r, const struct node_key *k);
/* The difference between parts of two keys: "sources changed: 'a.c' (and 3 more)"; NULL when there
 * is none. sources: the tree of now, to name the files. Caller frees. */
char *why_parts_differ(const struct store *s, const struct source_tree *sources, const json_t *then,
	const json_t *now);

/* Says it for the stage that runs, and keeps it for the report. The reason is not even worked out
 * unless --why was given; record: of the node that is reused. */
void why_say_runs(struct run *r, const struct node_key *k);
void why_say_because(struct run *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void why_say_reused(struct run *r, const json_t *record);
