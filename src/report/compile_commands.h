/* compile_commands.json: https://clang.llvm.org/docs/JSONCompilationDatabase.html */
#pragma once

#include "base/error.h"
#include "report/compile_log.h"

/* The target's C and C++ compilations of the plain build, with the user's own paths. New reference;
 * NULL with an error when that build did not end well. */
json_t *compile_commands_json(const struct compile_logs *l, struct error *err);
