/* Private to src/pipeline: the facts of the files that ship for the gates `unwind` and
 * `strip-safe`. */
#pragma once

#include <stddef.h>

#include "base/error.h"
#include "base/strv.h"
#include "facts/stripped.h"
#include "facts/unwinding.h"

struct run;
struct node_key;

/* One of each per binary of the plan. */
struct final {
	/* Set where the binaries were laid out: what they were before, in the order of the plan. */
	struct strv unlaid;
	struct unwind_facts *unwind, *before;
	struct strip_facts *strips;
	size_t n;
	struct unwind_proof proof;
};
void final_release(struct final *f);

/* What the binaries of the present track are held against: those before their layout, or the plain
 * ones. */
const struct strv *final_before(const struct run *r);
/* After both shipped. */
int final_read(struct run *r, struct error *err);
/* Runs the command of gates.unwind with the plain and with the shipped binaries; none: nothing. */
int final_prove(struct run *r, struct error *err);
/* What the proof depends on, beside the shipped binaries. */
void final_key(struct run *r, struct node_key *k);
/* Puts the proof into a node, and takes it from there. */
int final_keep(struct run *r, const char *node, struct error *err);
int final_recall(struct run *r, const char *node, struct error *err);
