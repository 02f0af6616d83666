#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/file.h"
#include "base/mem.h"
#include "fixture.h"

static char folder[] = "/tmp/test-ledger-XXXXXX";

/* A ledger that is not there yet. */
static struct ledger fresh(void)
{
	static char path[sizeof(folder) + 16];

	snprintf(path, sizeof(path), "%s/history.db", folder);
	unlink(path);
	return (struct ledger){path, PATIENCE_MS};
}

static int64_t add(const struct ledger *l, int n)
{
	struct error err = ERROR_INIT;
	struct past_build b;
	int64_t id = -1;

	build_make(&b, n);
	if (ledger_add(l, &b, &id, &err) < 0)
		print_error("%s\n", err.msg);
	error_release(&err);
	past_build_release(&b);
	return id;
}

static void sql(const struct ledger *l, const char *text)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(l->path, &db), SQLITE_OK);
	if (sqlite3_exec(db, text, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", text, sqlite3_errmsg(db));
	sqlite3_close(db);
}

/* Neither reading nor writing is possible, for one reason and with a remedy, and the file stays as
 * it is. */
static void refused(const struct ledger *l, enum error_code code, const char *text)
{
	auto_buf struct buf before = BUF_INIT, after = BUF_INIT;
	struct error err = ERROR_INIT;
	struct past_builds all = {0};
	struct past_build b;
	int64_t id = 17;

	assert_int_equal(file_read(l->path, 0, &before, NULL), 0);
	build_make(&b, 1);
	for (int i = 0; i < 2; i++) {
		int r = i ? ledger_read(l, &all, &err) : ledger_add(l, &b, &id, &err);

		assert_int_equal(r, -1);
		if (err.code != code || !strstr(err.msg, text) || !strstr(err.msg, l->path) ||
			!strstr(err.msg, "move the file away, and the next build"))
			fail_msg("%s: error %d: %s", i ? "read" : "add", err.code, err.msg);
		error_release(&err);
	}
	assert_int_equal(all.n, 0);
	assert_int_equal(id, 17);
	assert_int_equal(file_read(l->path, 0, &after, NULL), 0);
	assert_int_equal(before.n, after.n);
	assert_memory_equal(buf_str(&before), buf_str(&after), before.n);
	past_build_release(&b);
}

/* ---- what was noted comes back ---- */

static void test_round_trip(void **state)
{
	struct ledger l = fresh();
	auto_past_builds struct past_builds all = {0};
	struct past_build b, empty = {.project = (char *)"a",
				     .version = (char *)"2",
				     .target = (char *)"t",
				     .whet = (char *)"w",
				     .dirty = PAST_DIRTY_UNKNOWN};
	struct error err = ERROR_INIT;
	int64_t id = 0;

	assert_int_equal(ledger_read(&l, &all, &err), 0);
	assert_int_equal(all.n, 0);
	assert_false(path_exists(l.path)); /* reading makes nothing */
	build_make(&b, 5);
	assert_int_equal(ledger_add(&l, &b, &id, &err), 0);
	assert_int_equal(id, 1);
	assert_int_equal(ledger_add(&l, &empty, &id, &err), 0);
	assert_int_equal(id, 2);
	assert_int_equal(ledger_read(&l, &all, &err), 0);
	assert_int_equal(all.n, 2);
	b.id = 1;
	for (int i = 0; i < 2; i++) {
		auto_json json_t *want = past_build_json(i ? &empty : &b);
		auto_json json_t *got = past_build_json(&all.v[i]);

		if (i)
			json_object_set_new(want, "id", json_integer(2));
		if (!json_equal(want, got))
			fail_msg("wanted %s\ngot %s", json_dumps(want, JSON_SORT_KEYS),
				json_dumps(got, JSON_SORT_KEYS));
	}
	assert_true(all.v[0].finished_ns == 1790000005123456789ULL);
	assert_true(all.v[0].bench.v[1].by_launch[9] == b.bench.v[1].by_launch[9]);
	assert_true(all.v[0].bench.v[1].outlier[2] && !all.v[0].bench.v[1].outlier[3]);
	assert_null(all.v[0].bench.v[0].by_launch);
	assert_true(isnan(all.v[1].bench.drift));
	assert_true(comparisons_is_null(&all.v[0].bench, 2));
	assert_true(past_overall(&all.v[0].bench) == &all.v[0].bench.weighted[0]);
	assert_string_equal(past_scenario(&all.v[0].bench, "post", NULL)->variant, "pgo");
	assert_null(past_overall(&all.v[1].bench));
	assert_true(past_find(&all, 2) == &all.v[1]);
	assert_null(past_find(&all, 3));
	past_build_release(&b);
}

/* The layout is part of the product: others ask the file by SQL. */
static void test_by_sql(void **state)
{
	struct ledger l = fresh();
	sqlite3_stmt *s;
	sqlite3 *db;

	assert_int_equal(add(&l, 4), 1);
	assert_int_equal(sqlite3_open(l.path, &db), SQLITE_OK);
	assert_int_equal(
		sqlite3_prepare_v2(db,
			"SELECT version, dirty, scenario, ratio, low, p, launches, shown, share,"
			" (SELECT user_version FROM pragma_user_version),"
			" (SELECT application_id FROM pragma_application_id)"
			" FROM builds JOIN gains ON build = id WHERE variant = 'pgo' AND NOT "
			"null_arm"
			" ORDER BY place",
			-1, &s, NULL),
		SQLITE_OK);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	assert_string_equal((const char *)sqlite3_column_text(s, 0), "1.4");
	assert_int_equal(sqlite3_column_int(s, 1), 1);
	assert_string_equal((const char *)sqlite3_column_text(s, 2), "mix [log=on]");
	assert_true(sqlite3_column_double(s, 3) == 0.96);
	assert_true(sqlite3_column_double(s, 4) == 0.96 - 0.01);
	assert_true(sqlite3_column_double(s, 5) == 0.00390625);
	assert_int_equal(sqlite3_column_int(s, 6), 10);
	assert_string_equal((const char *)sqlite3_column_text(s, 7), "less");
	assert_true(sqlite3_column_double(s, 8) == 0.75);
	assert_int_equal(sqlite3_column_int(s, 9), 1);
	assert_int_equal(sqlite3_column_int(s, 10), 0x77686574);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	assert_int_equal(sqlite3_step(s), SQLITE_ROW);
	assert_int_equal(sqlite3_column_type(s, 2), SQLITE_NULL); /* all, by weight */
	assert_int_equal(sqlite3_column_type(s, 4), SQLITE_NULL); /* NAN */
	assert_int_equal(sqlite3_step(s), SQLITE_DONE);
	sqlite3_finalize(s);
	sqlite3_close(db);
}

/* ---- several processes ---- */

#define WRITERS 2
#define EACH 12

static void test_two_writers(void **state)
{
	struct ledger l = fresh();
	auto_past_builds struct past_builds all = {0};
	pid_t pids[WRITERS];
	int64_t count[WRITERS] = {0};

	for (int w = 0; w < WRITERS; w++) {
		pids[w] = fork();
		assert_true(pids[w] >= 0);
		if (pids[w] == 0) {
			int bad = 0;

			/* The first one makes the tables; nobody knows who that is. */
			for (int i = 0; i < EACH; i++)
				bad += add(&l, w * EACH + i) < 1;
			_exit(bad != 0);
		}
	}
	for (int i = 0; i < 20; i++) {
		struct past_builds some = {0};

		assert_int_equal(ledger_read(&l, &some, NULL), 0);
		past_builds_release(&some);
	}
	for (int w = 0; w < WRITERS; w++) {
		int status;

		assert_int_equal(waitpid(pids[w], &status, 0), pids[w]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(ledger_read(&l, &all, NULL), 0);
	assert_int_equal(all.n, WRITERS * EACH);
	for (size_t i = 0; i < all.n; i++) {
		int n = atoi(all.v[i].version + 2);

		assert_int_equal(all.v[i].id, (int64_t)i + 1);
		assert_int_equal(all.v[i].n_stages, 3);
		assert_int_equal(all.v[i].bench.n, 4);
		assert_true(all.v[i].bench.v[0].ratio == 1 - n / 100.0);
		count[n / EACH]++;
	}
	assert_int_equal(count[0], EACH);
	assert_int_equal(count[1], EACH);
}

static void test_busy(void **state)
{
	struct ledger l = fresh();
	struct error err = ERROR_INIT;
	struct past_builds all = {0};
	struct past_build b;
	sqlite3 *db;
	int64_t id;

	assert_int_equal(add(&l, 1), 1);
	l.patience_ms = 50;
	assert_int_equal(sqlite3_open(l.path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
	build_make(&b, 2);
	assert_int_equal(ledger_add(&l, &b, &id, &err), -1);
	assert_int_equal(err.code, ERR_ENVIRONMENT);
	assert_non_null(strstr(err.msg, "another process keeps the history"));
	error_release(&err);
	assert_int_equal(ledger_read(&l, &all, &err), -1);
	assert_int_equal(err.code, ERR_ENVIRONMENT);
	error_release(&err);
	sqlite3_close(db);
	assert_int_equal(ledger_add(&l, &b, &id, NULL), 0);
	assert_int_equal(id, 2);
	past_build_release(&b);
}

/* A writer that is killed in the middle leaves what was there before. */
static void test_killed(void **state)
{
	struct ledger l = fresh();
	auto_past_builds struct past_builds all = {0};
	int ready[2], status;
	pid_t pid;
	char c;

	assert_int_equal(add(&l, 1), 1);
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		sqlite3 *db;

		/* A cache of one page: what is changed goes to the file at once. */
		sqlite3_open(l.path, &db);
		sqlite3_exec(db,
			"PRAGMA cache_size = 1; BEGIN; UPDATE builds SET version = 'half';"
			"INSERT INTO stages SELECT 1, 100 + value, hex(randomblob(2000)), 1, 1, 0"
			" FROM (WITH RECURSIVE s(value) AS (SELECT 1 UNION ALL SELECT value + 1 "
			"FROM"
			" s WHERE value < 100) SELECT value FROM s)",
			NULL, NULL, NULL);
		(void)!write(ready[1], "x", 1);
		pause();
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	close(ready[0]);
	close(ready[1]);
	assert_int_equal(ledger_read(&l, &all, NULL), 0);
	assert_int_equal(all.n, 1);
	assert_string_equal(all.v[0].version, "1.1");
	assert_int_equal(all.v[0].n_stages, 3);
	assert_int_equal(add(&l, 2), 2);
}

/* ---- damage and strangers ---- */

static void test_damaged(void **state)
{
	struct ledger l = fresh();
	auto_buf struct buf whole = BUF_INIT, cut = BUF_INIT;

	for (int i = 0; i < 12; i++)
		assert_int_equal(add(&l, i), i + 1);
	assert_int_equal(file_read(l.path, 0, &whole, NULL), 0);

	/* no database at all */
	assert_int_equal(file_write_atomic(l.path, "not a database\n", 15, 0644, NULL), 0);
	refused(&l, ERR_CORRUPT, "file is not a database");
	/* cut off */
	assert_int_equal(file_write_atomic(l.path, whole.p, whole.n / 2, 0644, NULL), 0);
	refused(&l, ERR_CORRUPT, "is damaged (");
	/* a page in the middle is something else */
	buf_add(&cut, whole.p, whole.n);
	memset(cut.p + cut.n / 2 / 4096 * 4096, 0xa5, 4096);
	assert_int_equal(file_write_atomic(l.path, cut.p, cut.n, 0644, NULL), 0);
	refused(&l, ERR_CORRUPT, "is damaged (");
}

/* Whatever single byte is changed: read as it is, or refused; it never ends the process. */
static void test_flipped(void **state)
{
	struct ledger l = fresh();
	auto_buf struct buf whole = BUF_INIT;
	size_t refusals = 0;

	assert_int_equal(add(&l, 3), 1);
	assert_int_equal(file_read(l.path, 0, &whole, NULL), 0);
	for (size_t i = 0; i < whole.n; i += 499) {
		struct past_builds all = {0};
		struct error err = ERROR_INIT;

		whole.p[i] ^= 0x41;
		assert_int_equal(file_write_atomic(l.path, whole.p, whole.n, 0644, NULL), 0);
		if (ledger_read(&l, &all, &err) < 0) {
			assert_true(err.code == ERR_CORRUPT || err.code == ERR_MISMATCH ||
				    err.code == ERR_UNSUPPORTED || err.code == ERR_ENVIRONMENT);
			assert_non_null(err.msg);
			refusals++;
		}
		error_release(&err);
		past_builds_release(&all);
		whole.p[i] ^= 0x41;
	}
	assert_true(refusals > 5);
}

static void test_strangers(void **state)
{
	struct ledger l = fresh();

	sql(&l, "CREATE TABLE cookies (a, b)");
	refused(&l, ERR_MISMATCH, "is a database of another program");

	l = fresh();
	sql(&l, "PRAGMA application_id = 252006674; CREATE TABLE builds (id)");
	refused(&l, ERR_MISMATCH, "is a database of another program");

	l = fresh();
	assert_int_equal(add(&l, 1), 1);
	sql(&l, "PRAGMA user_version = 2");
	refused(&l, ERR_UNSUPPORTED,
		"was written by a newer whet (schema 2; this one knows 1): use that whet, or");

	l = fresh();
	assert_int_equal(add(&l, 1), 1);
	sql(&l, "CREATE TRIGGER t AFTER INSERT ON builds BEGIN DELETE FROM gains; END");
	refused(&l, ERR_CORRUPT, "triggers");

	l = fresh();
	assert_int_equal(add(&l, 1), 1);
	sql(&l, "DROP TABLE stages");
	refused(&l, ERR_CORRUPT, "no such table: stages");

	/* An empty file is a beginning. */
	l = fresh();
	assert_int_equal(file_write_atomic(l.path, "", 0, 0644, NULL), 0);
	assert_int_equal(add(&l, 1), 1);
}

/* Figures that no measurement gives are not printed. */
static void test_impossible_figures(void **state)
{
	static const char *const changes[] = {
		"UPDATE gains SET ratio = -1 WHERE place = 0",
		"UPDATE gains SET ratio = 9e999 WHERE place = 1",
		"UPDATE gains SET low = 0.99, high = 0.9 WHERE place = 0",
		"UPDATE gains SET low = NULL WHERE place = 0",
		"UPDATE gains SET shown = 'maybe' WHERE place = 0",
		"UPDATE gains SET unit = 'hour' WHERE place = 0",
		"UPDATE gains SET scenario = 'other' WHERE place = 2",
		"DELETE FROM gains WHERE place = 3",
		"DELETE FROM gains WHERE place = 5",
		"UPDATE builds SET ended_by = 'chance'",
		"DELETE FROM launches WHERE launch = 3 AND place = 1",
		"DELETE FROM launches WHERE launch = 9 AND place = 4",
		"UPDATE launches SET launch = 10 WHERE launch = 9 AND place = 1",
		"UPDATE gains SET launches = 11 WHERE place = 1",
		"INSERT INTO stages VALUES (9, 0, 'x', 1, 1, 0)",
	};

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		struct ledger l = fresh();
		struct past_builds all = {0};
		struct error err = ERROR_INIT;

		assert_int_equal(add(&l, 1), 1);
		sql(&l, changes[i]);
		if (ledger_read(&l, &all, &err) == 0)
			fail_msg("accepted: %s", changes[i]);
		assert_int_equal(err.code, ERR_CORRUPT);
		error_release(&err);
	}
}

/* ---- places that cannot be written ---- */

static void test_no_folder(void **state)
{
	auto_free char *path = xasprintf("%s/nowhere/history.db", folder);
	struct ledger l = {path, PATIENCE_MS}, f = {folder, PATIENCE_MS};
	struct error err = ERROR_INIT;
	struct past_builds all = {0};
	struct past_build b;
	int64_t id;

	build_make(&b, 1);
	assert_int_equal(ledger_add(&l, &b, &id, &err), -1);
	assert_int_equal(err.code, ERR_ENVIRONMENT);
	assert_non_null(strstr(err.msg, "cannot open the history"));
	error_release(&err);
	assert_int_equal(ledger_read(&l, &all, &err), 0);
	assert_int_equal(ledger_add(&f, &b, &id, &err), -1);
	assert_non_null(strstr(err.msg, "is no file"));
	error_release(&err);
	past_build_release(&b);
}

/* In a child, which has a small disk of its own: 0 as it should be, 77 not possible here. */
static int on_small_disk(void)
{
	auto_free char *path = xasprintf("%s/small/history.db", folder);
	auto_free char *disk = path_dirname(path);
	struct ledger l = {path, PATIENCE_MS};
	struct past_builds all = {0};
	struct error err = ERROR_INIT;
	struct past_build b;
	int64_t id = 0, last = 0;

	if (mkdir(disk, 0755) < 0 ||
		(unshare(CLONE_NEWNS) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) ||
		mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount("none", disk, "tmpfs", 0, "size=128k") < 0)
		return 77;
	build_make(&b, 1);
	for (int i = 0; i < 1000 && ledger_add(&l, &b, &id, &err) == 0; i++)
		last = id;
	past_build_release(&b);
	if (err.code != ERR_ENVIRONMENT || !strstr(err.msg, "the disk is full"))
		return 1;
	/* What was noted before is all there. */
	if (last < 2 || ledger_read(&l, &all, NULL) < 0 || (int64_t)all.n != last)
		return 2;
	return all.v[last - 1].bench.n == 4 ? 0 : 3;
}

static void test_full_disk(void **state)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(on_small_disk());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static int make_folder(void **state)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	return tree_remove(folder, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_by_sql),
		cmocka_unit_test(test_two_writers),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_impossible_figures),
		cmocka_unit_test(test_no_folder),
		cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
