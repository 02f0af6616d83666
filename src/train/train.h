/* Training: services up, phases through, services down, evidence collected. */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "base/events.h"
#include "base/strv.h"
#include "config/plan.h"
#include "facts/coverage.h"
#include "facts/training.h"
#include "train/emulator.h"

struct profile;

/* For programs that know by themselves where to write what they counted (a post-link optimiser's
 * counters): told before each launch. It may be called in another process (train.private-network),
 * so what it learns belongs into files. launch: its name, unique in the training. */
struct train_aim {
	/* service: it is one; else a command of a phase. Its programs are started after this. */
	int (*before)(void *ctx, const char *launch, bool service, struct error *err);
	/* Of a service: its main process runs; and it is about to be stopped. */
	int (*started)(void *ctx, const char *launch, pid_t pid, struct error *err);
	int (*stopping)(void *ctx, const char *launch, struct error *err);
	void *ctx;
};

struct train_options {
	const struct plan *plan;
	const struct strv *binaries; /* absolute paths, in the order of plan.build.binary */
	/* Of another machine's programs: what the binaries, as train_emulator_place() gave them,
	 * run by; NULL: by themselves. */
	const struct train_emulator *emulator;
	const char *folder;   /* fresh folder that gets scratch/, logs/ and profiles/ */
	const char *profiles; /* folder for raw profiles: LAUNCH/PID.profraw; NULL: replay, none
				 expected */
	const char *self;     /* path of whet, for builtin services */
	const struct events *events;
	const char *node; /* name for progress events */
	/* Of each instrumented image: SHA-256 of its names section, and of those of its further
	 * profile runtimes, joined by '+'. A raw profile with another one is foreign, one that
	 * lacks the profile of one of its runtimes is invalid. Empty in a replay. */
	const struct strv *names_sha256;
	/* Of programs with counters of gcc, for each image that has some the paths of the .gcda
	 * that a process of it writes, absolute, without "." and "..", in byte order. A process
	 * leaves a folder with them. n_gcov 0: LLVM's programs. */
	const struct strv *gcov;
	size_t n_gcov;
	/* Of each of these, what names_sha256 has of the same image: a process of it leaves both.
	 * NULL, or an element is: it has no counters of LLVM. */
	const char *const *gcov_of;
	const char *only_phase; /* NULL: all */
	/* Of a replay: the training that it repeats; NULL: none. A service that did not end by
	 * itself there need not here. */
	const struct training_facts *training;
	/* With profiles: gets what each phase executed; NULL: the counters are not read between the
	 * phases. sources: what is left out in front of files' names; NULL. */
	struct coverage_facts *coverage;
	const char *sources;
	/* A folder for what each phase counted, coverage_phase.profile; NULL: it is not kept. */
	const char *phase_profiles;
	const struct train_aim *aim; /* in the place of profiles; NULL */
	/* The profiles are for the coverage alone: whether each process left one is not judged. */
	bool no_evidence;
};

/* Runs the training of the plan. Paths in the facts (raw_file.path, process_evidence.file) are
 * relative to the profiles folder: LAUNCH/PID.profraw, of gcc's programs the folder
 * LAUNCH/PID.gcov, which counts as one file. A launch is one start of a service ("edge"), or one
 * run of a phase's command ("sum-up", "sum-up#2"); it has a folder of its own only when it runs
 * {binary} or is the subject. Returns 0 when it ran to an end that can be judged, also when phases
 * failed (the facts say so); -1 when nothing can be said (ERR_ENVIRONMENT, ERR_INTERRUPTED, …). */
int train_run(const struct train_options *o, struct training_facts *ret, struct error *err);

/* What the phases' `when:` commands say now: NAME=yes or NAME=no; NAME=unknown where one asks for
 * what only a started service gives. Adds to ret. Leaves scratch/ and logs/ in folder. */
int train_conditions(const struct train_options *o, struct strv *ret, struct error *err);

/* Leaves nothing in the profiles folder; folder gets scratch/, logs/ and, on failure,
 * proof-profiles/. Starts the instrumented binary's services (or, for a batch program, the first
 * run phase) once and stops them: proof that a start and stop leave a valid profile. */
int train_prove(const struct train_options *o, struct error *err);

/* Reads the evidence in a launch's profile folder: the hook's list of processes and the files. Adds
 * to facts, sorted by launch and pid; what the list lacks is said in facts->failure. */
int train_collect(const char *profiles, const char *launch, const struct strv *names_sha256,
	struct training_facts *facts, struct error *err);

/* Whether the phases' weights differ, so that the profile is to follow them. */
bool train_is_weighted(const struct plan_train *t);
/* Adds to p, which holds all counts of the training, what the phases lack for their shares in it to
 * be as their weights (docs/whet-yaml.md). folder: the phases' profiles. ERR_ENVIRONMENT when what
 * the phases counted is not known. */
int train_weigh(struct profile *p, const struct plan_train *t, const struct coverage_facts *c,
	const char *folder, struct error *err);
