/* The file: opened, judged, and what goes wrong with it told in words. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/mem.h"
#include "ledger/internal.h"

#define APPLICATION 0x77686574 /* "whet" */
#define SCHEMA 1
#define TEXT_MAX (1 << 20)

static const char begins_anew[] =
	"move the file away, and the next build that ends well begins a new history";

static const char tables[] =
	"CREATE TABLE builds (id INTEGER PRIMARY KEY AUTOINCREMENT, finished_ns INTEGER NOT NULL,"
	" started TEXT, project TEXT NOT NULL, version TEXT NOT NULL, target TEXT NOT NULL,"
	" whet TEXT NOT NULL, revision TEXT, dirty INTEGER, machine TEXT, source TEXT,"
	" training TEXT, profile TEXT, driver_busy REAL, warnings TEXT, drift REAL,"
	" drift_alarm TEXT, ended_by TEXT NOT NULL, until_resolved REAL, time_limit_ns INTEGER,"
	" bench_ns INTEGER) STRICT;"
	"CREATE TABLE tools (build INTEGER NOT NULL REFERENCES builds ON DELETE CASCADE,"
	" place INTEGER NOT NULL, name TEXT NOT NULL, version TEXT NOT NULL,"
	" PRIMARY KEY (build, place)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE artefacts (build INTEGER NOT NULL REFERENCES builds ON DELETE CASCADE,"
	" place INTEGER NOT NULL, name TEXT NOT NULL, variant TEXT NOT NULL,"
	" bytes INTEGER NOT NULL, sha256 TEXT NOT NULL,"
	" PRIMARY KEY (build, place)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE stages (build INTEGER NOT NULL REFERENCES builds ON DELETE CASCADE,"
	" place INTEGER NOT NULL, name TEXT NOT NULL, wall_ns INTEGER NOT NULL,"
	" cpu_ns INTEGER NOT NULL, reused INTEGER NOT NULL,"
	" PRIMARY KEY (build, place)) STRICT, WITHOUT ROWID;"
	/* scenario NULL: all of them by their shares. low, high and p NULL: too few launches. */
	"CREATE TABLE gains (build INTEGER NOT NULL REFERENCES builds ON DELETE CASCADE,"
	" place INTEGER NOT NULL, scenario TEXT, variant TEXT NOT NULL, base TEXT NOT NULL,"
	" unit TEXT NOT NULL, base_ns REAL, ratio REAL NOT NULL, low REAL, high REAL, p REAL,"
	" launches INTEGER NOT NULL, slices INTEGER NOT NULL, shown TEXT NOT NULL,"
	" null_arm INTEGER NOT NULL, share REAL, held_out INTEGER NOT NULL,"
	" better_launches INTEGER, better_slices INTEGER, outlier_slices INTEGER,"
	" more_launches INTEGER NOT NULL,"
	" PRIMARY KEY (build, place)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE launches (build INTEGER NOT NULL, place INTEGER NOT NULL,"
	" launch INTEGER NOT NULL, ratio REAL NOT NULL, outlier INTEGER NOT NULL,"
	" PRIMARY KEY (build, place, launch),"
	" FOREIGN KEY (build, place) REFERENCES gains ON DELETE CASCADE) STRICT, WITHOUT ROWID;";

/* ---- errors ---- */

int db_damaged(const struct db *d, struct error *err, const char *fmt, ...)
{
	auto_buf struct buf b = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	return error_set(err, ERR_CORRUPT, "the history '%s' is damaged (%s): %s", d->path,
		buf_str(&b), begins_anew);
}

static int system_error(const struct db *d, int code, struct error *err)
{
	int reason = d->p ? sqlite3_system_errno(d->p) : 0;

	return error_set(err, ERR_ENVIRONMENT, "cannot %s the history '%s': %s%s%s%s",
		code == SQLITE_CANTOPEN ? "open" : "read or write", d->path,
		d->p ? sqlite3_errmsg(d->p) : sqlite3_errstr(code), reason ? " (" : "",
		reason ? strerror(reason) : "", reason ? ")" : "");
}

int db_error(const struct db *d, struct error *err)
{
	int code = d->p ? sqlite3_errcode(d->p) : SQLITE_NOMEM;

	switch (code & 0xff) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_TOOBIG: /* a text longer than any that whet writes */
	case SQLITE_ERROR:  /* tables or columns that are not there */
		return db_damaged(d, err, "%s", sqlite3_errmsg(d->p));
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return error_set(err, ERR_ENVIRONMENT,
			"another process keeps the history '%s' in use: try again when it has "
			"ended",
			d->path);
	case SQLITE_FULL:
		return error_set(err, ERR_ENVIRONMENT,
			"no room for the history '%s': the disk is full; make room there", d->path);
	default:
		return system_error(d, code & 0xff, err);
	}
}

/* ---- statements ---- */

int db_prepare(const struct db *d, const char *sql, sqlite3_stmt **ret, struct error *err)
{
	return sqlite3_prepare_v2(d->p, sql, -1, ret, NULL) == SQLITE_OK ? 0 : db_error(d, err);
}

int db_step(const struct db *d, sqlite3_stmt *s, struct error *err)
{
	int r = sqlite3_step(s);

	return r == SQLITE_ROW ? 1 : r == SQLITE_DONE ? 0 : db_error(d, err);
}

static void bind(sqlite3_stmt *s, const char *types, va_list ap)
{
	for (int i = 1; types[i - 1]; i++) {
		if (types[i - 1] == 't')
			sqlite3_bind_text(s, i, va_arg(ap, const char *), -1, SQLITE_STATIC);
		else if (types[i - 1] == 'i')
			sqlite3_bind_int64(s, i, va_arg(ap, int64_t));
		else
			sqlite3_bind_double(s, i, va_arg(ap, double));
	}
}

int db_run(const struct db *d, struct error *err, const char *sql, const char *types, ...)
{
	auto_stmt sqlite3_stmt *s = NULL;
	va_list ap;

	if (db_prepare(d, sql, &s, err) < 0)
		return -1;
	va_start(ap, types);
	bind(s, types, ap);
	va_end(ap);
	return db_step(d, s, err) < 0 ? -1 : 0;
}

/* The number that a query gives. */
static int ask_number(const struct db *d, const char *sql, int64_t *ret, struct error *err)
{
	auto_stmt sqlite3_stmt *s = NULL;

	if (db_prepare(d, sql, &s, err) < 0 || db_step(d, s, err) < 0)
		return -1;
	*ret = sqlite3_column_int64(s, 0);
	return 0;
}

/* ---- what it is ---- */

static int check_whole(const struct db *d, struct error *err)
{
	auto_stmt sqlite3_stmt *s = NULL;
	const char *text;

	if (db_prepare(d, "PRAGMA quick_check(1)", &s, err) < 0)
		return -1;
	if (db_step(d, s, err) < 0)
		return -1;
	text = (const char *)sqlite3_column_text(s, 0);
	return text && strcmp(text, "ok") == 0
		       ? 0
		       : db_damaged(d, err, "%s", text ? text : "it cannot be checked");
}

static int check_owner(const struct db *d, bool *empty, struct error *err)
{
	int64_t application = 0, schema = 0, objects = 0, strange = 0;

	if (ask_number(d, "PRAGMA application_id", &application, err) < 0 ||
		ask_number(d, "PRAGMA user_version", &schema, err) < 0 ||
		ask_number(d, "SELECT count(*) FROM sqlite_schema", &objects, err) < 0 ||
		ask_number(d,
			"SELECT count(*) FROM sqlite_schema WHERE type IN ('trigger', 'view')",
			&strange, err) < 0)
		return -1;
	*empty = !application && !schema && !objects;
	if (*empty)
		return 0;
	if (application != APPLICATION)
		return error_set(err, ERR_MISMATCH,
			"'%s' is a database of another program, no history of whet: %s", d->path,
			begins_anew);
	if (schema > SCHEMA)
		return error_set(err, ERR_UNSUPPORTED,
			"the history '%s' was written by a newer whet (schema %lld; this one knows "
			"%d): use that whet, or %s",
			d->path, (long long)schema, SCHEMA, begins_anew);
	if (schema < 1 || strange)
		return db_damaged(d, err, strange ? "it holds triggers or views" : "schema %lld",
			(long long)schema);
	return check_whole(d, err);
}

static int make_tables(const struct db *d, struct error *err)
{
	auto_free char *mark = xasprintf(
		"PRAGMA application_id = %d; PRAGMA user_version = %d;", APPLICATION, SCHEMA);

	if (sqlite3_exec(d->p, tables, NULL, NULL, NULL) != SQLITE_OK ||
		sqlite3_exec(d->p, mark, NULL, NULL, NULL) != SQLITE_OK)
		return db_error(d, err);
	return 0;
}

/* ---- open and close ---- */

/* Nothing in the file is trusted to run. */
static void configure(sqlite3 *p, unsigned patience_ms)
{
	sqlite3_busy_timeout(p, (int)patience_ms);
	sqlite3_db_config(p, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(p, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(p, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL);
	sqlite3_limit(p, SQLITE_LIMIT_LENGTH, TEXT_MAX);
	sqlite3_limit(p, SQLITE_LIMIT_ATTACHED, 0);
}

static int check_file(const char *path, struct error *err)
{
	struct stat st;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return error_set(
			err, ERR_ENVIRONMENT, "the history '%s' is no file: %s", path, begins_anew);
	return 0;
}

int db_open(const struct ledger *l, enum db_use use, struct db *ret, bool *empty, struct error *err)
{
	int flags = SQLITE_OPEN_READWRITE | (use == DB_WRITE ? SQLITE_OPEN_CREATE : 0);
	auto_db struct db d = {.path = l->path};

	*empty = false;
	if (check_file(l->path, err) < 0)
		return -1;
	/* A file that may only be read is opened so. */
	if (sqlite3_open_v2(l->path, &d.p, flags | SQLITE_OPEN_EXRESCODE, NULL) != SQLITE_OK)
		return db_error(&d, err);
	configure(d.p, l->patience_ms);
	if (sqlite3_exec(d.p, use == DB_WRITE ? "BEGIN IMMEDIATE" : "BEGIN", NULL, NULL, NULL) !=
		SQLITE_OK)
		return db_error(&d, err);
	if (check_owner(&d, empty, err) < 0 ||
		(use == DB_WRITE && *empty && make_tables(&d, err) < 0))
		return -1;
	*ret = d;
	d.p = NULL;
	return 0;
}

int db_commit(struct db *d, struct error *err)
{
	return sqlite3_exec(d->p, "COMMIT", NULL, NULL, NULL) == SQLITE_OK ? 0 : db_error(d, err);
}

void db_close(struct db *d)
{
	sqlite3_close(d->p);
	d->p = NULL;
}
