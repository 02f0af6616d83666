/* The facts of a clean build of a small program, for the gates' tests to damage. */
#pragma once

#include "gate/gate.h"

struct fixture {
	struct plan_gates bounds;
	struct build_facts plain, instrumented, optimised;
	struct training_facts training, replay;
	struct profile_facts profile;
	struct provenance provenance;
	struct elf_facts final;
	/* Three functions, of which one has landing pads and was split. */
	struct unwind_facts unwind, before;
	struct strip_facts strips;
	struct unwind_proof proof;
	struct comparisons bench;
	struct past_build last;
	struct gate_facts facts;
	struct verdicts verdicts;
};

void fixture_make(struct fixture *x);
void fixture_release(struct fixture *x);
/* Asks every gate at its moment. */
void fixture_judge(struct fixture *x);
/* The last verdict of a gate, or NULL. */
const struct verdict *fixture_verdict(const struct fixture *x, const char *gate);

struct compile_record *fixture_record(struct build_facts *b, const char *id);
struct object_fact *fixture_object(struct build_facts *b, const char *path);
struct compile_record *fixture_add_c(struct build_facts *b, const char *name);
struct object_fact *fixture_add_object(struct build_facts *b, const char *path,
	enum object_class class, const char *record, const char *functions);
void fixture_add_function(struct profile_facts *p, const char *key, uint64_t hash, uint64_t count);
void fixture_add_diag(
	struct build_facts *b, const char *record, enum diag_kind kind, const char *function);
/* In the order of variants, then scenarios. low NAN: too few launches. */
void fixture_add_gain(struct comparisons *c, const char *scenario, const char *variant,
	double ratio, double low, double high);
struct process_evidence *fixture_add_process(struct training_facts *t, pid_t pid);
void set_text(char **to, const char *text); /* frees the old one */

/* Faults of unwind and of strip-safe. */
void cold_part_without_frame(struct fixture *x);
void strip_moved_segment(struct fixture *x);

void test_final_cases(void **state);
void test_kinds_of_counters(void **state);
void test_part_names(void **state);
void test_docs_and_table_agree(void **state);
void test_bounds(void **state);
void test_other_linker(void **state);
void test_exceptions(void **state);
void test_many_lines(void **state);
void test_skipped_with_given_profile(void **state);
void test_worse_outcomes(void **state);
void test_worse_skips(void **state);

/* Faults of an order of functions. */
void fixture_order_passed_over(struct fixture *x);
void fixture_no_order(struct fixture *x);
void fixture_functions_not_there(struct fixture *x);
