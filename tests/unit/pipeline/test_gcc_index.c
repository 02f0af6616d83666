/* The index of a published archive of .gcda files: written, read, and refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "pipeline/gcc_profile.h"

static char folder[] = "/tmp/test-index-XXXXXX";

static int setup(void **state)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	return tree_remove(folder, NULL);
}

/* Golden: field by field what docs/formats/gcc.md tells. */
static const char golden[] =
	"{\"format\":\"whet gcc profile 1\",\"objects\":["
	"{\"file\":\"00001.gcda\",\"path\":\"/elsewhere/b.gcda\",\"functions\":[]},"
	"{\"file\":\"00002.gcda\",\"path\":\"{slot}/src/a.gcda\",\"functions\":["
	"{\"ident\":3965113107,\"name\":\"main\",\"source\":\"a.c\",\"line\":7},"
	"{\"ident\":5,\"name\":\"twice\",\"source\":\"a.c\",\"object\":\"{slot}/src/a\"},"
	"{\"ident\":4294967295}]}]}";

static int read_text(const char *text, struct gcc_index *x, struct error *err)
{
	auto_free char *path = path_join(folder, "index.json");

	assert_int_equal(file_write_atomic(path, text, strlen(text), 0644, NULL), 0);
	return gcc_index_read(path, x, err);
}

static void check_golden(const struct gcc_index *x)
{
	const struct gcc_indexed *b = &x->v[0], *a = &x->v[1];

	assert_int_equal(x->n, 2);
	assert_string_equal(a->file, "00002.gcda");
	assert_string_equal(a->path, "{slot}/src/a.gcda");
	assert_int_equal(a->n, 3);
	assert_int_equal(a->v[0].ident, 3965113107u);
	assert_string_equal(a->v[0].name, "main");
	assert_string_equal(a->v[0].source, "a.c");
	assert_null(a->v[0].object);
	assert_int_equal(a->v[0].line, 7);
	assert_string_equal(a->v[1].object, "{slot}/src/a");
	assert_int_equal(a->v[1].line, 0);
	assert_int_equal(a->v[2].ident, UINT32_MAX);
	assert_null(a->v[2].name);
	assert_null(a->v[2].source);
	assert_string_equal(b->path, "/elsewhere/b.gcda");
	assert_int_equal(b->n, 0);
}

static void test_golden(void **state)
{
	auto_free char *path = path_join(folder, "again.json");
	auto_buf struct buf first = BUF_INIT, second = BUF_INIT;
	struct gcc_index x = {0}, again = {0};
	struct error err = ERROR_INIT;

	if (read_text(golden, &x, &err) < 0)
		fail_msg("%s", err.msg);
	check_golden(&x);
	assert_int_equal(gcc_index_write(&x, path, NULL), 0);
	assert_int_equal(file_read(path, 0, &first, NULL), 0);
	assert_int_equal(gcc_index_read(path, &again, NULL), 0);
	check_golden(&again);
	assert_int_equal(gcc_index_write(&again, path, NULL), 0);
	assert_int_equal(file_read(path, 0, &second, NULL), 0);
	assert_int_equal(first.n, second.n);
	assert_memory_equal(first.p, second.p, first.n);
	gcc_index_release(&x);
	gcc_index_release(&again);
}

static void refuses(const char *text, const char *message)
{
	struct gcc_index x = {0};
	struct error err = ERROR_INIT;

	assert_int_equal(read_text(text, &x, &err), -1);
	assert_int_equal(err.code, ERR_CORRUPT);
	assert_non_null(err.msg);
	if (!strstr(err.msg, message))
		fail_msg("'%s' is not in: %s", message, err.msg);
	assert_int_equal(x.n, 0); /* nothing half read is handed out */
	error_release(&err);
}

#define ONE(file, path, functions)                                                                 \
	"{\"format\":\"whet gcc profile 1\",\"objects\":[{\"file\":" file ",\"path\":" path        \
	",\"functions\":" functions "}]}"

static void test_rejected(void **state)
{
	static const char *const outside[] = {"\"../a.gcda\"", "\"/a.gcda\"", "\".gcda\"",
		"\"sub/a.gcda\"", "\"..\"", "\"\"", "\"index.json\""};
	static const char *const leading_out[] = {
		"../../a.gcda", "a.gcda", "", "{slot}", "{slots}/a.gcda"};

	refuses("{}", "its format is not 'whet gcc profile 1'");
	refuses("{\"format\":\"whet gcc profile 2\"}", "its format is not 'whet gcc profile 1'");
	refuses("{\"format\":7}", "its format is not 'whet gcc profile 1'");
	refuses("{\"format\":\"whet gcc profile 1\"}", "'objects' is no list");
	refuses("{\"format\":\"whet gcc profile 1\",\"objects\":{}}", "'objects' is no list");
	refuses("{\"format\":\"whet gcc profile 1\",\"objects\":[5]}", "file");
	refuses(ONE("7", "\"a\"", "[]"), "file");
	refuses(ONE("\"a.gcda\"", "null", "[]"), "path");
	for (size_t i = 0; i < ARRAY_SIZE(outside); i++) {
		auto_free char *text = xasprintf("{\"format\":\"whet gcc profile 1\",\"objects\":["
						 "{\"file\":%s,\"path\":\"/a\",\"functions\":[]}]}",
			outside[i]);

		refuses(text, "is no name of a file in it");
	}
	for (size_t i = 0; i < ARRAY_SIZE(leading_out); i++) {
		auto_free char *text = xasprintf("{\"format\":\"whet gcc profile 1\",\"objects\":["
						 "{\"file\":\"a.gcda\",\"path\":\"%s\"}]}",
			leading_out[i]);

		refuses(text, "its path is not absolute");
	}
	refuses(ONE("\"a.gcda\"", "\"/p\"", "7"), "object '/p': 'functions' is no list");
	refuses(ONE("\"a.gcda\"", "\"/p\"", "[{}]"),
		"object '/p': a function's 'ident' or 'line' is missing or out of range");
	refuses(ONE("\"a.gcda\"", "\"/p\"", "[{\"ident\":-1}]"), "out of range");
	refuses(ONE("\"a.gcda\"", "\"/p\"", "[{\"ident\":4294967296}]"), "out of range");
	refuses(ONE("\"a.gcda\"", "\"/p\"", "[{\"ident\":\"5\"}]"), "out of range");
	refuses(ONE("\"a.gcda\"", "\"/p\"", "[{\"ident\":5,\"line\":-1}]"), "out of range");
	refuses(ONE("\"a.gcda\"", "\"/p\"", "[{\"ident\":5,\"object\":\"o\",\"name\":\"f\"}]"),
		"object '/p': a function lacks 'name' or 'source'");
	refuses(ONE("\"a.gcda\"", "\"/p\"", "[{\"ident\":5,\"source\":\"s\"}]"),
		"object '/p': a function lacks 'name' or 'source'");
}

#define TWO                                                                                        \
	"{\"format\":\"whet gcc profile 1\",\"objects\":["                                         \
	"{\"file\":\"1.gcda\",\"path\":\"%s\",\"functions\":[]},"                                  \
	"{\"file\":\"2.gcda\",\"path\":\"%s\",\"functions\":[]}]}"

/* One .gcda twice: the second would take the place of the first. */
static void test_order(void **state)
{
	auto_free char *twice = xasprintf(TWO, "/a", "/a");
	auto_free char *mixed = xasprintf(TWO, "/b", "/a");

	refuses(twice, "object '/a' stands in it twice, or out of order");
	refuses(mixed, "object '/a' stands in it twice, or out of order");
}

static void test_marks(void **state)
{
	static const struct {
		const char *path, *marked;
	} v[] = {{"/s/slot/src/a.c", "{slot}/src/a.c"}, {"/s/slot", "{slot}"},
		{"/s/slots/a.c", "/s/slots/a.c"}, {"a.c", "a.c"}, {"/s", "/s"},
		{"/s/slot/../slot/a", "{slot}/../slot/a"}};

	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		auto_free char *marked = gcc_mark(v[i].path, "/s/slot");
		auto_free char *back = gcc_unmark(marked, "/s/slot");
		auto_free char *other = gcc_unmark(marked, "/t");

		assert_string_equal(marked, v[i].marked);
		assert_string_equal(back, v[i].path);
		if (strncmp(marked, "{slot}", 6) == 0)
			assert_string_equal(other + 2, marked + 6);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_rejected),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_marks),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
