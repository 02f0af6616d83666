/* One run of the pipeline: what the nodes share. Private to src/pipeline. */
#pragma once

#include "base/hash.h"
#include "base/json.h"
#include "config/plan.h"
#include "facts/compile.h"
#include "facts/coverage.h"
#include "facts/profile_facts.h"
#include "facts/training.h"
#include "facts/verdict.h"
#include "gate/gate.h"
#include "pipeline/final.h"
#include "layout/layout.h"
#include "pipeline/key.h"
#include "pipeline/pipeline.h"
#include "store/source.h"
#include "store/store.h"
#include "toolchain/toolchain.h"
#include "train/emulator.h"
#include "wrap/wrap.h"

/* What a build node gives. */
struct build_out {
	char *key, *folder; /* of the node */
	char *token;        /* names the build folder that is kept */
	struct build_facts facts;
	struct strv binaries; /* folder/bin/NAME, in the order of the plan */
	struct strv shipped;  /* the same as they ship (stripped), set by the check node */
	struct strv added;    /* the closed list of what whet added */
	json_t *outside;      /* what it read beside the sources: see outside.h */
	char *no_relinks;     /* why there are none although they were asked for; NULL */
};

#define RUN_COMPILERS_MAX 32
/* Below a train node: what each phase counted, when weights differ. */
#define TRAIN_PHASES "phases"
/* Beside the profile in a merge node. */
#define PROVENANCE_FILE "provenance.json"

/* What the first round of context-sensitive PGO gave, once the second has begun. */
struct round {
	struct build_out instrumented;
	char *train_key;
	struct training_facts training;
	struct coverage_facts coverage;
	bool has_coverage;
	char *published; /* its profile, which the second round adds to */
	struct profile_facts profile;
	char *profiles[RUN_COMPILERS_MAX];
};

/* One way to an optimised build: what is instrumented, trained, merged and optimised for it. With
 * two rounds all but `first` is of the one that runs, and in the end of the second. */
struct track {
	const struct plan_variant *variant; /* NULL: the plan's own */
	/* Whose are all things up to the profile: they are not released here; NULL: its own. */
	struct track *from;
	struct round first; /* empty while there is but one */
	bool second;        /* the second round has begun */
	struct build_out instrumented, optimised;
	char *train_key;
	struct training_facts training, replay;
	struct coverage_facts coverage; /* of the training; see has_coverage */
	bool has_coverage;
	char *published; /* the profile as published, in the store */
	/* That of the other kind of counters; NULL: the program has one kind. */
	char *published_beside;
	struct profile_facts profile;
	struct provenance provenance;
	bool has_provenance;
	/* For each compiler: the encoding that it reads, by content, in the store. NULL: before the
	 * merge, or for one that takes none. */
	char *profiles[RUN_COMPILERS_MAX];
	bool own_profiles; /* with `from`: the encodings are its own all the same */
	struct elf_facts *final_facts;
	const char **final_names;
	size_t n_final;
	struct final final;
	/* Of a variant that is laid out: the optimised build that it is made of, of another track
	 * or its own, `unlaid`. NULL: it is not. `optimised` is what came of it. */
	const struct build_out *base;
	struct build_out unlaid;
	struct track *base_of;        /* whose build that is; NULL: its own */
	struct layout_facts *layouts; /* of each binary */
	size_t n_layouts;
	char *layout_key; /* of the training for it */
	/* Of a variant alone: what its gates say; those of the plan's own are the report's. */
	struct verdicts verdicts;
	char *out; /* why it can be neither compared nor released; NULL: it can */
};

struct run {
	const struct pipeline_options *o;
	char *given; /* path of the profile in the place of training; NULL: train */
	/* That of the other kind of counters, published with it; NULL: there is none beside it. */
	char *given_beside;
	bool last_profile; /* it is that of the last trained build: --profile last */
	struct report *report;
	const char *stage;       /* title of the one that runs */
	char *stage_why;         /* why it runs, when that was asked */
	bool reused;             /* the stage that runs took its node from the store */
	uint64_t wrapper_cpu_ns; /* of the shims of the builds that ran */
	uint64_t driver_cpu_ns;  /* of the load driver in this run */
	bool reported;           /* the facts have been handed over to the report */
	struct plan plan;
	struct store store;
	struct strv skip;  /* folders inside the tree that are no sources (dist) */
	char *source_root; /* plan.root/build.dir */
	struct source_tree sources;
	char *commit; /* full id; NULL: no git */
	int dirty;    /* as in struct past_build */
	char *machine;
	char *version;
	uint64_t epoch;                 /* SOURCE_DATE_EPOCH */
	struct target target;           /* of the plan */
	bool cross;                     /* it is another machine: compilers must be told */
	struct train_emulator emulator; /* runs its programs; without words: they run themselves */
	struct compiler *compilers;
	size_t n_compilers;
	struct compiler *cc, *rustc; /* point into compilers; NULL: not used */
	/* Points into compilers: whose runtime of the other kind of counters the program gets
	 * beside that of the main compiler. NULL: it has one kind, or it is not known yet. */
	const struct compiler *beside;
	char *gcov;                     /* with that, the archive of gcc's runtime */
	char *rustc_wrapper;            /* of cargo's settings; NULL: none */
	char *zig;                      /* path, when the front end of cargo calls it; NULL */
	char *zig_cc;                   /* a program that is `zig cc`, beside the one that is c++ */
	struct strv bypassed;           /* launchers of which that was said */
	char *toolchain_id;             /* digest of the compilers' identities */
	char *lto_linker;               /* see toolchain_lto_linker(); NULL */
	char *hook;                     /* object of the fork hook */
	struct layout_tool layout_tool; /* lays out what is asked for */
	char *no_layout;                /* why `auto` cannot; NULL */
	const char *strip;              /* what strips the files that ship now; NULL: any */
	struct lld relinker;            /* makes the relinks; without path: none are made */
	char *no_relinks;               /* why there is none although it was asked for; NULL */
	struct wrap_runtime *runtimes; /* for the compilers whose counters are laid out otherwise */
	size_t n_runtimes;
	char *scratch; /* fresh folder that other users can traverse; removed at the end */
	struct build_out plain;
	struct track own; /* what the plan asks for */
	/* The plan's variants in their order. */
	struct track *variants;
	size_t n_variants;
	struct track *track;    /* the one that the nodes work on */
	struct track *chosen;   /* is released beside plain; NULL: none is, or none is chosen yet */
	json_t *tool_files;     /* of each compiler that was called, see tool_files.h */
	struct strv conditions; /* what the phases' `when:` commands say, see train_conditions() */
};

/* Adds the compilers that the plain build was seen to call beside the plan's own. */
int run_probe_beside(struct run *r, struct error *err);
/* Whether the compilers can do what the plan and its variants say of link-time optimisation and
 * processors; sets lto_linker. */
int run_probe_settings(struct run *r, struct error *err);
/* The one whose profile runtime the program gets. */
const struct compiler *run_main_compiler(const struct run *r);
/* kinds.c: the one whose runtime serves this kind of counters; NULL: the program has none. */
const struct compiler *run_main_of(const struct run *r, enum profile_kind kind);
/* Whether what this compiler makes has a profile. */
bool run_takes_part(const struct run *r, const struct compiler *c);
/* After the plain build: chooses r->beside, says what stays without a profile, and makes hook and
 * runtime of such a program. The calls of the plain build are classed by that. */
int run_choose_beside(struct run *r, struct error *err);
/* Where the track's profile of this kind is published; NULL: it has none. */
const char *run_published(const struct run *r, enum profile_kind kind);

/* given.c: finds what --profile names, and what was published beside it. */
int given_find(struct run *r, struct error *err);
/* The given file of this kind, or NULL. */
const char *given_of(const struct run *r, enum profile_kind kind);
/* Any C compiler. */
const struct compiler *run_hook_compiler(const struct run *r);
/* Sets the digest of all compilers. */
void run_identify_toolchain(struct run *r);

/* round.c: how many rounds the plan asks for; and the second begins. */
int round_count(const struct run *r);
void round_next(struct run *r);
void round_release(struct round *f);
/* The round that runs: 1 or 2; 0: there is but one. */
int round_number(const struct run *r);
/* Names the nodes of a training: the variant, and the round where it is the second. */
const char *round_variant(const struct run *r);
/* Whether the compilers have context-sensitive profiles. ERR_ENVIRONMENT. */
int round_check(const struct run *r, struct error *err);
/* After the plain build: whether a link keeps a cache that would mix up profiles. */
int round_check_links(const struct run *r, struct error *err);
/* order_counts.c: whether the optimised build of the track places functions in an order. */
bool run_is_ordered(const struct run *r);
/* Writes the counts of the functions in the track's profile, for wrap/order.h, into the scratch
 * folder, named by their content. *ret: path, caller frees; NULL: a build of this mode needs none.
 */
int run_order_counts(const struct run *r, enum toolchain_mode mode, char **ret, struct error *err);
/* How the profile of the track that the nodes work on is made and used. */
const struct plan_pgo *run_pgo(const struct run *r);

/* Nodes: each returns 0 or -1; ERR_GATE when one of its gates failed. */
int node_probe(struct run *r, struct error *err);
int node_build(struct run *r, enum toolchain_mode mode, struct error *err);
int node_train(struct run *r, struct error *err);
/* Adds what a training depends on beside the binaries: plan, environment, `when:` commands. */
int node_key_training(struct run *r, struct node_key *k, struct error *err);
int node_merge(struct run *r, struct error *err);
/* Encodes the profile of the track anew, which it has from another one. */
int node_encode(struct run *r, struct error *err);
/* What the sources' folder is in the keys of local functions, with a slash at its end; caller
 * frees. */
char *run_source_prefix(const struct run *r);
int node_gate(struct run *r, enum gate_moment moment, struct error *err);
/* profile-was-used, as far as one build alone can be judged: a binary without a recorded link, or
 * objects without a recorded compilation. */
int node_gate_no_link(struct run *r, const struct build_facts *f, const char *slot, const char *why,
	struct error *err);
/* The same for an instrumented build in which no binary was instrumented. */
int node_gate_nothing_instrumented(struct run *r, struct error *err);
int node_gate_objects(struct run *r, const struct build_facts *f, struct error *err);
/* same-source, for a source that changed before it was copied; err says which. */
int node_gate_copied(struct run *r, struct error *err);
/* same-source, for files outside the sources that the builds read. */
int node_gate_outside(struct run *r, struct error *err);
int node_check(struct run *r, struct error *err);
/* Builds, judges and checks each variant. One that fails is out; that stops nothing. */
int node_variants(struct run *r, struct error *err);
/* The same for those that are laid out: all others are there by then. */
int node_laid_out(struct run *r, struct error *err);
/* The name of a track's optimised build in reports. */
const char *run_variant_name(const struct track *t);
/* The path of a file or folder in the scratch folder that belongs to the track that the nodes work
 * on. Caller frees. */
char *run_track_scratch(const struct run *r, const char *name);
/* The failed ones, "gate: summary; …"; NULL: there are none. Caller frees. */
char *run_failed_gates(const struct verdicts *vs);
/* Takes a variant out for an error that is about it alone; passes others on. */
int run_rule_out(struct run *r, struct track *t, struct error *why, struct error *err);
/* Asks the gates of the comparison and chooses what is released: r->chosen. ERR_GATE: a gate is
 * against what the plan wants to release; the message holds what is proposed. */
int node_choose(struct run *r, struct error *err);
/* Where the verdicts of the track that the nodes work on go. */
struct verdicts *run_verdicts(struct run *r);
/* All builds that there are so far, in the order in which they were made: at most
 * RUN_BUILDS_MAX. Returns how many. */
#define RUN_BUILDS_MAX (4 + 3 * PLAN_VARIANTS_MAX)
size_t run_builds(const struct run *r, const struct build_out **ret);
/* Copies files as they ship (stripped, unless the plan says otherwise) into the folder `name` of
 * the scratch folder; adds their paths to ret. */
int run_ship(struct run *r, const char *name, const struct strv *files, struct strv *ret,
	struct error *err);
/* Finds the linker of the relinks that were asked for. None is no error: it is said. */
int node_relink_probe(struct run *r, struct error *err);
/* Relinks that a build of this mode makes of each binary. */
uint32_t node_relink_count(const struct run *r, enum toolchain_mode mode);
/* Takes those of a build that has just ended into its node; w: how it was wrapped. */
int node_relink_take(struct build_out *out, const struct wrap_node *w, struct error *err);
/* Whether the optimised build of this track is to be linked once more with relocations: it, or a
 * variant that differs in nothing else, is laid out. */
bool layout_wanted(const struct run *r);
/* Measures them against each other. */
int node_luck(struct run *r, struct error *err);
int node_bench(struct run *r, struct error *err);
int node_release(struct run *r, struct error *err);
/* Asked before the first compile: whether the dist folder holds nothing but an earlier release. */
int node_release_check(const struct run *r, struct error *err);

/* Reads plan and sources, opens the store. Starts nothing. */
int run_open(struct run *r, const struct pipeline_options *o, struct error *err);
void run_close(struct run *r);
/* Ends what is left of an interrupted run of this project, removes its scratch folder, and makes a
 * new one: r->scratch. Needs the lock. */
int run_begin(struct run *r, struct error *err);
/* The copy of the sources in the slot, or NULL when they are built where they are. Caller frees. */
char *run_source_copy(const struct run *r);
int run_scan(struct run *r, struct source_tree *ret, struct error *err);
/* The folder for artefacts, absolute; caller frees. */
char *run_dist(const struct run *r);
/* Adds the environment variables that a build may depend on. */
void run_build_environment(const struct run *r, struct strv *env, struct error *err);
/* Adds every variable that a build sees to a key, apart from those that describe the terminal or
 * session. */
void run_key_environment(struct node_key *k);
void run_key_compilers(const struct run *r, struct node_key *k);
/* The same as one digest. */
void run_hash_environment(struct sha256 *h);
/* Everything that the whole build depends on apart from the compilers. */
void run_top_key(const struct run *r, struct node_key *k);
/* Commit id of the source tree by its git folder, without starting git; NULL when there is none. */
char *run_read_commit(const char *root);

/* Adds what the load driver used in a training. */
void run_note_driver(struct run *r, const struct training_facts *t);
void build_out_release(struct build_out *b);
