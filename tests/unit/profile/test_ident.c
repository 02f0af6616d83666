/* How gcc names functions: the numbers are gcc 12's, read from what it compiled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "gcc_fixture.h"
#include "profile/gcc/ident.h"

static void test_idents(void **state)
{
	assert_int_equal(gcc_ident("g"), 1445602320);
	assert_int_equal(gcc_ident("main"), 108032747);
	assert_int_equal(gcc_ident_local("sub/g.c", "loc", "../a/sub/h"), 1747195653);
	assert_int_not_equal(gcc_ident_local("/x/sub/g.c", "loc", "h"),
		gcc_ident_local("/y/sub/g.c", "loc", "h"));
}

static void test_lines(void **state)
{
	assert_int_equal(gcc_lines(1, "L/a.c", "g"), 0x4475619e);
	assert_int_equal(gcc_lines(2, "L/a.c", "g"), 0x9f62c909);
	assert_int_equal(gcc_line_of(0x4475619e, "L/a.c", "g"), 1);
	assert_int_equal(gcc_line_of(gcc_lines(4711, "a/very/long/path.cc", "_Z1fv"),
				 "a/very/long/path.cc", "_Z1fv"),
		4711);
	assert_true(gcc_line_of(gcc_lines(7, "src/lib/a.c", "g"), "src/lib/b.c", "g") > 1000000);
}

static void test_mangled(void **state)
{
	static const char *const pairs[][2] = {{"sub/h", "sub#h"}, {"./sub/./h", ".#sub#.#h"},
		{"src/../a/sub/h", "src#^#a#sub#h"}, {"/abs/x.gcda", "#abs#x.gcda"}, {"x..", "x.."},
		{"", ""}};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		auto_free char *made = gcc_mangled(pairs[i][0]);

		assert_string_equal(made, pairs[i][1]);
	}
}

/* Functions by the object's list, targets of indirect calls by that of the program; the rest stays.
 */
static void test_rename(void **state)
{
	auto_buf struct buf b = BUF_INIT, out = BUF_INIT;
	struct error err = ERROR_INIT;
	struct gcda *g, *again;
	struct gcc_rename own[2], all[2];
	uint32_t last;

	gcda_sample(&b, 12, false, 1);
	g = gcda_read(b.p, b.n, &err);
	assert_non_null(g);
	last = g->functions[g->n_functions - 1].ident;
	own[0] = (struct gcc_rename){.from = g->functions[0].ident, .to = 77, .lines = 99};
	own[1] = (struct gcc_rename){.from = 1, .to = 2};
	all[0] = (struct gcc_rename){.from = 0xfffffff0U, .to = 3};
	all[1] = (struct gcc_rename){.from = 5, .to = 6};
	gcc_renames_sort(own, 2);
	gcc_renames_sort(all, 2);
	gcda_rename(g, (struct gcc_renames){own, 2}, (struct gcc_renames){all, 2});
	assert_int_equal(gcda_write(g, &out, &err), 0);
	again = gcda_read(out.p, out.n, &err);
	assert_non_null(again);
	assert_int_equal(again->functions[0].ident, 77);
	assert_int_equal(again->functions[0].lineno_checksum, 99);
	assert_int_equal(again->functions[again->n_functions - 1].ident, last);
	assert_int_equal(again->n_functions, g->n_functions);
	gcda_free(g);
	gcda_free(again);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_idents),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_mangled),
		cmocka_unit_test(test_rename),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
