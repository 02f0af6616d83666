#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "wrap/classify.h"
#include "wrap/node.h"
#include "wrap/response.h"

struct cc_case {
	const char *args; /* split at blanks */
	bool cxx;
	enum call_kind kind;
	const char *language;
	const char *output; /* in /w; NULL: none */
};

static const struct cc_case cc_cases[] = {
	{"--version", false, CALL_QUERY, "", NULL},
	{"-v", false, CALL_QUERY, "", NULL},
	{"-dumpmachine", false, CALL_QUERY, "", NULL},
	{"-print-search-dirs", false, CALL_QUERY, "", NULL},
	{"--print-file-name=libc.so", false, CALL_QUERY, "", NULL},
	{"-### -c a.c", false, CALL_QUERY, "c", NULL},
	{"-Wl,--version", false, CALL_QUERY, "", NULL},
	{"-E a.c", false, CALL_PREPROCESS, "c", NULL},
	{"-E -", false, CALL_PREPROCESS, "c", NULL},
	{"-M a.c", false, CALL_PREPROCESS, "c", NULL},
	{"-MM a.c", false, CALL_PREPROCESS, "c", NULL},
	{"-fsyntax-only a.c", false, CALL_PREPROCESS, "c", NULL},
	{"-S a.c", false, CALL_COMPILE, "c", "/w/a.s"},
	{"-S sub/a.cc -o out.s", false, CALL_COMPILE, "c++", "/w/out.s"},
	{"-S a.s", false, CALL_PREPROCESS, "asm", NULL},
	{"-c a.c", false, CALL_COMPILE, "c", "/w/a.o"},
	{"-c sub/a.c", false, CALL_COMPILE, "c", "/w/a.o"},
	{"-c a.c -o b.o", false, CALL_COMPILE, "c", "/w/b.o"},
	{"-c a.c -ob.o", false, CALL_COMPILE, "c", "/w/b.o"},
	{"-c a.c -o /x/../y/b.o", false, CALL_COMPILE, "c", "/y/b.o"},
	{"-MD -MF a.d -MT a.o -c a.c -o a.o", false, CALL_COMPILE, "c", "/w/a.o"},
	{"-MMD -MQ x.c -c a.c", false, CALL_COMPILE, "c", "/w/a.o"},
	{"-c a.cc", true, CALL_COMPILE, "c++", "/w/a.o"},
	{"-c a.cpp", false, CALL_COMPILE, "c++", "/w/a.o"},
	{"-c a.c", true, CALL_COMPILE, "c++", "/w/a.o"},
	{"-c a.C", false, CALL_COMPILE, "c++", "/w/a.o"},
	{"-x c -c - -o t.o", false, CALL_COMPILE, "c", "/w/t.o"},
	{"-xc++ -c - -o t.o", false, CALL_COMPILE, "c++", "/w/t.o"},
	{"-c a.c b.c", false, CALL_COMPILE, "c", NULL},
	{"-c a.c b.s -O2", false, CALL_COMPILE, "c", NULL},
	{"-c a.s", false, CALL_ASSEMBLE, "asm", "/w/a.o"},
	{"-c a.S -o o/a.o", false, CALL_ASSEMBLE, "asm", "/w/o/a.o"},
	{"-x assembler-with-cpp -c a.inc -o a.o", false, CALL_ASSEMBLE, "asm", "/w/a.o"},
	{"-x c-header all.h -o all.h.gch", false, CALL_PCH, "c", "/w/all.h.gch"},
	{"all.hpp", true, CALL_PCH, "c++", "/w/all.hpp.gch"},
	{"-c all.h", false, CALL_PCH, "c", "/w/all.h.gch"},
	{"a.o b.o -o prog", false, CALL_LINK, "", "/w/prog"},
	{"a.o", false, CALL_LINK, "", "/w/a.out"},
	{"-o prog a.o -lfoo -Wl,-rpath,/x -Xlinker --as-needed", false, CALL_LINK, "", "/w/prog"},
	{"-o prog a.o", true, CALL_LINK, "c++", "/w/prog"},
	{"-shared -o libx.so a.o -Wl,-soname,libx.so.1", false, CALL_LINK, "", "/w/libx.so"},
	{"-o prog a.c", false, CALL_COMPILE_LINK, "c", "/w/prog"},
	{"-o prog a.c b.o", false, CALL_COMPILE_LINK, "c", "/w/prog"},
	{"-o prog a.s b.o", false, CALL_COMPILE_LINK, "asm", "/w/prog"},
	{"-r -o x.o a.o b.o", false, CALL_PARTIAL_LINK, "", "/w/x.o"},
	{"-nostdlib -Wl,-r -o x.o a.o b.o", false, CALL_PARTIAL_LINK, "", "/w/x.o"},
	{"-Xlinker --relocatable -o x.o a.o", false, CALL_PARTIAL_LINK, "", "/w/x.o"},
	{"-include a.h -isystem inc.c -I dir.c -D X.c -c m.c", false, CALL_COMPILE, "c", "/w/m.o"},
	{"-Xclang -mllvm -Xclang foo.c -c m.c", false, CALL_COMPILE, "c", "/w/m.o"},
	{"-mllvm x.c -c m.c", false, CALL_COMPILE, "c", "/w/m.o"},
	{"-target x.c -c m.c", false, CALL_COMPILE, "c", "/w/m.o"},
	{"--param x.c -c m.c", false, CALL_COMPILE, "c", "/w/m.o"},
	{"-c -O2 -- -weird.c", false, CALL_COMPILE, "c", "/w/-weird.o"},
	{"-lfoo", false, CALL_QUERY, "", NULL},
	{"", false, CALL_QUERY, "", NULL},
};

static void cc_table(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(cc_cases); i++) {
		const struct cc_case *k = &cc_cases[i];
		auto_strv struct strv args = STRV_INIT;
		auto_free char *output = NULL;
		struct cc_call c;

		strv_split_words(&args, k->args);
		cc_classify(&args, k->cxx, &c);
		output = cc_output(&c, "/w");
		if (c.kind != k->kind || strcmp(c.language, k->language) != 0 ||
			!!output != !!k->output || (output && strcmp(output, k->output) != 0))
			fail_msg("'%s': %s, '%s', %s", k->args, call_kind_name(c.kind), c.language,
				output ? output : "no output");
		cc_call_release(&c);
	}
}

static const struct cc_case ld_cases[] = {
	{"-v", false, CALL_QUERY, "", NULL},
	{"--version", false, CALL_QUERY, "", NULL},
	{"--verbose", false, CALL_QUERY, "", NULL},
	{"-r -o x.o a.o b.o", false, CALL_PARTIAL_LINK, "", "/w/x.o"},
	{"-relocatable -m elf_x86_64 a.o -ox.o", false, CALL_PARTIAL_LINK, "", "/w/x.o"},
	{"-r -b binary -o x.o words.txt", false, CALL_PARTIAL_LINK, "", "/w/x.o"},
	{"-i a.o", false, CALL_PARTIAL_LINK, "", "/w/a.out"},
	{"-E -x -S -T script.c -o prog crt1.o a.o -lc", false, CALL_LINK, "", "/w/prog"},
	{"-shared -soname libx.so.1 --output=libx.so a.o", false, CALL_LINK, "", "/w/libx.so"},
	{"--oformat binary -o flat a.o", false, CALL_LINK, "", "/w/flat"},
};

static void ld_table(void **state)
{
	struct cc_call c;

	for (size_t i = 0; i < ARRAY_SIZE(ld_cases); i++) {
		const struct cc_case *k = &ld_cases[i];
		auto_strv struct strv args = STRV_INIT;
		auto_free char *output = NULL;

		strv_split_words(&args, k->args);
		ld_classify(&args, &c);
		output = cc_output(&c, "/w");
		if (c.kind != k->kind || !!output != !!k->output ||
			(output && strcmp(output, k->output) != 0))
			fail_msg("'%s': %s, %s", k->args, call_kind_name(c.kind),
				output ? output : "no output");
		cc_call_release(&c);
	}
}

static void ld_details(void **state)
{
	auto_strv struct strv args = STRV_INIT;
	struct cc_call c;

	strv_split_words(&args, "-r a.o lib.a -Map x.map -z noexecstack -o b.o");
	ld_classify(&args, &c);
	assert_string_equal(c.map, "x.map");
	assert_false(c.print_map);
	assert_int_equal(c.objects.n, 2);
	assert_string_equal(c.objects.v[1], "lib.a");
	cc_call_release(&c);
	strv_add(&args, "-M");
	ld_classify(&args, &c);
	assert_true(c.print_map);
	cc_call_release(&c);
	assert_true(is_linker_name("/usr/bin/ld"));
	assert_true(is_linker_name("x86_64-linux-gnu-ld.gold"));
	assert_true(is_linker_name("ld.lld-22"));
	assert_true(is_linker_name("rust-lld"));
	assert_false(is_linker_name("/usr/bin/ld.so"));
	assert_false(is_linker_name("ldd"));
	assert_false(is_linker_name("ldconfig"));
}

static void cc_other_machines(void **state)
{
	static const char here[] = "x86_64-unknown-linux-gnu";
	static const struct {
		const char *args; /* what the compiler is asked for */
		const char *target;
		bool other;
	} cases[] = {{"--target=wasm32", here, true}, {"-target bpf", here, true},
		{"--target=x86_64-pc-linux-gnu", here, false},
		{"--target x86_64-linux-gnu", here, false},
		{"--target=amd64-linux-gnu", here, false}, {"-m32", here, true},
		{"--target=x86_64-unknown-none", here, true},
		{"--target=i386-linux-gnu -m32", "i686-unknown-linux-gnu", false},
		{"--target=aarch64-linux-gnu", "aarch64-unknown-linux-musl", false},
		{"--target=arm64-apple-darwin", "aarch64-unknown-linux-gnu", true}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_strv struct strv args = STRV_INIT;
		struct cc_call c;

		strv_split_words(&args, cases[i].args);
		strv_split_words(&args, "-c x.c");
		cc_classify(&args, false, &c);
		assert_int_equal(c.sources.n, 1);
		assert_non_null(c.target);
		if (cc_other_machine(c.target, cases[i].target) != cases[i].other)
			fail_msg("'%s' for %s", cases[i].args, cases[i].target);
		cc_call_release(&c);
	}
}

static void cc_details(void **state)
{
	auto_strv struct strv args = STRV_INIT;
	struct cc_call c;

	strv_split_words(&args, "-Werror=format -o p a.c b.o libz.a -Wl,--gc-sections,-Map,m.map");
	cc_classify(&args, false, &c);
	assert_true(c.werror);
	assert_string_equal(c.map, "m.map");
	assert_int_equal(c.sources.n, 1);
	assert_int_equal(c.objects.n, 2);
	assert_string_equal(c.objects.v[1], "libz.a");
	cc_call_release(&c);
	strv_release(&args);
	strv_split_words(&args, "-o p a.o -Xlinker -Map=x.map -Wno-error=format");
	cc_classify(&args, false, &c);
	assert_string_equal(c.map, "x.map");
	assert_false(c.werror);
	assert_false(c.print_map);
	cc_call_release(&c);
	strv_release(&args);
	strv_split_words(&args, "-o p a.o -Wl,-M");
	cc_classify(&args, false, &c);
	assert_true(c.print_map);
	cc_call_release(&c);
}

struct rust_case {
	const char *args;
	enum call_kind kind;
	bool code, links;
	const char *output, *target;
};

static const struct rust_case rust_cases[] = {
	{"-vV", CALL_QUERY, true, true, NULL, NULL},
	{"- --crate-name ___ --print=file-names", CALL_QUERY, true, true, NULL, NULL},
	{"--print cfg --target t", CALL_QUERY, true, true, NULL, "t"},
	{"- --crate-name ___", CALL_QUERY, true, true, NULL, NULL},
	{"--crate-name a src/lib.rs --crate-type lib --emit=dep-info,metadata,link -C "
	 "metadata=12 -C extra-filename=-34 --out-dir /t/deps --target t",
		CALL_RUSTC, true, false, "/t/deps/liba-34.rlib", "t"},
	{"--crate-name a src/lib.rs --crate-type lib --emit=dep-info,metadata --out-dir /t",
		CALL_RUSTC, false, false, "/t/liba.rlib", NULL},
	{"--crate-name b src/main.rs --crate-type bin --emit=dep-info,link -Cextra-filename=-1 "
	 "--out-dir=/t --target=x86_64-unknown-linux-gnu",
		CALL_RUSTC, true, true, "/t/b-1", "x86_64-unknown-linux-gnu"},
	{"--crate-name p src/lib.rs --crate-type proc-macro --emit=link --out-dir /t", CALL_RUSTC,
		true, true, "/t/libp.so", NULL},
	{"--crate-name d src/lib.rs --crate-type cdylib --crate-type rlib --out-dir /t", CALL_RUSTC,
		true, true, "/t/libd.rlib", NULL},
	{"--crate-name s src/lib.rs --crate-type staticlib --out-dir /t", CALL_RUSTC, true, false,
		"/t/libs.a", NULL},
	{"my-tool.rs", CALL_RUSTC, true, true, "/w/my_tool", NULL},
	{"x.rs -o y -O -g", CALL_RUSTC, true, true, "/w/y", NULL},
	{"--crate-name t src/lib.rs --test --emit=link --out-dir /t", CALL_RUSTC, true, true,
		"/t/t", NULL},
	{"--cfg feature=\"x.rs\" --extern a=b.rs -L dep.rs real.rs", CALL_RUSTC, true, true,
		"/w/real", NULL},
};

static void rust_table(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(rust_cases); i++) {
		const struct rust_case *k = &rust_cases[i];
		auto_strv struct strv args = STRV_INIT;
		auto_free char *output = NULL;
		struct rustc_call c;

		strv_split_words(&args, k->args);
		rustc_classify(&args, &c);
		output = c.kind == CALL_RUSTC ? rustc_output(&c, "/w") : NULL;
		if (c.kind != k->kind || !!c.target != !!k->target ||
			(k->target && strcmp(c.target, k->target) != 0) ||
			(c.kind == CALL_RUSTC && (c.code != k->code || c.links != k->links)) ||
			!!output != !!k->output || (output && strcmp(output, k->output) != 0))
			fail_msg("'%s': %s, code %d, links %d, %s", k->args, call_kind_name(c.kind),
				c.code, c.links, output ? output : "no output");
		rustc_call_release(&c);
	}
}

static void rust_details(void **state)
{
	auto_strv struct strv args = STRV_INIT;
	struct rustc_call c;

	strv_split_words(&args, "--crate-name a /s/lib/rustlib/src/rust/library/core/src/lib.rs "
				"--error-format=json -Cmetadata=77 --codegen linker=ld2");
	rustc_classify(&args, &c);
	assert_true(c.std);
	assert_true(c.json);
	assert_string_equal(c.metadata, "77");
	assert_string_equal(c.linker, "ld2");
	rustc_call_release(&c);
}

static void write_text(const char *path, const char *text)
{
	assert_int_equal(file_write_atomic(path, text, strlen(text), 0644, NULL), 0);
}

static void response_files(void **state)
{
	char dir[] = "/tmp/whet-response-XXXXXX";
	auto_strv struct strv args = STRV_INIT, words = STRV_INIT, lines = STRV_INIT;
	auto_free char *a = NULL, *b = NULL;
	static const char *const expected[] = {
		"-c", "x y.c", "-DA=\"q\"", "in ner", "@missing", "-o", "z"};

	assert_non_null(mkdtemp(dir));
	a = path_join(dir, "a.rsp");
	b = path_join(dir, "b.rsp");
	write_text(a, "-c 'x y.c'\n  -DA=\\\"q\\\" @b.rsp\n");
	write_text(b, "\"in ner\"\n");
	strv_add(&args, "@a.rsp");
	strv_add(&args, "@missing");
	strv_add(&args, "-o");
	strv_add(&args, "z");
	response_expand(&args, dir, false, &words);
	assert_int_equal(words.n, ARRAY_SIZE(expected));
	for (size_t i = 0; i < words.n; i++)
		assert_string_equal(words.v[i], expected[i]);
	write_text(a, "--crate-name\nmy crate\r\n");
	response_expand(&args, dir, true, &lines);
	assert_string_equal(lines.v[1], "my crate");
	/* a file that includes itself ends */
	write_text(a, "@a.rsp");
	strv_release(&words);
	response_expand(&args, dir, false, &words);
	assert_string_equal(words.v[0], "@a.rsp");
	assert_int_equal(tree_remove(dir, NULL), 0);
}

static void path_lists(void **state)
{
	auto_free char *a = path_list_without("/s:/usr/bin:/s/:/bin", "/s");
	auto_free char *b = path_list_without("/usr/bin", "/s");
	auto_free char *c = path_list_without("/s", "/s");

	assert_string_equal(a, "/usr/bin:/bin");
	assert_string_equal(b, "/usr/bin");
	assert_string_equal(c, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(cc_table), cmocka_unit_test(ld_table),
		cmocka_unit_test(ld_details), cmocka_unit_test(cc_other_machines),
		cmocka_unit_test(cc_details), cmocka_unit_test(rust_table),
		cmocka_unit_test(rust_details), cmocka_unit_test(response_files),
		cmocka_unit_test(path_lists)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
