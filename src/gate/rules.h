/* Shared by the gates: how a verdict is put together, and look-ups over the facts. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "gate/gate.h"

gate_fn gate_phases_complete, gate_raw_profiles_valid, gate_every_process_flushed;
gate_fn gate_min_functions, gate_max_missing, gate_stale, gate_same_identity, gate_same_flags;
gate_fn gate_function_order, gate_same_source, gate_profile_was_used, gate_profile_unchanged;
gate_fn gate_not_instrumented_any_more, gate_replay, gate_no_scenario_worse;
gate_fn gate_unwind, gate_strip_safe;

/* ---- verdicts ------------------------------------------------------------------------------ */

#define EVIDENCE_LINES 20

/* Lines of evidence; beyond the limit they are only counted. */
struct evidence {
	struct buf text;
	size_t lines;
};
#define EVIDENCE_INIT {BUF_INIT, 0}
void evidence_add(struct evidence *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void evidence_release(struct evidence *e);
#define auto_evidence __attribute__((cleanup(evidence_release)))

/* e may be NULL. */
void verdict_pass(struct verdicts *vs, const char *gate, struct evidence *e, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void verdict_fail(struct verdicts *vs, const char *gate, struct evidence *e, const char *remedy,
	const char *fmt, ...) __attribute__((format(printf, 5, 6)));
void verdict_skip(struct verdicts *vs, const char *gate, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- sets of texts that the facts own ------------------------------------------------------ */

struct text_set {
	const char **v;
	size_t n, cap;
	bool sorted;
};
void text_set_add(struct text_set *s, const char *text);
void text_set_seal(struct text_set *s);                        /* sorts and drops doubles */
bool text_set_has(const struct text_set *s, const char *text); /* s is sealed */
void text_set_release(struct text_set *s);
#define auto_text_set __attribute__((cleanup(text_set_release)))

/* ---- executed functions -------------------------------------------------------------------- */

struct executed_function {
	const char *name; /* linkage name, inside key */
	const char *key;
	const struct profile_function *of;
	size_t path_n;     /* bytes of key that are the path of a local function; 0: external */
	bool codegen_unit; /* local to one of rustc's units: diagnostics name all its copies alike
			    */
	uint64_t count;    /* its largest counter */
	bool single_block; /* its structural hash is that of a function without a branch */
	bool context;      /* a context-sensitive record */
	bool gcc;          /* counted by gcc's counters, in a program that has LLVM's, too */
};

struct executed {
	struct executed_function *v; /* sorted by name */
	size_t n;
};
/* The linkage name in a key. */
const char *executed_name(const char *key);
void executed_of(const struct profile_facts *p, struct executed *ret);
void executed_release(struct executed *e);
#define auto_executed __attribute__((cleanup(executed_release)))
/* The executed function that a symbol of an object made from source is; NULL when it was not
 * executed. source may be NULL (then the name decides). */
const struct executed_function *executed_find(
	const struct executed *e, const char *symbol, const char *source);

/* Whether a function of this name in a module of this source (NULL: any) is the one. */
bool executed_belongs(const struct executed_function *x, const char *source);

/* The functions that whet left out of what the compilers read, since their counts are all zero. */
struct left_out {
	struct left_out_function {
		const char *name; /* the key, and the linkage name where that is another */
		uint64_t hash;
	} *v; /* sorted */
	size_t n, cap;
	bool two; /* the profile has a second round */
};
void left_out_of(const struct profile_facts *p, struct left_out *ret);
void left_out_release(struct left_out *l);
#define auto_left_out __attribute__((cleanup(left_out_release)))
/* As a compiler names it that found no data; hash 0: it named none. */
bool left_out_has(const struct left_out *l, const char *name, uint64_t hash);

/* ---- records and objects ------------------------------------------------------------------- */

struct records {
	const struct compile_record **v;
	size_t n, cap;
};
void records_release(struct records *r);
#define auto_records __attribute__((cleanup(records_release)))
/* By id, for record_find(). */
void records_by_id(const struct compile_log *log, struct records *ret);
const struct compile_record *record_find(const struct records *by_id, const char *id);
/* The records that a released binary (NULL: any of them) was made of, its link included, each once.
 * Whatever else the build linked (other programs, tests of a configure script) is not among them.
 */
void records_reached(
	const struct build_facts *b, const struct binary_fact *binary, struct records *ret);
/* Crate or source and output, for messages. Caller frees. */
char *record_label(const struct compile_record *r);
/* "libx.a(y.o)" or the path. Caller frees. */
char *object_label(const struct object_fact *o);
const struct binary_fact *binary_named(const struct build_facts *b, const char *name);

/* ---- conditions that decide which gate owns a fault ------------------------------------------ */

/* The digests of the sources are not all there and equal (owner: same-source). */
bool sources_differ(const struct gate_facts *f);
/* A binary of which no executed function was compiled with data (owner: max-missing), or NULL.
 * *executed: how many of its functions were executed, *without: how many of those lack data. */
const struct binary_fact *binary_without_data(
	const struct gate_facts *f, size_t *executed, size_t *without);

/* The profile is not the one that its name promises (owner: profile-unchanged). */
bool profile_changed(const struct gate_facts *f);
/* The gate that owns a fault of which missing or stale data in the optimised build would only be a
 * consequence: same-source, profile-unchanged, same-flags or same-identity; NULL when there is
 * none. */
const char *earlier_fault(const struct gate_facts *f);

/* Which of the executed functions a binary's objects define. seen: one flag per executed function.
 * False when none of its objects lists any function. */
bool mark_executed(const struct executed *e, const struct binary_fact *b, bool *seen);
/* The functions of a binary for which its compilations reported no data. */
struct missing {
	struct text_set first, second; /* sealed; second: none for the counters of a second round */
	size_t left_out;               /* how many were left out for them, and are in neither */
};
/* binary NULL: of all of them. */
void missing_functions(const struct profile_facts *p, const struct build_facts *b,
	const struct binary_fact *binary, struct missing *ret);
void missing_release(struct missing *m);
#define auto_missing __attribute__((cleanup(missing_release)))
/* How many executed functions the second round gave, and how many of them lack data. */
size_t second_without_data(const struct gate_facts *f, size_t *executed);

/* Compilations of the optimised build against their counterparts in the other builds. */
struct pairs {
	size_t compared;
	size_t flags_differ, identity_differs;
	struct evidence flags, identity;
};
void pairs_compare(const struct gate_facts *f, struct pairs *ret);
void pairs_release(struct pairs *p);
#define auto_pairs __attribute__((cleanup(pairs_release)))

/* Judges phases of a training or a replay: adds a line for each that deviates and for what failed
 * beside them (t->failure); returns the number of phases. */
size_t phases_judge(const struct training_facts *t, struct evidence *e);
/* Requests asked for and answered as expected. */
void phases_count(const struct training_facts *t, uint64_t *planned, uint64_t *done);
/* A process that a signal ended before it left its profile (owner: every-process-flushed). */
const struct process_evidence *killed_process(const struct training_facts *t);
/* A full disk is the cause of most that goes wrong beside it. */
void note_disk(const struct training_facts *t, struct evidence *e);
/* A process's profile is due and no gate of files can judge it. */
bool process_lacks_profile(const struct training_facts *t, const struct process_evidence *p);
