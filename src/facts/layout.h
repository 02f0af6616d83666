/* What a post-link optimiser (LLVM BOLT) was given, and what it did. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/json.h"
#include "base/strv.h"

/* A linked file, as it is before llvm-bolt is asked. */
struct layout_input {
	char *machine;                         /* "x86_64", "aarch64", … */
	char *build_id;                        /* hex; NULL: none */
	bool relocations;                      /* of its code, kept by the linker (--emit-relocs) */
	bool symbols;                          /* it has a symbol table */
	bool debug;                            /* and debug sections */
	bool bolted;                           /* it came out of llvm-bolt */
	bool instrumented;                     /* by llvm-bolt */
	bool is_static;                        /* it has no dynamic section */
	uint64_t bytes, text_bytes, functions; /* functions: with a size, in the symbol table */
	/* Functions of which the compiler put a part elsewhere (NAME.cold, NAME.part.N.cold):
	 * llvm-bolt leaves them as they are. Some of their names, sorted. */
	uint64_t split_functions;
	struct strv split_names;
	uint64_t memory_need; /* bytes, estimated */
	uint64_t memory_have; /* bytes that the process may use */
	char *memory_limit;   /* what sets that limit: "the memory that is free", "RLIMIT_AS", … */
};

/* A profile for layout: of all processes together. */
struct layout_profile {
	char *source;       /* "branches" (counted, or sampled by the processor), "samples" */
	char *binary;       /* build id, else SHA-256, of the file that it was made with; NULL */
	uint64_t files;     /* that were merged; 0: not by whet */
	uint64_t functions; /* with a count */
	uint64_t branches;  /* pairs of places (samples: places) with a count */
	uint64_t executed;  /* sum of the counts, capped */
	uint64_t unknown;   /* of the functions: names that the binary does not have */
};

/* One way in which the code that runs changed: executed instructions of a kind, by the profile, in
 * llvm-bolt's dynamic statistics (-dyno-stats). */
struct layout_change {
	char *what; /* "taken branches", as llvm-bolt says it */
	uint64_t before, after;
};

/* What llvm-bolt did, by its own log and by the file that it left. */
struct layout_result {
	char *tool;                      /* "llvm-bolt 22.1.8" */
	struct strv options;             /* as given, without names of files */
	uint64_t functions;              /* that it saw */
	uint64_t with_profile;           /* of these */
	uint64_t samples, stale_samples; /* counts in them, by llvm-bolt; 0, 0: nothing is stale */
	uint64_t stale;                  /* whose profile does not fit their code */
	uint64_t laid_out;               /* whose blocks it put into another order */
	uint64_t split;                  /* whose cold blocks it put elsewhere */
	uint64_t skipped;        /* left as they are because a part of them lies elsewhere */
	uint64_t not_understood; /* with a profile, and because their code could not be followed */
	uint64_t folded;         /* the same code as another one */
	uint64_t hot_bytes, cold_bytes;     /* of its new code sections */
	uint64_t bytes_before, bytes_after; /* of the file */
	uint64_t wall_ns, peak_memory;      /* peak_memory: bytes */
	struct layout_change *changes;
	size_t n_changes, cap_changes;
	struct strv warnings; /* lines of the log */
};

struct layout_facts {
	struct layout_input input;
	struct layout_profile profile;
	struct layout_result result;
};

void layout_input_release(struct layout_input *i);
void layout_profile_release(struct layout_profile *p);
void layout_result_release(struct layout_result *r);
void layout_facts_release(struct layout_facts *f);
int layout_facts_write(const struct layout_facts *f, const char *path, struct error *err);
int layout_facts_read(const char *path, struct layout_facts *ret, struct error *err);
json_t *layout_input_json(const struct layout_input *i);
json_t *layout_profile_json(const struct layout_profile *p);
json_t *layout_result_json(const struct layout_result *r);
