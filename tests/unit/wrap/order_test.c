/* Orders of functions: clusters, what each linker is told, and the proof. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "wrap/order.h"

static struct elf_function functions[] = {
	{"cold", 0x1000, 100},
	{"leaf.llvm.77", 0x1100, 100},
	{"main", 0x1200, 100},
	{"other", 0x1300, 400},
	{"other.cold", 0x1500, 40},
};
static struct elf_call calls[] = {{2, 1, 1}, {3, 1, 2}};
static struct elf_calls linked = {.v = functions, .n = 5, .calls = calls, .n_calls = 2};

static struct order_weights make_weights(void)
{
	struct order_weights w = {0};

	order_weights_add(&w, "main", 1000);
	order_weights_add(&w, "src/a.c;leaf", 30);
	order_weights_add(&w, "src/b.c;leaf", 20);
	order_weights_add(&w, "other", 10);
	order_weights_add(&w, "never", 0);
	order_weights_sort(&w);
	return w;
}

static void test_order(void **state)
{
	struct order_weights w = make_weights();
	uint32_t order[5];

	assert_int_equal(w.n, 3);
	assert_true(order_weight_of(&w, "leaf.llvm.77") > 49 && order_weight_of(&w, "leaf") < 51);
	assert_true(order_weight_of(&w, "other.cold") <= 0);
	/* The callee stands behind the caller that runs most, though it is called there once. */
	assert_int_equal(order_functions(&linked, &w, order), 3);
	assert_int_equal(order[0], 2);
	assert_int_equal(order[1], 1);
	assert_int_equal(order[2], 3);
	order_weights_release(&w);
}

static void test_words(void **state)
{
	static const uint32_t order[] = {2, 3};
	static const char script[] =
		"using internal linker script:\n"
		"==================================================\n"
		"SECTIONS\n{\n  .text           :\n  {\n    *(.text .text.*)\n  }\n}\n"
		"\n==================================================\n";
	struct order_words o;
	struct error err = ERROR_INIT;

	assert_int_equal(order_for_linker("lld", "", &linked, order, 2, &o, &err), 0);
	assert_string_equal(buf_str(&o.content), "main\nother\n");
	order_name_file("lld", "/a,b", &o);
	assert_string_equal(o.words.v[0], "-Xlinker");
	assert_string_equal(o.words.v[1], "--symbol-ordering-file=/a,b");
	order_words_release(&o);
	assert_int_equal(order_for_linker("GNU ld", script, &linked, order, 2, &o, &err), 0);
	assert_non_null(strstr(buf_str(&o.content),
		"  {\n    *(.text.hot.main) *(.text.main) *(.text.startup.main) "
		"*(.text.unlikely.main)\n    *(.text.hot.other) *(.text.other) "
		"*(.text.startup.other)\n    *(.text .text.*)\n"));
	order_words_release(&o);
	assert_int_equal(order_for_linker("GNU ld", "no script", &linked, order, 2, &o, &err), -1);
	error_release(&err);
	assert_int_equal(order_for_linker("mold", "", &linked, order, 2, &o, &err), -1);
	assert_non_null(strstr(err.msg, "mold has no option"));
	error_release(&err);
}

/* The proof against this very program. */
static void test_check(void **state)
{
	char list[] = "/tmp/order-test-XXXXXX";
	struct elf_calls c;
	struct function_order o = {0};
	auto_buf struct buf names = BUF_INIT;
	int fd = mkstemp(list);

	assert_true(fd >= 0);
	assert_int_equal(elf_calls_read("/proc/self/exe", &c, NULL), 0);
	assert_true(c.n > 3);
	for (size_t i = c.n; i > 0; i--)
		buf_addf(&names, "%s\n", c.v[i - 1].name);
	buf_adds(&names, "no_such_function\n");
	assert_int_equal(file_write_all(fd, names.p, names.n), 0);
	o.file = xstrdup(list);
	assert_int_equal(order_check("/proc/self/exe", &o, NULL), 0);
	assert_int_equal(o.listed, c.n + 1);
	/* All stand the other way round. */
	assert_int_equal(o.placed, 1);
	assert_true(strv_has(&o.missing, "no_such_function"));
	elf_calls_release(&c);
	function_order_release(&o);
	(void)remove(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_check),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
