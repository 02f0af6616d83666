/* Tools by which further profile runtimes are made. Private to src/wrap. */
#pragma once

#include "base/error.h"
#include "base/strv.h"

/* Runs a compiler or tool past the shim; its words are in the error. */
int runtime_run(const struct strv *argv, struct error *err);
/* "objcopy", of another machine's files "aarch64-linux-gnu-objcopy", or LLVM's by any number.
 * cross: the machine's triple in GNU's form, or NULL. Caller frees. ERR_ENVIRONMENT with the
 * package. */
char *runtime_tool(const char *cross, const char *name, struct error *err);
/* Makes an archive with an index of one object. */
int runtime_archive(const char *cross, const char *object, const char *out, struct error *err);
