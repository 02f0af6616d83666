/* The ledger: what is remembered of every build of a project that ended well, in one SQLite file.
 * Several processes may use it at once. docs/history.md. */
#pragma once

#include "base/error.h"
#include "facts/past.h"

struct ledger {
	const char *path;
	unsigned patience_ms; /* for another process that is writing */
};

#define LEDGER_PATIENCE_MS 10000

/* Notes a build, whole or not at all; makes the file when there is none. *ret_id: its number. */
int ledger_add(
	const struct ledger *l, const struct past_build *b, int64_t *ret_id, struct error *err);
/* All builds, the newest last; none when there is no file.
 *
 * Both: ERR_CORRUPT when the file is damaged, ERR_MISMATCH when it is a database of another
 * program, ERR_UNSUPPORTED when a newer whet wrote it, ERR_ENVIRONMENT when it cannot be used now
 * (busy, no rights, a full disk). Each message names file and remedy; the file stays as it is. */
int ledger_read(const struct ledger *l, struct past_builds *ret, struct error *err);
