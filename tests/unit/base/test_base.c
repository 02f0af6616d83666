#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <fcntl.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"

static void expect_tail(
	const char *path, const char *text, size_t n, size_t lines, const char *want)
{
	auto_free char *got = NULL;

	assert_int_equal(file_write_atomic(path, text, n, 0600, NULL), 0);
	got = file_tail(path, lines);
	assert_string_equal(got, want);
}

static void test_tail(void **state)
{
	char folder[] = "/tmp/whet-base-XXXXXX";
	auto_free char *path = NULL, *none = NULL;

	assert_non_null(mkdtemp(folder));
	path = path_join(folder, "log");
	none = file_tail(path, 2);
	assert_string_equal(none, "");
	expect_tail(path, "", 0, 2, "");
	expect_tail(path, "one", 3, 2, "one");
	expect_tail(path, "one\ntwo\n", 8, 2, "one\ntwo");
	expect_tail(path, "one\ntwo\nthree\n", 14, 2, "two\nthree");
	expect_tail(path, "one\ntwo\nthree", 13, 1, "three");
	expect_tail(path, "a\0b\n\n\n", 6, 2, "a?b");
	assert_int_equal(tree_remove(folder, NULL), 0);
}

/* A log of any size costs its last 16 KiB. */
static void test_tail_of_much(void **state)
{
	char folder[] = "/tmp/whet-base-XXXXXX";
	auto_free char *path = NULL, *one = NULL, *all = NULL;
	int fd;

	assert_non_null(mkdtemp(folder));
	path = path_join(folder, "log");
	assert_int_equal(file_write_atomic(path, "", 0, 0600, NULL), 0);
	assert_int_equal(truncate(path, (off_t)1 << 40), 0);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	assert_int_equal(write(fd, "\nthe end\n", 9), 9);
	close(fd);
	one = file_tail(path, 1);
	assert_string_equal(one, "the end");
	all = file_tail(path, 1000);
	assert_int_equal(strlen(all), 16384 - 1);
	assert_int_equal(tree_remove(folder, NULL), 0);
}

/* What is no regular file is written to, not replaced. */
static void test_write_to_stream(void **state)
{
	char folder[] = "/tmp/whet-base-XXXXXX", got[8] = {0};
	auto_free char *link = NULL, *pipe = NULL;
	struct stat st;
	int fd;

	assert_non_null(mkdtemp(folder));
	link = path_join(folder, "null");
	pipe = path_join(folder, "pipe");
	assert_int_equal(symlink("/dev/null", link), 0);
	assert_int_equal(file_write_atomic(link, "text", 4, 0600, NULL), 0);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(mkfifo(pipe, 0600), 0);
	fd = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	assert_int_equal(file_write_atomic(pipe, "text", 4, 0600, NULL), 0);
	assert_int_equal(read(fd, got, sizeof(got)), 4);
	assert_string_equal(got, "text");
	close(fd);
	assert_int_equal(tree_remove(folder, NULL), 0);
}

static void test_rusage(void **state)
{
	struct rusage ru = {.ru_utime = {2, 999999}, .ru_stime = {3, 2}};

	assert_true(clock_rusage_ns(&ru) == 6000001000);
}

static void test_json_u64(void **state)
{
	auto_json json_t *small = json_u64(7), *large = json_u64(UINT64_MAX);

	assert_true(json_integer_value(small) == 7);
	assert_true(json_integer_value(large) == INT64_MAX);
}

static void expect_replaced(const char *text, const char *want)
{
	auto_free char *got = path_replace(text, "/s/slot", "{slot}");

	assert_string_equal(got, want);
}

static void test_path_replace(void **state)
{
	expect_replaced("", "");
	expect_replaced("/s/slot", "{slot}");
	expect_replaced("/s/slot/a.c", "{slot}/a.c");
	expect_replaced("-I/s/slot/inc", "-I{slot}/inc");
	expect_replaced("-fmap=/s/slot=/s/slot/x:/s/slot", "-fmap={slot}={slot}/x:{slot}");
	expect_replaced("/s/slot-2/a", "/s/slot-2/a");
	expect_replaced("/s/slots /s/slot.old /s/slot2", "/s/slots /s/slot.old /s/slot2");
	expect_replaced("/s/slot\xc3\xa4/a", "/s/slot\xc3\xa4/a");
	expect_replaced("'/s/slot'", "'{slot}'");
}

static void test_utc_text(void **state)
{
	char text[CLOCK_TEXT];

	clock_utc_text(0, text);
	assert_string_equal(text, "1970-01-01T00:00:00Z");
	clock_utc_text(1764434722, text);
	assert_string_equal(text, "2025-11-29T16:45:22Z");
	clock_utc_text(UINT64_MAX, text); /* no such time: some text, or none */
	assert_true(strlen(text) < CLOCK_TEXT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tail),
		cmocka_unit_test(test_tail_of_much),
		cmocka_unit_test(test_write_to_stream),
		cmocka_unit_test(test_rusage),
		cmocka_unit_test(test_json_u64),
		cmocka_unit_test(test_path_replace),
		cmocka_unit_test(test_utc_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
