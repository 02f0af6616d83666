/* Builds for another machine: which compilers, what is missing, and how its programs run here. */
#pragma once

#include "buildtool/buildtool.h"
#include "pipeline/run.h"

/* What the plan's target is: r->target, r->cross. */
void cross_open(struct run *r);
void cross_close(struct run *r);
/* Asks a compiler for the plan's target. folder: where it is asked; NULL: here. */
int cross_probe(struct run *r, const char *folder, const char *name, const char *path_list,
	struct compiler *ret, struct error *err);
/* Once the compilers are known: the emulator, and all that is missing in one error. Leaves the
 * comparison out when programs run by an emulator. */
int cross_check(struct run *r, struct error *err);
/* Copies of programs in folder as a training starts them: by themselves, or by the emulator. Adds
 * their paths to ret. */
int cross_place(struct run *r, const struct strv *files, const char *folder, struct strv *ret,
	struct error *err);
/* NULL when programs run by themselves. */
const struct train_emulator *cross_emulator(const struct run *r);

/* What the build tools are told; c: its texts belong to *own, *pkg_config. */
struct cross_tools {
	struct build_cross c;
	char *ar, *ranlib, *nm, *strip, *objcopy, *pkg_config;
};
void cross_tools_find(const struct run *r, const char *meson_file, struct cross_tools *ret);
void cross_tools_release(struct cross_tools *t);
/* A compiler as a build calls it: "clang-22 --target=aarch64-linux-gnu". Caller frees. */
char *cross_command(const struct run *r, const struct compiler *c);
/* ERR_CONFIG when a binary of the plain build is of another machine than the target. */
int cross_check_binary(const struct run *r, const char *path, struct error *err);
/* The C++ compiler as the build calls it; caller frees. */
char *cross_cxx_command(const struct run *r);
