/* Private to src/ledger. */
#pragma once

#include <sqlite3.h>
#include <stdint.h>

#include "ledger/ledger.h"

struct db {
	sqlite3 *p; /* NULL: not open */
	const char *path;
};

enum db_use { DB_READ, DB_WRITE };

/* Opens the file and begins a transaction in which it is known to be whole and of this schema. For
 * writing, the tables are made where there are none; for reading, *empty says that there are none.
 */
int db_open(
	const struct ledger *l, enum db_use use, struct db *ret, bool *empty, struct error *err);
int db_commit(struct db *d, struct error *err);
void db_close(struct db *d); /* what was not committed is undone */
#define auto_db __attribute__((cleanup(db_close)))

/* The error of the last call on it, with what helps. */
int db_error(const struct db *d, struct error *err);
/* ERR_CORRUPT: the content is none that whet writes. */
int db_damaged(const struct db *d, struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int db_prepare(const struct db *d, const char *sql, sqlite3_stmt **ret, struct error *err);
/* Runs a statement that gives no rows. types: a letter for each value that follows: t text (const
 * char *, NULL allowed), i int64_t, r double (NAN becomes NULL). */
int db_run(const struct db *d, struct error *err, const char *sql, const char *types, ...);
/* 1: a row, 0: the end, -1: error. */
int db_step(const struct db *d, sqlite3_stmt *s, struct error *err);

static inline void db_finalize(sqlite3_stmt **s)
{
	sqlite3_finalize(*s);
}
#define auto_stmt __attribute__((cleanup(db_finalize)))
