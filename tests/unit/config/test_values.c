/* Words, placeholders, numbers with units. */
#include "tests.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/plan.h"
#include "config/values.h"

static void splits(const char *text, const char *expected)
{
	auto_strv struct strv words = STRV_INIT;
	auto_free char *joined = NULL;

	assert_int_equal(plan_split(text, &words, NULL), 0);
	joined = strv_join(&words, "|");
	assert_string_equal(joined, expected);
}

void test_split(void **state)
{
	struct error err = ERROR_INIT;
	struct strv words = STRV_INIT;

	splits("", "");
	splits("  a\tb\nc  ", "a|b|c");
	splits("a 'b c' \"d e\"", "a|b c|d e");
	splits("a'b'\"c\"d", "abcd");
	splits("'' \"\"", "|");
	splits("a\\ b \\'c", "a b|'c");
	splits("'a\\n'", "a\\n");
	splits("\"a\\\"b\\\\c\\$d\\n\"", "a\"b\\c$d\\n");
	splits("$HOME *.c ~ #x", "$HOME|*.c|~|#x");
	splits("end\\", "end\\");
	assert_int_equal(plan_split("a 'b", &words, &err), -1);
	assert_string_equal(err.msg, "a quote in 'a 'b' does not end");
	assert_int_equal(plan_split("a \"b\\\"", &words, &err), -1);
	assert_int_equal(words.n, 0);
	error_release(&err);
}

static void expands(const char *text, const char *expected)
{
	auto_strv struct strv vars = STRV_INIT;
	auto_free char *out = NULL;

	strv_add(&vars, "port=80");
	strv_add(&vars, "port.admin=81");
	strv_add(&vars, "my-origin.url=http://x");
	strv_add(&vars, "loop={port}");
	strv_add(&vars, "empty=");
	assert_int_equal(plan_expand(text, &vars, &out, NULL), 0);
	assert_string_equal(out, expected);
}

void test_expand(void **state)
{
	struct error err = ERROR_INIT;
	struct strv vars = STRV_INIT;
	char *out = NULL;

	expands("", "");
	expands("-p {port}", "-p 80");
	expands("{port}{port.admin}{empty}", "8081");
	expands("{my-origin.url}/a", "http://x/a");
	expands("{loop}", "{port}"); /* values are not expanded again */
	expands("{{port}", "{port}");
	expands("{{{port}", "{80");
	expands("${port} {} {a,b} { x; } {\"a\":1} { port}",
		"${port} {} {a,b} { x; } {\"a\":1} { port}");
	expands("{port", "{port");
	strv_add(&vars, "port=80");
	strv_add(&vars, "work=/w");
	assert_int_equal(plan_expand("a {prot}", &vars, &out, &err), -1);
	assert_int_equal(err.code, ERR_CONFIG);
	assert_string_equal(err.msg, "in 'a {prot}': unknown placeholder '{prot}'; did you mean "
				     "'{port}'? Known here: {port}, "
				     "{work}; write '{{prot}' for a literal brace");
	assert_null(out);
	error_release(&err);
	strv_release(&vars);
}

void test_edit_distance(void **state)
{
	static const char *const words[] = {"requests", "reuse", "service"};

	assert_int_equal(edit_distance("", "abc"), 3);
	assert_int_equal(edit_distance("kitten", "sitting"), 3);
	assert_int_equal(edit_distance("requets", "requests"), 1);
	assert_int_equal(edit_distance("reqeusts", "requests"), 1); /* neighbours swapped */
	assert_int_equal(edit_distance("min_functions", "Min-Functions"), 0);
	assert_string_equal(nearest_word("reqest", words, 3), "requests");
	assert_string_equal(nearest_word("services", words, 3), "service");
	assert_null(nearest_word("colour", words, 3));
	assert_null(nearest_word("x", words, 0));
}

static bool duration(const char *text, uint64_t *ret)
{
	struct node n = {.kind = NODE_SCALAR, .plain = true, .text = (char *)text};
	struct problems ps = {0};
	bool ok = value_duration(&ps, &n, "x", 0, UINT64_MAX, ret);

	assert_int_equal(ps.n, !ok);
	problems_release(&ps);
	return ok;
}

static bool size(const char *text, uint64_t *ret)
{
	struct node n = {.kind = NODE_SCALAR, .plain = true, .text = (char *)text};
	struct problems ps = {0};
	bool ok = value_size(&ps, &n, "x", UINT64_MAX, ret);

	assert_int_equal(ps.n, !ok);
	problems_release(&ps);
	return ok;
}

void test_durations_and_sizes(void **state)
{
	uint64_t v = 42;

	assert_true(duration("300s", &v) && v == 300000000000);
	assert_true(duration("50ms", &v) && v == 50000000);
	assert_true(duration("7us", &v) && v == 7000);
	assert_true(duration("2m", &v) && v == 120000000000);
	assert_true(duration("2min", &v) && v == 120000000000);
	assert_true(duration("1h", &v) && v == 3600000000000);
	assert_true(duration("5 s", &v) && v == 5000000000);
	v = 42;
	assert_false(duration("5", &v));
	assert_false(duration("s", &v));
	assert_false(duration("", &v));
	assert_false(duration("5d", &v));
	assert_false(duration("-5s", &v));
	assert_false(duration("18446744073709551615h", &v));
	assert_false(duration("18446744073709551616us", &v));
	assert_int_equal(v, 42);
	assert_true(size("0", &v) && v == 0);
	assert_true(size("4096", &v) && v == 4096);
	assert_true(size("4KiB", &v) && v == 4096);
	assert_true(size("4kB", &v) && v == 4000);
	assert_true(size("1MiB", &v) && v == 1048576);
	assert_true(size("3GiB", &v) && v == 3221225472);
	assert_false(size("18446744073709551615GiB", &v));
	assert_false(size("4kb", &v));
	assert_false(size("x", &v));
}
