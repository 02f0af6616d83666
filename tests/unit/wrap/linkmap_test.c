#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "wrap/linkmap.h"

static const char gnu_map[] =
	"Archive member included to satisfy reference by file (symbol)\n\n"
	"/s/libb.a(b.o)                a.o (b)\n"
	"/usr/lib/very/long/path/that/fills/the/line/libc_nonshared.a(atexit.oS)\n"
	"                              b.o (atexit)\n\n"
	"As-needed library included to satisfy reference by file (symbol)\n\n"
	"libc.so.6                     a.o (printf@@GLIBC_2.2.5)\n\n"
	"Discarded input sections\n\n"
	" .note.GNU-stack\n                0x0000000000000000        0x0 gone.o\n\n"
	"Memory Configuration\n\nName             Origin\n*default*        0x0000000000000000 "
	"0xffffffffffffffff\n\n"
	"Linker script and memory map\n\n"
	"LOAD /lib/Scrt1.o\nLOAD a.o\nLOAD /s/libb.a\nLOAD dir with space/c.o\nSTART GROUP\n"
	"LOAD /lib/libc.so.6\nEND GROUP\n"
	"                0x0000000000000318                . = SEGMENT_START\n"
	" .text          0x0000000000001060       0x3c a.o\n"
	"                0x0000000000001060                main\n"
	" .text.hot_function_with_a_long_name\n"
	"                0x00000000000010a0       0x11 /s/libw.a(whole.o)\n"
	" *fill*         0x000000000000109c        0x4 \n"
	"OUTPUT(prog elf64-x86-64)\n";

static const char lld_map[] =
	"             VMA              LMA     Size Align Out     In      Symbol\n"
	"             2e0              2e0       1c     1 .interp\n"
	"             2e0              2e0       1c     1         <internal>:(.interp)\n"
	"             2fc              2fc       20     4         /lib/Scrt1.o:(.note.ABI-tag)\n"
	"            1000             1000       20    16 .text\n"
	"            1000             1000       10    16         a.o:(.text)\n"
	"            1000             1000        0     1                 main\n"
	"            1010             1010       10    16         /s/libb.a(b.o):(.text.b)\n"
	"            1010             1010        0     1                 b\n"
	"            1020             1020        8     8         a.o:(.data.rel.ro.x)\n"
	"            2000             2000        0     1 . = ALIGN(0x1000)\n";

static const char gold_map[] =
	"Archive member included because of file (symbol)\n\n"
	"libcore.a(round.o)            main.o (sift_round)\n"
	"libcore.a(a_member_with_a_long_name.o)\n"
	"                              libcore.a(round.o) (sift_rare)\n\n"
	"Discarded input sections\n\n"
	" .note.GNU-stack\n                0x0000000000000000        0x0 gone.o\n\n"
	"Memory map\n\n"
	" .text          0x0000000000000700       0x39 main.o\n"
	"                0x0000000000000700                main\n"
	" .text          0x0000000000000740       0x8b libcore.a(round.o)\n"
	" .text.sift_rare\n"
	"                0x0000000000000840       0x23 libcore.a(a_member_with_a_long_name.o)\n";

static const char mold_map[] =
	"               VMA       Size Align Out     In      Symbol\n"
	"            0x2a8          28     1 .interp\n"
	"            0x2a8          28     1         <internal>:(.interp)\n"
	"           0x1000          16    16 .text\n"
	"           0x1000          16    16         a.o:(.text)\n"
	"           0x1000           0     0                 main\n"
	"           0x1010          16    16         libb.a(b.o):(.text.b)\n";

static void expect(const char *text, const char *linker, const char *const *names)
{
	struct error err = ERROR_INIT;
	struct map_inputs m = {0};
	size_t n = 0;

	assert_int_equal(linkmap_parse(text, &m, &err), 0);
	for (; names[n]; n++) {
		auto_free char *got = NULL;

		if (n >= m.n)
			fail_msg("'%s' is missing", names[n]);
		got = m.v[n].member ? xasprintf("%s(%s)", m.v[n].path, m.v[n].member)
				    : xstrdup(m.v[n].path);
		assert_string_equal(got, names[n]);
	}
	assert_int_equal(m.n, n);
	assert_string_equal(m.linker, linker);
	map_inputs_release(&m);
}

static void gnu(void **state)
{
	static const char *const names[] = {"/s/libb.a(b.o)",
		"/usr/lib/very/long/path/that/fills/the/line/libc_nonshared.a(atexit.oS)",
		"/lib/Scrt1.o", "a.o", "/s/libb.a", "dir with space/c.o", "/lib/libc.so.6",
		"/s/libw.a(whole.o)", NULL};

	expect(gnu_map, "GNU ld", names);
}

static void lld(void **state)
{
	static const char *const names[] = {"/lib/Scrt1.o", "a.o", "/s/libb.a(b.o)", NULL};

	expect(lld_map, "lld", names);
}

static void mold(void **state)
{
	static const char *const names[] = {"a.o", "libb.a(b.o)", NULL};

	expect(mold_map, "mold", names);
}

static void gold(void **state)
{
	static const char *const names[] = {
		"libcore.a(round.o)", "libcore.a(a_member_with_a_long_name.o)", "main.o", NULL};

	expect(gold_map, "gold", names);
}

static void rejects(void **state)
{
	static const char *const texts[] = {"", "\n", "hello\n", "VMA\n",
		"Archive member included to satisfy reference by file (symbol)\n\nlibb.a(b.o)\n"};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct error err = ERROR_INIT;
		struct map_inputs m = {0};

		assert_int_equal(linkmap_parse(texts[i], &m, &err), -1);
		assert_int_equal(err.code, ERR_CORRUPT);
		error_release(&err);
		map_inputs_release(&m);
	}
}

/* Any prefix of a map is read without harm. */
static void prefixes(void **state)
{
	static const char *const maps[] = {gnu_map, gold_map, lld_map, mold_map};

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		for (size_t n = 0; n < strlen(maps[i]); n++) {
			auto_free char *text = xstrndup(maps[i], n);
			struct map_inputs m = {0};

			(void)linkmap_parse(text, &m, NULL);
			map_inputs_release(&m);
		}
}

static void many(void **state)
{
	struct map_inputs m = {0};

	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 5000; i++) {
			char name[32];
			int n = snprintf(name, sizeof(name), "dir/%d.o", i);

			map_inputs_add(&m, name, (size_t)n, i % 2 ? "m" : NULL, 1);
		}
	assert_int_equal(m.n, 5000);
	assert_int_equal(map_inputs_find(&m, "dir/4999.o", "m"), 4999);
	assert_int_equal(map_inputs_find(&m, "dir/4999.o", NULL), -1);
	assert_int_equal(map_inputs_find(&m, "dir/5000.o", NULL), -1);
	map_inputs_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(gnu), cmocka_unit_test(lld),
		cmocka_unit_test(gold), cmocka_unit_test(mold), cmocka_unit_test(rejects),
		cmocka_unit_test(prefixes), cmocka_unit_test(many)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
