/* What of a folder counts as a source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "store/source.h"

static void put(const char *folder, const char *name, const char *text)
{
	auto_free char *path = path_join(folder, name);

	assert_int_equal(file_write_atomic(path, text, strlen(text), 0644, NULL), 0);
}

/* How many of the files are products of a build; the digest of the others. */
static size_t scan(const char *folder, const char *index, const char *include, char *digest)
{
	auto_strv struct strv globs = STRV_INIT;
	struct source_rules rules = {.include = &globs};
	struct source_tree t;
	size_t built;

	if (include)
		strv_add(&globs, include);
	assert_int_equal(source_scan(folder, &rules, index, &t, NULL), 0);
	assert_int_equal(t.n, 3);
	built = t.n_built;
	memcpy(digest, t.digest, sizeof(t.digest));
	source_tree_release(&t);
	return built;
}

/* An index, which an earlier scan by other rules wrote, changes nothing. */
static void test_include(void **state)
{
	char folder[] = "/tmp/whet-source-XXXXXX", index[] = "/tmp/whet-index-XXXXXX";
	char without[65], with[65], again[65];
	int fd = mkstemp(index);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_non_null(mkdtemp(folder));
	put(folder, "a.c", "int a;");
	put(folder, "lib.a", "!<arch>\nmember");
	put(folder, "old.o", "\177ELF, which an earlier build left");
	assert_int_equal(scan(folder, index, NULL, without), 2);
	assert_int_equal(scan(folder, index, "*.a", with), 1);
	assert_string_not_equal(with, without);
	assert_int_equal(scan(folder, NULL, "*.a", again), 1);
	assert_string_equal(again, with);
	assert_int_equal(scan(folder, index, "*.so", again), 2);
	assert_string_equal(again, without);
	put(folder, "old.o", "\177ELF, which another build left");
	assert_int_equal(scan(folder, index, "*.a", again), 1);
	assert_string_equal(again, with);
	put(folder, "lib.a", "!<arch>\nanother");
	assert_int_equal(scan(folder, index, "*.a", again), 1);
	assert_string_not_equal(again, with);
	assert_int_equal(tree_remove(folder, NULL), 0);
	assert_int_equal(unlink(index), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_include)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
