/* `whet profile` for GCC's .gcda files. Each returns 0, or -1 with err. */
#pragma once

#include "cli/opt.h"
#include "profile/compare.h"

/* Files of one object into the file out, or folders into the folder out. weighted: WEIGHT,FILE. */
int gcc_profile_merge(
	const struct strv *files, const struct strv *weighted, const char *out, struct error *err);
int gcc_profile_show(struct cli *cli, const struct strv *files, bool functions, struct error *err);
int gcc_profile_overlap(struct cli *cli, const char *a, const char *b, struct error *err);
/* Functions are named by the .gcno beside a file, or else by their ident. */
int gcc_profile_diff(const char *old, const char *new, double threshold, struct profile_diff *ret,
	struct error *err);
/* Checks every file, and against the .gcno beside it where there is one. */
int gcc_profile_validate(struct cli *cli, const struct strv *files, struct error *err);
