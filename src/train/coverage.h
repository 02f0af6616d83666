/* Coverage of a training: the counters of its processes are read between the phases, out of the
 * live ones by snapshot and from the profiles of those that have ended. What they grew by meanwhile
 * is what the phase executed. */
#pragma once

#include "facts/coverage.h"
#include "profile/profile.h"
#include "train/internal.h"

/* ---- coverage.c: reading ----------------------------------------------------------------------
 */

struct coverage;

/* By what o says. folder: for the snapshots, made and removed. */
struct coverage *coverage_new(const struct train_options *o, const char *folder, struct error *err);
/* Reads the counters now: what was counted since the last call is this part's. phase: its name, or
 * NULL. What keeps it from knowing is told by coverage_end(). */
void coverage_mark(struct coverage *c, struct session *s, enum coverage_part part,
	const char *setting, const char *phase);
/* The figures. */
void coverage_end(struct coverage *c, struct coverage_facts *ret);
void coverage_free(struct coverage *c); /* NULL is fine */

/* ---- coverage_table.c: who executed what ------------------------------------------------------
 */

struct coverage_table;

struct coverage_table *coverage_table_new(const char *sources);
void coverage_table_free(struct coverage_table *t);
/* All functions that there are, executed or not, with the number of their counters. */
void coverage_table_know(struct coverage_table *t, const struct profile *all);
/* One more part, in the order of time. Takes profile. */
void coverage_table_add(struct coverage_table *t, enum coverage_part part, const char *setting,
	const char *phase, struct profile *profile);
bool coverage_table_empty(const struct coverage_table *t); /* no function is known */
/* Fills ret: all but problem, notes and what is of files. */
void coverage_table_judge(struct coverage_table *t, struct coverage_facts *ret);

/* ---- demangle.c -------------------------------------------------------------------------------
 */

/* Sets source_name of the listed functions, as far as c++filt is there and knows their names. */
void coverage_demangle(struct coverage_facts *c);

/* ---- weigh.c ----------------------------------------------------------------------------------
 */

/* Sets weight and times of the parts. */
void weigh_parts(const struct plan_train *t, struct coverage_facts *c);
