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
	" *fill*         0x00000000000010b4        0x8 1f2003d5\n"
	"OUTPUT(prog elf64-x86-64)\nLOAD linker stubs\n";

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

/* ---- bytes of code: from maps of real links -------------------------------------------------- */

/* GNU ld 2.40, objects of clang 22 with a profile. */
static const char gnu_text[] = "Linker script and memory map\n\n"
			       " *(.rela.text .rela.text.* .rela.gnu.linkonce.t.*)\n"
			       " .rela.text.mixed\n"
			       "                0x00000000000005e0        0x0 Scrt1.o\n\n"
			       ".init           0x0000000000001000       0x17\n"
			       " .init          0x0000000000001000       0x12 crti.o\n\n"
			       ".text           0x0000000000001090      0x2c4\n"
			       " *(.text.unlikely .text.*_unlikely .text.unlikely.*)\n"
			       " .text.unlikely.\n"
			       "                0x0000000000001090      0x104 a.o\n"
			       "                0x0000000000001090                never\n"
			       " *fill*         0x0000000000001194        0xc \n"
			       " .text.unlikely.\n"
			       "                0x00000000000011a0        0x5 b.o\n"
			       "                0x00000000000011a0                other\n"
			       " *(.text.exit .text.exit.*)\n"
			       " *(.text.startup .text.startup.*)\n"
			       " *(.text.hot .text.hot.*)\n"
			       " *fill*         0x00000000000011a5        0xb \n"
			       " .text.hot      0x00000000000011b0       0x72 a.o\n"
			       "                0x00000000000011b0                hot\n"
			       " *(SORT_BY_NAME(.text.sorted.*))\n"
			       " *(.text .stub .text.* .gnu.linkonce.t.*)\n"
			       " *fill*         0x0000000000001222        0xe \n"
			       " .text          0x0000000000001230       0x22 Scrt1.o\n"
			       "                0x0000000000001230                _start\n"
			       " .text          0x0000000000001252        0x0 crti.o\n"
			       " *fill*         0x0000000000001252        0xe \n"
			       " .text          0x0000000000001260       0xb9 crtbeginS.o\n"
			       " *fill*         0x0000000000001319        0x3 \n"
			       " .text          0x000000000000131c        0x0 a.o\n"
			       " .text.split.hot\n"
			       "                0x000000000000131c       0x37 a.o\n"
			       " *fill*         0x0000000000001353        0x1 \n"
			       " .text          0x0000000000001354        0x0 b.o\n"
			       " *(.gnu.warning)\n\n"
			       ".fini           0x0000000000001354        0x9\n"
			       " *(SORT_NONE(.fini))\n"
			       " .fini          0x0000000000001354        0x4 crti.o\n";

/* gold 1.16, objects of GCC 12 with a profile and -ffunction-sections. */
static const char gold_text[] = "Memory map\n\n"
				".text           0x0000000000000760      0x495\n"
				" .text.exit.late\n"
				"                0x0000000000000760       0x15 ga.o\n"
				" .text.startup.early\n"
				"                0x0000000000000780       0x15 ga.o\n"
				" .text.startup.main\n"
				"                0x00000000000007a0       0xec ga.o\n"
				"                0x00000000000007a0                main\n"
				" .text.hot.constprop.0\n"
				"                0x0000000000000890       0x84 ga.o\n"
				" .text.hot      0x0000000000000920      0x133 ga.o\n"
				"                0x0000000000000920                hot\n"
				" .text          0x0000000000000a60       0x22 Scrt1.o\n"
				"                0x0000000000000a60                _start\n"
				" .text          0x0000000000000a82        0x0 crti.o\n"
				" ** fill        0x0000000000000a82        0xe\n"
				" .text          0x0000000000000a90       0xb9 crtbeginS.o\n"
				" .text          0x0000000000000b49        0x0 ga.o\n"
				" ** fill        0x0000000000000b49        0x7\n"
				" ** fill        0x0000000000000b50        0xc\n"
				" ** fill        0x0000000000000b5c        0xd\n"
				" .text.never    0x0000000000000b70       0x1d ga.o\n"
				"                0x0000000000000b70                never\n"
				" ** fill        0x0000000000000b8d        0x3\n"
				" .text.mixed    0x0000000000000b90       0x3c ga.o\n"
				" ** fill        0x0000000000000bcc        0x4\n"
				" .text.other    0x0000000000000bf0        0x5 gb.o\n\n"
				".fini           0x0000000000000bf8        0x9\n"
				" .fini          0x0000000000000bf8        0x4 crti.o\n";

/* lld 22 with -z keep-text-section-prefix: an output section for each class. */
static const char lld_text[] =
	"             VMA              LMA     Size Align Out     In      Symbol\n"
	"            1870             1870       ec    16 .text\n"
	"            1870             1870       22    16         Scrt1.o:(.text)\n"
	"            1870             1870       22     1                 _start\n"
	"            1892             1892        0     1         crti.o:(.text)\n"
	"            18a0             18a0       b9    16         crtbeginS.o:(.text)\n"
	"            195c             195c        0     4         a.o:(.text)\n"
	"            195c             195c       17     4 .init\n"
	"            195c             195c        9     4         crti.o:(.init)\n"
	"            1980             1980       72    16 .text.hot\n"
	"            1980             1980       72    16         a.o:(.text.hot)\n"
	"            1980             1980       72     1                 hot\n"
	"            19f2             19f2       37     1 .text.split\n"
	"            19f2             19f2       37     1         a.o:(.text.split.hot)\n"
	"            1a30             1a30      115    16 .text.unlikely\n"
	"            1a30             1a30      104    16         a.o:(.text.unlikely.)\n"
	"            1a30             1a30       1d     1                 never\n"
	"            1b40             1b40        5    16         b.o:(.text.unlikely.)\n";

/* mold 1.10. */
static const char mold_text[] =
	"               VMA       Size Align Out     In      Symbol\n"
	"            0x1860        693    16 .text\n"
	"            0x1860         34    16         Scrt1.o:(.text)\n"
	"            0x1860          0     0                 _start\n"
	"            0x1882          0     1         crti.o:(.text)\n"
	"            0x1890        185    16         crtbeginS.o:(.text)\n"
	"            0x194c          0     4         a.o:(.text)\n"
	"            0x1950        114    16         a.o:(.text.hot)\n"
	"            0x19c2         55     1         a.o:(.text.split.hot)\n"
	"            0x19c2          0     0                 hot.cold\n"
	"            0x1a00        260    16         a.o:(.text.unlikely.)\n"
	"            0x1b10          5    16         b.o:(.text.unlikely.)\n"
	"            0x2b18        480     8 .dynamic\n";

static void expect_text(const char *map, const struct text_bytes *want)
{
	struct map_inputs m = {0};

	assert_int_equal(linkmap_parse(map, &m, NULL), 0);
	for (size_t i = 0; i < TEXT_CLASSES; i++)
		if (m.text.v[i] != want->v[i])
			fail_msg("%s: %llu, not %llu", text_class_name((enum text_class)i),
				(unsigned long long)m.text.v[i], (unsigned long long)want->v[i]);
	map_inputs_release(&m);
}

/* hot, unlikely, split, startup, other, padding. The sum is what readelf says of the linked file.
 */
static void text(void **state)
{
	static const struct {
		const char *map;
		uint64_t size;
		struct text_bytes want;
	} maps[] = {
		{gnu_text, 0x2c4, {{114, 265, 55, 0, 219, 55}}},
		{gold_text, 0x495, {{439, 0, 0, 278, 313, 143}}},
		{lld_text, 0xec + 0x72 + 0x37 + 0x115, {{114, 265, 55, 0, 219, 29}}},
		{mold_text, 693, {{114, 265, 55, 0, 219, 40}}},
		{gnu_map, 0, {{0}}}, /* cut out: no output section */
	};

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		expect_text(maps[i].map, &maps[i].want);
		assert_int_equal(text_bytes_sum(&maps[i].want), maps[i].size);
	}
}

/* More in it than its size: nothing is said. */
static void text_contradicts(void **state)
{
	expect_text("Memory map\n\n.text  0x10  0x5\n .text.hot  0x10  0x6 a.o\n",
		&(struct text_bytes){0});
	expect_text("Memory map\n\n.text  0x10  0x6\n .text.hot  0x10  0x6 a.o\n",
		&(struct text_bytes){{6}});
}

static void classes(void **state)
{
	static const struct {
		const char *name;
		enum text_class class;
	} names[] = {{".text", TEXT_OTHER}, {".text.hot", TEXT_HOT}, {".text.hot.", TEXT_HOT},
		{".text.hot.f", TEXT_HOT}, {".text.hotter", TEXT_OTHER}, {".text.f", TEXT_OTHER},
		{".text.unlikely.f", TEXT_UNLIKELY}, {".text.unlikely_f", TEXT_OTHER},
		{".text.split.f", TEXT_SPLIT}, {".text.startup", TEXT_STARTUP},
		{".text.exit.f", TEXT_STARTUP}, {".text.unknown.", TEXT_OTHER}, {"", TEXT_OTHER}};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		assert_int_equal(
			text_class_of(names[i].name, strlen(names[i].name)), names[i].class);
}

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
	static const char *const maps[] = {
		gnu_map, gold_map, lld_map, mold_map, gnu_text, gold_text, lld_text, mold_text};

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
		cmocka_unit_test(prefixes), cmocka_unit_test(text),
		cmocka_unit_test(text_contradicts), cmocka_unit_test(classes),
		cmocka_unit_test(many)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
