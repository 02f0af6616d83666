/* Programs of another machine under an emulator: how they are started, and by what they are known
 * again among the processes. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/strv.h"
#include "config/plan.h"
#include "config/target.h"

struct train_emulator {
	struct strv words; /* in front of the program; the first is an absolute path. Empty: none is
			    * used */
	char *name;        /* for the report: "qemu-aarch64 7.2.22" */
};
void train_emulator_release(struct train_emulator *e);

/* Whether the plan's programs run by an emulator: its `train.emulator`, or a target with another
 * processor. */
bool train_is_emulated(const struct plan *p, const struct target *t);
/* Finds the emulator of a plan: its own words, else qemu-user's for the target. Adds to missing
 * what is not there, with the package to install, and leaves *ret empty then. ERR_CHILD: it does
 * not run.
 */
int train_emulator_find(const struct plan *p, const struct target *t, const char *path_list,
	struct train_emulator *ret, struct buf *missing, struct error *err);
/* The same for given programs of the plan's target: *ret has no words when they run by themselves.
 * ERR_ENVIRONMENT when the emulator is not there. */
int train_emulator_need(const struct plan *p, struct train_emulator *ret, struct error *err);
/* Puts the files into folder: a program as a script of its name that runs it by the emulator, from
 * the folder "emulated" in it; anything else as it is, in both. Adds the paths in folder to ret. */
int train_emulator_place(const struct train_emulator *e, const struct strv *files,
	const char *folder, struct strv *ret, struct error *err);
/* The program itself behind a path that train_emulator_place() gave. Caller frees. */
char *train_emulated(const char *path);
/* Whether a process is the emulator with one of these programs (paths that train_emulator_place()
 * gave). e: NULL: none is used. */
bool train_emulates(const struct train_emulator *e, pid_t pid, const struct strv *binaries);
