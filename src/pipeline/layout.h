/* Post-link layout: what its nodes share. Private to src/pipeline. */
#pragma once

#include "pipeline/run.h"

/* Where an optimised build keeps the files with relocations, and a laid-out one its profile: below
 * the node's folder. */
#define LAYOUT_RELOCS "relocs"
#define LAYOUT_NO_RELOCS "no-relocs" /* why there are none */
#define LAYOUT_SUFFIX ".fdata"
#define LAYOUT_PROVENANCE ".profile.json"

/* Takes those relinks of a build that has just ended into its node. */
int layout_take_relocs(struct build_out *out, const struct wrap_node *w, struct error *err);
void layout_paths(const struct build_out *base, struct strv *ret);

/* Before the first compile: whether what was asked for by name is possible here. What `auto` cannot
 * do is said and left out: r->no_layout. ERR_ENVIRONMENT, ERR_UNSUPPORTED. */
int layout_probe(struct run *r, struct error *err);

/* layout_train.c: the training load with counters of the tool's in the program: one profile per
 * binary in the folder of its node, in the order of the plan. Sets the track's layout_key. */
int layout_train(
	struct run *r, const struct strv *inputs, struct strv *profiles, struct error *err);

/* The optimised build of the track that the nodes work on, laid out: fills r->track->optimised. */
int node_layout(struct run *r, struct error *err);
