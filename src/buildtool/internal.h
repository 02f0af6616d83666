/* Shared by the files of this folder. */
#pragma once

#include "buildtool/buildtool.h"

/* What the steps of one build have in common. */
struct step_context {
	const struct plan_build *b;
	const struct build_place *place;
	struct strv vars; /* every placeholder's value */
	struct strv env;  /* of every step */
	struct build_steps *steps;
	struct error *err;
};

/* A new step at the end of the list with the common environment. */
struct build_step *add_step(struct step_context *x, const char *label, const char *cwd);
/* Adds the words with their placeholders replaced. */
int add_expanded(struct step_context *x, const struct strv *words, struct strv *ret);

/* For another machine: programs for its files; what configure, cmake and meson get beside args. */
void cross_environment(struct step_context *x);
void cross_configure(const struct step_context *x, const struct strv *args, struct strv *ret);
void cross_cmake(const struct step_context *x, const struct strv *args, struct strv *ret);
void cross_meson(const struct step_context *x, const struct strv *args, struct strv *ret);

/* The words of the cargo front end: "cargo build", "cargo zigbuild", "cross build". */
int cargo_front_end(const struct plan_build *b, struct strv *ret, struct error *err);
int cargo_steps(struct step_context *x);
