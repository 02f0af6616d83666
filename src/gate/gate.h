/* Gates: pure functions, facts in, verdict out. Meaning, default and remedy of each:
 * docs/gates.md. */
#pragma once

#include "config/plan.h"
#include "elf/elf_facts.h"
#include "facts/compile.h"
#include "facts/past.h"
#include "facts/profile_facts.h"
#include "facts/staleness.h"
#include "facts/stripped.h"
#include "facts/training.h"
#include "facts/unwinding.h"
#include "facts/verdict.h"

/* Everything a gate may look at. A pointer is NULL when that part of the build did not happen
 * (yet); each gate says which parts it needs and is called when they are there. */
struct gate_facts {
	const struct plan_gates *bounds;
	const struct build_facts *plain, *instrumented, *optimised;
	/* Of two rounds (context-sensitive PGO) `instrumented`, `training` and `profile` are those
	 * of the second once it has begun; first: the instrumented build of the first. NULL: not
	 * yet, or there is but one. */
	const struct build_facts *first;
	int round; /* which of them is judged: 1, 2; 0: there is but one, or the whole is judged */
	const struct training_facts *training, *replay;
	const struct profile_facts *profile;
	const char *variant;  /* which optimised build it is, as the comparison names it */
	bool ordered;         /* its functions were to be placed in an order */
	bool without_profile; /* it was made without one, to be compared */
	const struct provenance
		*provenance;         /* of a given profile; NULL with profile->given: it has none */
	const char *source_digest;   /* of the sources as this run found them at its start */
	const char *training_digest; /* of the plan's training part */
	const char *target;          /* triple of this build */
	const struct elf_facts *final_binaries; /* the files that ship */
	const char *const *final_names;
	size_t n_final;
	/* One per file that ships: before strip, of what it is held against, and what strip did.
	 * NULL: not read. */
	const struct unwind_facts *unwind, *unwind_before;
	const struct strip_facts *strips;
	/* `unwind_before` is of the same program before its layout; false: of the plain build. */
	bool laid_out;
	const struct unwind_proof *proof;
	const struct comparisons *bench; /* n is 0: nothing was measured */
	const char *machine;             /* on which it was measured */
	/* The last release in the history that was measured; NULL: there is none. */
	const struct past_build *last_release;
	const char *history_problem; /* why the history cannot be read; NULL */
};

/* How far a reused profile fits the optimised build: by what the compilers said of each function,
 * and its counts. ret->judged is false when the profile is none of those, or the builds differ. The
 * caller releases ret. */
void gate_staleness(const struct gate_facts *f, struct staleness *ret);

typedef void gate_fn(const struct gate_facts *f, struct verdicts *vs);

enum gate_moment {
	GATE_AFTER_TRAINING,
	GATE_AFTER_MERGE,
	GATE_AFTER_OPTIMISED,
	GATE_FINAL,
	GATE_AFTER_BENCH
};

struct gate {
	const char *name;
	enum gate_moment moment;
	enum gate_moment again; /* asked once more then; equal to moment: only once */
	gate_fn *fn;
	bool of_profile; /* there is nothing to ask of a build without a profile */
	/* One line each, for `whet explain`; docs/gates.md holds the same words. */
	const char *meaning, *default_bound, *remedy;
};

/* All gates in the order in which they are asked. */
extern const struct gate gates[];
extern const size_t n_gates;

/* Runs every gate of a moment. The second verdict of a gate that is asked again takes the place of
 * the first; when it is a failure it is added, and counts. Of two rounds the summary says which one
 * it judges. */
void gates_run(enum gate_moment moment, const struct gate_facts *f, struct verdicts *vs);
const struct gate *gate_find(const char *name);
