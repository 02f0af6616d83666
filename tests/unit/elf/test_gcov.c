/* What a program tells of gcc's counters, held against programs whose numbers are known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "elf/elf_gcov.h"

static const char *seeds;
static char folder[] = "/tmp/test-gcov-XXXXXX";

static int setup(void **state)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	return tree_remove(folder, NULL);
}

static void read_seed(const char *name, struct elf_gcov *ret)
{
	auto_free char *path = path_join(seeds, name);
	struct error err = ERROR_INIT;

	if (elf_gcov_read(path, ret, &err) < 0)
		fail_msg("%s", err.msg);
}

static void expect(const struct elf_gcov_function *f, const char *name, uint32_t ident,
	uint32_t lines, uint32_t cfg)
{
	assert_string_equal(f->name, name);
	assert_int_equal(f->ident, ident);
	assert_int_equal(f->lineno_checksum, lines);
	assert_int_equal(f->cfg_checksum, cfg);
}

/* By gcc 12 in /srv/demo: "-c a.c -o /srv/demo/sub/./a.o", "-c b.c -o sub/../b.o"; once for a fixed
 * address, once for any, where each pointer is a relocation. The numbers are those of the .gcno. */
static void test_golden(void **state)
{
	static const char *const files[] = {"gcc-12-gcov", "gcc-12-gcov.pie"};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct elf_gcov g = {0};

		read_seed(files[i], &g);
		assert_int_equal(g.n, 6);
		expect(&g.v[0], "__gcov_exit", 0x6995d2fb, 0xcdd83f16, 0xa43083b8);
		expect(&g.v[1], "__gcov_init", 0x3f731f01, 0xa6131554, 0xa43083b8);
		expect(&g.v[2], "_start", 0x6cd33434, 0xb9908e7e, 0x75317197);
		expect(&g.v[3], "work", 0x694ff199, 0x3c05ff58, 0xc0bbb23e);
		expect(&g.v[4], "twice", 0x54ca7a45, 0x03b8b9b4, 0xc27ce21c);
		expect(&g.v[5], "other", 0x5e04e2de, 0xe086ce8e, 0x154aaef7);
		assert_int_equal(g.objects.n, 2);
		assert_string_equal(g.objects.v[0], "/srv/demo/sub/../b.gcda");
		assert_string_equal(g.objects.v[1], "/srv/demo/sub/./a.gcda");
		elf_gcov_release(&g);
	}
}

static void test_several_files(void **state)
{
	struct elf_gcov g = {0};

	read_seed("gcc-12-gcov", &g);
	read_seed("gcc-12-gcov.pie", &g);
	assert_int_equal(g.n, 12);
	assert_string_equal(g.v[6].name, "__gcov_exit");
	assert_int_equal(g.objects.n, 2); /* the same ones */
	elf_gcov_release(&g);
}

static void test_without_counters(void **state)
{
	struct elf_gcov g = {0};

	read_seed("clang-14.so", &g);
	assert_int_equal(g.n, 0);
	assert_int_equal(g.objects.n, 0);
	elf_gcov_release(&g);
}

/* Writes the bytes and reads them; they must be refused with this text behind the path. */
static void refuses(const void *p, size_t n, enum error_code code, const char *text)
{
	auto_free char *path = path_join(folder, "bad");
	auto_free char *all = xasprintf("'%s': %s", path, text);
	struct elf_gcov g = {0};
	struct error err = ERROR_INIT;

	assert_int_equal(file_write_atomic(path, p, n, 0644, NULL), 0);
	assert_int_equal(elf_gcov_read(path, &g, &err), -1);
	assert_int_equal(err.code, code);
	assert_string_equal(err.msg, all);
	assert_int_equal(g.n, 0); /* as it was */
	assert_int_equal(g.objects.n, 0);
	error_release(&err);
	elf_gcov_release(&g);
}

static void seed_bytes(const char *name, struct buf *ret)
{
	auto_free char *path = path_join(seeds, name);

	assert_int_equal(file_read(path, 0, ret, NULL), 0);
}

static void test_other_machines(void **state)
{
	auto_buf struct buf b = BUF_INIT;

	refuses("#!/bin/sh\n", 10, ERR_CORRUPT, "not an ELF file");
	seed_bytes("gcc-12-gcov", &b);
	((uint8_t *)b.p)[EI_CLASS] = ELFCLASS32;
	refuses(b.p, b.n, ERR_UNSUPPORTED,
		"no 64-bit little-endian program: the counters of gcc are known in such ones "
		"alone");
}

/* The symbols of 2000 functions share one name of 60 kB: 120 MB of text in a file of 230 kB. */
enum { SYMBOLS = 2000, NAME = 60000 };
struct shared {
	Elf64_Ehdr head;
	Elf64_Shdr sections[4];
	Elf64_Sym symbols[SYMBOLS];
	uint64_t record[5];
	char names[NAME + 10];
};

static void lay(struct shared *f, int section, uint32_t type, const void *at, size_t n)
{
	f->sections[section] = (Elf64_Shdr){.sh_type = type,
		.sh_flags = type == SHT_PROGBITS ? SHF_ALLOC : 0,
		.sh_offset = (uint64_t)((const char *)at - (const char *)f),
		.sh_size = n,
		.sh_link = 3,
		.sh_entsize = type == SHT_SYMTAB ? sizeof(Elf64_Sym) : 0,
		.sh_addr = type == SHT_PROGBITS ? 0x1000 : 0};
}

static void test_shared_names(void **state)
{
	auto_free struct shared *f = xcalloc(1, sizeof(*f));

	f->head =
		(Elf64_Ehdr){.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			.e_type = ET_EXEC,
			.e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_ehsize = sizeof(f->head),
			.e_shoff = offsetof(struct shared, sections),
			.e_shentsize = sizeof(Elf64_Shdr),
			.e_shnum = ARRAY_SIZE(f->sections)};
	lay(f, 1, SHT_SYMTAB, f->symbols, sizeof(f->symbols));
	lay(f, 2, SHT_PROGBITS, f->record, sizeof(f->record));
	lay(f, 3, SHT_STRTAB, f->names, sizeof(f->names));
	memset(f->names, 'x', sizeof(f->names) - 1);
	memcpy(f->names, "\0__gcov_.", 9);
	for (size_t i = 0; i < SYMBOLS; i++)
		f->symbols[i] = (Elf64_Sym){.st_name = 1, .st_shndx = 2, .st_value = 0x1000};
	refuses(f, sizeof(*f), ERR_CORRUPT,
		"not a readable ELF file: the names in its counters' records take more than 4 "
		"times its size");
}

/* Every object's record is cut off, or its path has no end: the functions are told without it. */
static void test_no_path(void **state)
{
	auto_free char *path = path_join(folder, "cut");
	auto_buf struct buf b = BUF_INIT;
	struct elf_gcov g = {0};

	seed_bytes("gcc-12-gcov", &b);
	for (size_t i = 0; i + 6 < b.n; i++)
		if (memcmp(b.p + i, "/srv/d", 6) == 0)
			b.p[i] = 0;
	assert_int_equal(file_write_atomic(path, b.p, b.n, 0644, NULL), 0);
	assert_int_equal(elf_gcov_read(path, &g, NULL), 0);
	assert_int_equal(g.n, 6);
	assert_int_equal(g.objects.n, 0);
	elf_gcov_release(&g);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_several_files),
		cmocka_unit_test(test_without_counters),
		cmocka_unit_test(test_other_machines),
		cmocka_unit_test(test_shared_names),
		cmocka_unit_test(test_no_path),
	};

	if (argc != 2)
		return 2;
	seeds = argv[1];
	return cmocka_run_group_tests(tests, setup, teardown);
}
