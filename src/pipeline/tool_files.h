/* Files that a build depends on without any compiler call naming them. Private to src/pipeline. */
#pragma once

#include "base/error.h"
#include "base/strv.h"

/* The programs that a compiler starts (assembler, linker, its passes) and the shared libraries that
 * it and they load; added to ret as absolute paths. What cannot be asked is left out; what
 * gave no answer (error_is_no_answer()) is the first of its kind in unanswered. */
void tool_files(const char *tool, struct strv *ret, struct error *unanswered);
/* The .pc files, there or not, that decided what pkg-config answered. log: as it wrote it by
 * PKG_CONFIG_LOG; env: what the plan sets for the build. */
void tool_packages(
	const char *log, const struct strv *env, struct strv *ret, struct error *unanswered);
