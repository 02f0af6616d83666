/* The compile log as a user reads it: every call of a compiler in every build node, and what the
 * released binaries are made of. docs/compile-log.md describes both forms. */
#pragma once

#include "base/buf.h"
#include "base/json.h"
#include "facts/compile.h"

struct compile_logs {
	char *slot;   /* where the builds happened; paths below it are written {slot}/… */
	char *source; /* the user's tree */
	char *copy;   /* its copy in the slot; NULL: built where it is */
	char *kept;   /* where the plain build's slot lies now; NULL: removed */
	struct build_facts *v;
	size_t n, cap;
};
void compile_logs_release(struct compile_logs *l);

void compile_logs_text(const struct compile_logs *l, struct buf *out);
json_t *compile_logs_json(const struct compile_logs *l);

/* A word of a command with the slot's path replaced by {slot}, wherever it stands. Caller frees. */
char *compile_log_word(const char *slot, const char *word);
