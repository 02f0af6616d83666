/* Objects whose profile sections and symbols get names of their own: a small ELF object made here,
 * field by field, and damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "wrap/retag.h"

/* One table for sections and symbols, in which names are ends of others, as LLVM writes it. */
static const char names[] = "\0.rela__llvm_prf_data\0__llvm_prf_names\0"
			    ".rodata.__llvm_profile_raw_version\0__llvm_profile_filename\0"
			    "my__llvm_profile_of_rock\0__start___llvm_prf_cnts\0__llvm_orderfile\0"
			    "__llvm_profile_instrument_target";
static const char renamed[] =
	"\0.rela__wr08_prf_data\0__wr08_prf_names\0"
	".rodata.__wr08_profile_raw_version\0__wr08_profile_filename\0"
	"my__llvm_profile_of_rock\0__start___wr08_prf_cnts\0__llvm_orderfile\0"
	"__wr08_profile_instrument_target";

struct example {
	Elf64_Ehdr head;
	Elf64_Shdr sections[3];
	Elf64_Sym symbols[3];
	char text[8]; /* no table: stays */
	char names[sizeof(names)];
};

static uint32_t name_at(const char *name)
{
	return (uint32_t)((const char *)memmem(names, sizeof(names), name, strlen(name) + 1) -
			  names);
}

static struct example *make(void)
{
	struct example *x = xcalloc(1, sizeof(*x));

	memcpy(x->head.e_ident, ELFMAG, SELFMAG);
	x->head.e_ident[EI_CLASS] = ELFCLASS64;
	x->head.e_ident[EI_DATA] = ELFDATA2LSB;
	x->head.e_type = ET_REL;
	x->head.e_shoff = offsetof(struct example, sections);
	x->head.e_shentsize = sizeof(Elf64_Shdr);
	x->head.e_shnum = 3;
	x->sections[1] = (Elf64_Shdr){.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct example, names),
		.sh_size = sizeof(names)};
	x->sections[2] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
		.sh_link = 1,
		.sh_offset = offsetof(struct example, symbols),
		.sh_size = sizeof(x->symbols),
		.sh_entsize = sizeof(Elf64_Sym)};
	for (int i = 1; i < 3; i++)
		x->symbols[i] =
			(Elf64_Sym){.st_name = name_at(i == 1 ? "__llvm_profile_filename"
							      : "__llvm_profile_raw_version"),
				.st_info = ELF64_ST_INFO(STB_WEAK, STT_OBJECT),
				.st_shndx = 7,
				.st_value = 16,
				.st_size = 19};
	memcpy(x->text, "__llvm_p", 8);
	memcpy(x->names, names, sizeof(names));
	return x;
}

static void test_object(void **state)
{
	auto_free struct example *x = make();

	assert_int_equal(retag_bytes((uint8_t *)x, sizeof(*x), 8, false, NULL), 0);
	assert_memory_equal(x->names, renamed, sizeof(renamed));
	assert_memory_equal(x->text, "__llvm_p", 8);
	/* asked for, so that the linker loads the runtime that defines it */
	assert_int_equal(x->symbols[1].st_shndx, SHN_UNDEF);
	assert_int_equal(x->symbols[1].st_info, ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE));
	assert_int_equal(x->symbols[1].st_value, 0);
	assert_int_equal(x->symbols[1].st_size, 0);
	/* the object's own: it holds the kind of its counters */
	assert_int_equal(x->symbols[2].st_shndx, 7);
	/* a second time nothing is left to do */
	assert_int_equal(retag_bytes((uint8_t *)x, sizeof(*x), 8, false, NULL), 0);
	assert_memory_equal(x->names, renamed, sizeof(renamed));
}

static void test_runtime(void **state)
{
	auto_free struct example *x = make();

	assert_int_equal(retag_bytes((uint8_t *)x, sizeof(*x), 10, true, NULL), 0);
	assert_non_null(memmem(x->names, sizeof(names), "__wr10_profile_filename", 24));
	assert_int_equal(x->symbols[1].st_shndx, 7);
}

static void refused(struct example *x, size_t n, const char *msg)
{
	struct error err = ERROR_INIT;
	/* a copy of exact size, so that a sanitizer sees the first byte behind it */
	auto_free uint8_t *copy = xmalloc(n ? n : 1);

	memcpy(copy, x, n);
	assert_int_equal(retag_bytes(copy, n, 8, false, &err), -1);
	assert_string_equal(err.msg, msg);
	error_release(&err);
	free(x);
}

static void test_refused(void **state)
{
	static const char other[] = "is no relocatable object of a 64-bit little-endian machine";
	static const char outside[] = "its section headers lie outside of the file";
	struct example *x = make();

	refused(x, 0, "is no ELF object");
	refused(make(), sizeof(Elf64_Ehdr) - 1, "is no ELF object");
	x = make();
	memcpy(x, "BC\xc0\xde", 4);
	refused(x, sizeof(*x), "is no ELF object");
	x = make();
	x->head.e_ident[EI_CLASS] = ELFCLASS32;
	refused(x, sizeof(*x), other);
	x = make();
	x->head.e_ident[EI_DATA] = ELFDATA2MSB;
	refused(x, sizeof(*x), other);
	x = make();
	x->head.e_type = ET_DYN;
	refused(x, sizeof(*x), other);
	x = make();
	x->head.e_shoff = UINT64_MAX - 7;
	refused(x, sizeof(*x), outside);
	x = make();
	x->head.e_shoff++;
	refused(x, sizeof(*x), outside);
	refused(make(), sizeof(Elf64_Ehdr), outside);
}

/* What points outside of the file is passed over; a copy of exact size would show a read there. */
static void survives(struct example *x)
{
	auto_free uint8_t *copy = xmalloc(sizeof(*x));

	memcpy(copy, x, sizeof(*x));
	assert_int_equal(retag_bytes(copy, sizeof(*x), 8, false, NULL), 0);
	free(x);
}

static void test_damaged(void **state)
{
	struct example *x = make();

	x->head.e_shnum = 0xfff0;
	survives(x);
	x = make();
	x->head.e_shnum = 0;
	x->sections[0].sh_size = UINT64_MAX;
	survives(x);
	x = make();
	x->sections[1].sh_offset = UINT64_MAX;
	survives(x);
	x = make();
	x->sections[1].sh_size = UINT64_MAX - 100;
	survives(x);
	x = make();
	x->sections[2].sh_link = 99;
	survives(x);
	x = make();
	x->sections[2].sh_size = 1 << 20;
	survives(x);
	x = make();
	x->symbols[1].st_name = UINT32_MAX;
	survives(x);
	x = make();
	x->symbols[1].st_name = sizeof(names) - 3;
	survives(x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_object),
		cmocka_unit_test(test_runtime),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
