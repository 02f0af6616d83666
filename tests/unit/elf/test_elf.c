#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/proc.h"
#include "elf/elf_facts.h"
#include "elf/elf_profile.h"

static char folder[] = "/tmp/test-elf-XXXXXX";

static int setup(void **state)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	return tree_remove(folder, NULL);
}

static char *in_folder(const char *name)
{
	return path_join(folder, name);
}

/* Runs "cc WORDS" in the test folder; true when it succeeded. */
static bool compile(const char *cc, const char *words)
{
	auto_strv struct strv argv = STRV_INIT;
	struct proc_options o = PROC_OPTIONS_INIT;
	struct proc_exit e;

	strv_add(&argv, cc);
	strv_split_words(&argv, words);
	o.argv = &argv;
	o.cwd = folder;
	return proc_run(&o, 60 * 1000000000ULL, &e, NULL) == 0 && e.code == 0;
}

static void source(const char *name, const char *text)
{
	auto_free char *path = in_folder(name);

	assert_int_equal(file_write_atomic(path, text, strlen(text), 0644, NULL), 0);
}

static void object_code(const char *name, char hash[65], struct strv *functions)
{
	auto_free char *path = in_folder(name);
	auto_buf struct buf b = BUF_INIT;
	struct error err = ERROR_INIT;

	assert_int_equal(file_read(path, 0, &b, &err), 0);
	if (elf_object_code(b.p, b.n, hash, functions, &err) < 0)
		fail_msg("%s", err.msg);
}

static const char program[] =
	"#include <stdio.h>\n"
	"static __attribute__((noinline)) int twice(int x) { return puts(\"t\") + x; }\n"
	"int shown(int x) { return twice(x) + 1; }\n"
	"int main(void) { return shown(1); }\n";

static void test_object_functions(void **state)
{
	auto_strv struct strv functions = STRV_INIT;
	char hash[65];

	source("a.c", program);
	assert_true(compile(TEST_CC, "-O1 -c a.c -o a.o"));
	object_code("a.o", hash, &functions);
	assert_true(strv_has(&functions, "main"));
	assert_true(strv_has(&functions, "shown"));
	/* Local functions count as well, though the compiler may have cloned them under a suffix.
	 */
	assert_int_equal(functions.n >= 3, 1);
	assert_false(strv_has(&functions, "puts"));
	assert_int_equal(strlen(hash), 64);
}

static void test_equal_code_equal_hash(void **state)
{
	char a[65], again[65], debug[65], other[65], callee[65];

	source("a.c", program);
	assert_true(compile(TEST_CC, "-O1 -c a.c -o a.o"));
	assert_true(compile(TEST_CC, "-O1 -c a.c -o again.o"));
	assert_true(compile(TEST_CC, "-O1 -g -c a.c -o debug.o"));
	assert_true(compile(TEST_CC, "-O0 -c a.c -o other.o"));
	assert_true(
		compile(TEST_CC, "-O1 -Dputs=perror_like -Dperror_like=remove -c a.c -o callee.o"));
	object_code("a.o", a, NULL);
	object_code("again.o", again, NULL);
	object_code("debug.o", debug, NULL);
	object_code("other.o", other, NULL);
	object_code("callee.o", callee, NULL);
	assert_string_equal(a, again);
	assert_string_equal(a, debug);
	assert_string_not_equal(a, other);
	/* The bytes are the same; only the name of the function that is called differs. */
	assert_string_not_equal(a, callee);
}

static void test_object_without_code(void **state)
{
	char hash[65] = "untouched";

	source("data.c", "int table[4] = {1, 2, 3, 4};\n");
	assert_true(compile(TEST_CC, "-c data.c -o data.o"));
	object_code("data.o", hash, NULL);
	assert_string_equal(hash, "");
}

static void test_misaligned_object(void **state)
{
	auto_free char *path = in_folder("a.o");
	auto_buf struct buf b = BUF_INIT;
	char straight[65], shifted[65];

	source("a.c", program);
	assert_true(compile(TEST_CC, "-O1 -c a.c -o a.o"));
	object_code("a.o", straight, NULL);
	assert_int_equal(file_read(path, 0, &b, NULL), 0);
	for (int shift = 1; shift < 8; shift++) {
		auto_free char *copy = xmalloc(b.n + 8);

		memcpy(copy + shift, b.p, b.n);
		assert_int_equal(elf_object_code(copy + shift, b.n, shifted, NULL, NULL), 0);
		assert_string_equal(straight, shifted);
	}
}

static void test_linked_facts(void **state)
{
	auto_free char *path = in_folder("a");
	struct elf_facts f;
	char text[65];

	source("a.c", program);
	assert_true(compile(TEST_CC, "-O1 a.c -o a -Wl,--build-id=0x0123456789abcdef"));
	assert_int_equal(elf_facts_read(path, &f, NULL), 0);
	assert_true(f.executable);
	assert_false(f.relocatable);
	assert_int_equal(f.profile_marks.n, 0);
	assert_string_equal(f.build_id, "0123456789abcdef");
	assert_true(strv_has(&f.needed, "libc.so.6"));
	assert_non_null(f.glibc_floor);
	assert_int_equal(strncmp(f.glibc_floor, "2.", 2), 0);
	assert_null(f.names_sha256);
	assert_false(f.has_hook);
	assert_false(f.no_sections);
	elf_facts_release(&f);
	assert_int_equal(elf_text_hash(path, text, NULL), 0);
	assert_int_equal(strlen(text), 64);
}

static void expect_mark(const struct elf_facts *f, const char *mark)
{
	if (!strv_has(&f->profile_marks, mark)) {
		auto_free char *all = strv_join(&f->profile_marks, ", ");

		fail_msg("no mark '%s' among: %s", mark, all);
	}
}

static void test_instrumented_by_clang(void **state)
{
	auto_free char *clang = path_find_program("clang-22", getenv("PATH"), NULL);
	auto_free char *path = in_folder("i");
	auto_free char *stripped = in_folder("s");
	struct elf_facts f;

	source("a.c", program);
	if (!clang || !compile(clang, "-O1 -fprofile-generate a.c -o i"))
		skip();
	assert_int_equal(elf_facts_read(path, &f, NULL), 0);
	expect_mark(&f, "section __llvm_prf_cnts");
	expect_mark(&f, "symbol __llvm_profile_write_file");
	assert_int_equal(strlen(f.names_sha256), 64);
	assert_true(f.prf_data_bytes >= 3 * 64);
	elf_facts_release(&f);
	assert_true(compile(clang, "-s -O1 -fprofile-generate a.c -o s"));
	assert_int_equal(elf_facts_read(stripped, &f, NULL), 0);
	expect_mark(&f, "section __llvm_prf_cnts");
	elf_facts_release(&f);
}

static void test_instrumented_by_gcc(void **state)
{
	auto_free char *gcc = path_find_program("gcc", getenv("PATH"), NULL);
	auto_free char *path = in_folder("g");
	struct elf_facts f;

	source("a.c", program);
	if (!gcc || !compile(gcc, "-O1 -fprofile-generate a.c -o g"))
		skip();
	assert_int_equal(elf_facts_read(path, &f, NULL), 0);
	assert_true(f.profile_marks.n > 1);
	elf_facts_release(&f);
	assert_true(compile(gcc, "-s -O1 -fprofile-generate a.c -o g"));
	assert_int_equal(elf_facts_read(path, &f, NULL), 0);
	expect_mark(&f, "text of the gcov runtime: profiling:%s:");
	elf_facts_release(&f);
}

static void test_hook_is_seen(void **state)
{
	auto_free char *path = in_folder("h");
	struct elf_facts f;

	source("h.c", "void whet_profile_hook(void); void whet_profile_hook(void) {}\n"
		      "int main(void) { return 0; }\n");
	assert_true(compile(TEST_CC, "h.c -o h"));
	assert_int_equal(elf_facts_read(path, &f, NULL), 0);
	assert_true(f.has_hook);
	expect_mark(&f, "symbol whet_profile_hook");
	elf_facts_release(&f);
}

static void test_not_elf(void **state)
{
	auto_free char *path = in_folder("text");
	struct error err = ERROR_INIT;
	struct elf_facts f;
	char hash[65];

	source("text", "#!/bin/sh\n");
	assert_int_equal(elf_facts_read(path, &f, &err), -1);
	assert_int_equal(err.code, ERR_CORRUPT);
	assert_non_null(strstr(err.msg, path));
	assert_int_equal(elf_object_code("\177ELF", 4, hash, NULL, &err), -1);
	assert_int_equal(elf_object_code("", 0, hash, NULL, &err), -1);
	error_release(&err);
}

/* Every section is the whole file: each of 4000 tables would be read as 20,000 symbols. */
static void test_sections_over_each_other(void **state)
{
	enum { SECTIONS = 4000, SIZE = 512 * 1024 };
	auto_free uint8_t *file = xcalloc(1, SIZE);
	Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(head),
		.e_shoff = sizeof(head),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS};
	Elf64_Shdr table = {
		.sh_type = SHT_SYMTAB, .sh_size = SIZE, .sh_entsize = sizeof(Elf64_Sym)};
	struct elf_profile profile = {0};
	struct error err = ERROR_INIT;

	memcpy(file, &head, sizeof(head));
	for (size_t i = 1; i < SECTIONS; i++)
		memcpy(file + sizeof(head) + i * sizeof(table), &table, sizeof(table));
	assert_int_equal(elf_profile_read(file, SIZE, "__llvm_", &profile, &err), -1);
	assert_int_equal(err.code, ERR_CORRUPT);
	assert_string_equal(err.msg, "not a readable ELF file: its sections and notes take "
				     "2096627712 bytes of a file of 524288");
	error_release(&err);
}

/* The number of program headers stands in the first section's header: four billion, behind the
 * end of the file. */
static void test_endless_segments(void **state)
{
	struct {
		Elf64_Ehdr head;
		Elf64_Shdr first;
	} file = {.head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			  .e_type = ET_EXEC,
			  .e_machine = EM_X86_64,
			  .e_version = EV_CURRENT,
			  .e_ehsize = sizeof(Elf64_Ehdr),
			  .e_phoff = 4096,
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = PN_XNUM,
			  .e_shoff = sizeof(Elf64_Ehdr),
			  .e_shentsize = sizeof(Elf64_Shdr),
			  .e_shnum = 1},
		.first = {.sh_info = UINT32_MAX}};
	struct elf_profile profile = {0};
	struct error err = ERROR_INIT;

	assert_int_equal(elf_profile_read(&file, sizeof(file), "__llvm_", &profile, &err), -1);
	assert_int_equal(err.code, ERR_CORRUPT);
	assert_string_equal(err.msg, "not a readable ELF file: its 4294967295 program headers lie "
				     "outside of it");
	error_release(&err);
}

static uint64_t step(uint64_t *s)
{
	*s = *s * 6364136223846793005ULL + 1442695040888963407ULL;
	return *s >> 33;
}

/* Damaged objects: any answer, but no crash and no read outside (the sanitized build says so). */
static void test_damaged_objects(void **state)
{
	static const char *const names[] = {"a.o", "a"};
	uint64_t seed = 7;

	source("a.c", program);
	assert_true(compile(TEST_CC, "-O1 -c a.c -o a.o"));
	assert_true(compile(TEST_CC, "-O1 a.c -o a"));
	for (size_t k = 0; k < 2; k++) {
		auto_free char *path = in_folder(names[k]);
		auto_free char *damaged = in_folder("damaged");
		auto_buf struct buf b = BUF_INIT;

		assert_int_equal(file_read(path, 0, &b, NULL), 0);
		for (int round = 0; round < 3000; round++) {
			auto_strv struct strv functions = STRV_INIT;
			size_t n = round % 3 ? b.n : step(&seed) % b.n;
			auto_free uint8_t *copy = xmalloc(n + 1);
			struct elf_origin origin;
			struct elf_facts f;
			char hash[65];

			memcpy(copy, b.p, n);
			for (int hits = 0; n > 64 && hits < 4; hits++) {
				/* Mostly the headers: the table at the end and the first bytes. */
				size_t at = round % 2 ? n - 1 - step(&seed) % (n < 2000 ? n : 2000)
						      : step(&seed) % n;

				copy[at] = (uint8_t)step(&seed);
			}
			elf_object_code(copy, n, hash, &functions, NULL);
			if (elf_object_origin(copy, n, &origin, NULL) == 0)
				elf_origin_release(&origin);
			if (round % 60 == 0) {
				file_write_atomic(damaged, copy, n, 0644, NULL);
				if (elf_facts_read(damaged, &f, NULL) == 0)
					elf_facts_release(&f);
				elf_text_hash(damaged, hash, NULL);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_object_functions),
		cmocka_unit_test(test_equal_code_equal_hash),
		cmocka_unit_test(test_object_without_code),
		cmocka_unit_test(test_misaligned_object),
		cmocka_unit_test(test_linked_facts),
		cmocka_unit_test(test_instrumented_by_clang),
		cmocka_unit_test(test_instrumented_by_gcc),
		cmocka_unit_test(test_hook_is_seen),
		cmocka_unit_test(test_not_elf),
		cmocka_unit_test(test_sections_over_each_other),
		cmocka_unit_test(test_endless_segments),
		cmocka_unit_test(test_damaged_objects),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
