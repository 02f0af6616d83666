/* The closed lists of flags, and that they do what they are there for. */
#include "tests.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "toolchain/toolchain.h"

static void compile_is(enum compiler_family family, enum toolchain_mode mode, const char *expected)
{
	struct compiler c = {.family = family};
	struct toolchain_build build = {.mode = mode, .profile = "/p/x.profdata"};
	auto_strv struct strv flags = STRV_INIT;
	auto_free char *joined = NULL;

	toolchain_compile_flags(&c, &build, &flags);
	joined = strv_join(&flags, " ");
	assert_string_equal(joined, expected);
}

/* Of LLVM 14 it is known that it has no such option. */
void test_trace_flags(void **state)
{
	static const struct {
		enum compiler_family family;
		int llvm;
		const char *last;
	} cases[] = {
		{FAMILY_CLANG, 22, "-pgo-trace-func-hash="},
		{FAMILY_CLANG, 19, "-pgo-trace-func-hash="},
		{FAMILY_CLANG, 18, "-Wbackend-plugin"},
		{FAMILY_RUSTC, 22, "-Cllvm-args=-pgo-trace-func-hash="},
		{FAMILY_RUSTC, 18, "-Cllvm-args=-pgo-warn-missing-function"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct compiler c = {.family = cases[i].family, .llvm = cases[i].llvm};
		struct toolchain_build build = {
			.mode = MODE_OPTIMISED, .profile = "/p/x.profdata", .trace = true};
		auto_strv struct strv flags = STRV_INIT, none = STRV_INIT;

		toolchain_compile_flags(&c, &build, &flags);
		assert_string_equal(flags.v[flags.n - 1], cases[i].last);
		build.mode = MODE_PLAIN;
		toolchain_compile_flags(&c, &build, &none);
		assert_int_equal(none.n, 0);
	}
}

static void link_is(enum compiler_family family, enum toolchain_mode mode, const char *expected)
{
	struct compiler c = {.family = family};
	struct toolchain_build build = {.mode = mode};
	auto_strv struct strv flags = STRV_INIT;
	auto_free char *joined = NULL;

	toolchain_link_flags(&c, &build, &(struct toolchain_link){.hook = "/h/hook.o"}, &flags);
	joined = strv_join(&flags, " ");
	assert_string_equal(joined, expected);
}

/* Beside objects of another layout: the runtime of the program's main compiler, and a second one.
 */
static void mixed_link_is(enum compiler_family family, const char *expected)
{
	struct compiler c = {.family = family};
	auto_strv struct strv flags = STRV_INIT, archives = STRV_INIT;
	struct toolchain_link link = {"/h/hook.o", "/r/main.a", &archives};
	struct toolchain_build build = {.mode = MODE_INSTRUMENTED};
	auto_free char *joined = NULL;

	strv_add(&archives, "/h/runtime-8.a");
	if (family == FAMILY_RUSTC)
		link.runtime = NULL;
	toolchain_link_flags(&c, &build, &link, &flags);
	joined = strv_join(&flags, " ");
	assert_string_equal(joined, expected);
}

void test_mixed_link(void **state)
{
	struct compiler c = {.family = FAMILY_CLANG};
	struct toolchain_build build = {.mode = MODE_INSTRUMENTED};
	struct toolchain_link lent;
	auto_strv struct strv flags = STRV_INIT;
	auto_free char *joined = NULL;
	static const int raw[][2] = {
		{14, 8}, {16, 8}, {17, 8}, {18, 9}, {19, 10}, {22, 10}, {0, 0}};

	mixed_link_is(
		FAMILY_CLANG, "-Wl,-u,__llvm_profile_runtime /h/hook.o /r/main.a /h/runtime-8.a");
	mixed_link_is(
		FAMILY_RUSTC, "-Clink-arg=/h/hook.o -Clink-arg=/h/runtime-8.a -Clink-arg=-lc");
	lent = (struct toolchain_link){.hook = "/h/hook.o", .resource = "/h/lent"};
	toolchain_link_flags(&c, &build, &lent, &flags);
	joined = strv_join(&flags, " ");
	assert_string_equal(joined, "-fprofile-generate -resource-dir=/h/lent /h/hook.o");
	for (size_t i = 0; i < ARRAY_SIZE(raw); i++) {
		c.llvm = raw[i][0];
		assert_int_equal(toolchain_raw_version(&c), raw[i][1]);
	}
}

/* Counters put in after inlining: both calls read the first profile, and so does the link of the
 * optimised build, for link-time optimisation. */
static void second_round(void)
{
	struct compiler c = {.family = FAMILY_CLANG};
	struct toolchain_build build = {
		.mode = MODE_INSTRUMENTED, .profile = "/p/1", .context_sensitive = true};
	struct toolchain_link link = {.hook = "/h/hook.o"};
	auto_strv struct strv compile = STRV_INIT, linked = STRV_INIT, optimised = STRV_INIT;
	auto_free char *a = NULL, *b = NULL, *o = NULL;

	toolchain_compile_flags(&c, &build, &compile);
	toolchain_link_flags(&c, &build, &link, &linked);
	build.mode = MODE_OPTIMISED;
	toolchain_link_flags(&c, &build, &link, &optimised);
	a = strv_join(&compile, " ");
	b = strv_join(&linked, " ");
	o = strv_join(&optimised, " ");
	assert_string_equal(a, "-fprofile-use=/p/1 -mllvm -pgo-warn-missing-function "
			       "-Wbackend-plugin -fcs-profile-generate");
	assert_string_equal(b, "-fprofile-use=/p/1 -fcs-profile-generate /h/hook.o");
	assert_string_equal(o, "-fprofile-use=/p/1");
	build = (struct toolchain_build){
		.mode = MODE_OPTIMISED, .profile = "/p/1", .neutral = true};
	strv_release(&compile);
	toolchain_compile_flags(&c, &build, &compile);
	free(a);
	a = strv_join(&compile, " ");
	assert_string_equal(a, "-fprofile-use=/p/1 -mllvm -pgo-warn-missing-function -mllvm "
			       "-pgso-cold-code-only-for-instr-pgo -Wbackend-plugin");
}

void test_clang_flags(void **state)
{
	compile_is(FAMILY_CLANG, MODE_PLAIN, "");
	compile_is(FAMILY_CLANG, MODE_INSTRUMENTED, "-fprofile-generate");
	compile_is(FAMILY_CLANG, MODE_OPTIMISED,
		"-fprofile-use=/p/x.profdata -mllvm -pgo-warn-missing-function -Wbackend-plugin");
	second_round();
	link_is(FAMILY_CLANG, MODE_PLAIN, "");
	link_is(FAMILY_CLANG, MODE_INSTRUMENTED, "-fprofile-generate /h/hook.o");
	link_is(FAMILY_CLANG, MODE_OPTIMISED, "");
}

void test_rustc_flags(void **state)
{
	compile_is(FAMILY_RUSTC, MODE_PLAIN, "");
	compile_is(FAMILY_RUSTC, MODE_INSTRUMENTED, "-Cprofile-generate");
	compile_is(FAMILY_RUSTC, MODE_OPTIMISED,
		"-Cprofile-use=/p/x.profdata -Cllvm-args=-pgo-warn-missing-function");
	link_is(FAMILY_RUSTC, MODE_PLAIN, "");
	link_is(FAMILY_RUSTC, MODE_INSTRUMENTED, "-Clink-arg=/h/hook.o -Clink-arg=-lc");
	link_is(FAMILY_RUSTC, MODE_OPTIMISED, "");
}

void test_gcc_flags(void **state)
{
	auto_strv struct strv base = STRV_INIT;

	compile_is(FAMILY_GCC, MODE_PLAIN, "");
	compile_is(
		FAMILY_GCC, MODE_INSTRUMENTED, "-fprofile-generate -fprofile-update=prefer-atomic");
	compile_is(FAMILY_GCC, MODE_OPTIMISED,
		"-fprofile-use=/p/x.profdata -fprofile-correction -Wmissing-profile "
		"-Wno-error=missing-profile -Wcoverage-mismatch -Wno-error=coverage-mismatch");
	link_is(FAMILY_GCC, MODE_PLAIN, "");
	link_is(FAMILY_GCC, MODE_INSTRUMENTED, "-fprofile-generate /h/hook.o");
	link_is(FAMILY_GCC, MODE_OPTIMISED, "");
	toolchain_gcc_base("/s/slot", &base);
	assert_string_equal(base.v[0], "-fprofile-prefix-path=/s/slot");
}

/* A program's counters have one runtime. */
void test_takes_part(void **state)
{
	const struct compiler clang = {.family = FAMILY_CLANG, .major = 22};
	const struct compiler old = {.family = FAMILY_CLANG, .major = 14};
	const struct compiler rustc = {.family = FAMILY_RUSTC, .major = 95};
	const struct compiler gcc12 = {.family = FAMILY_GCC, .major = 12};
	const struct compiler gcc11 = {.family = FAMILY_GCC, .major = 11};

	assert_true(toolchain_takes_part(&clang, &old));
	assert_true(toolchain_takes_part(&rustc, &clang));
	assert_true(toolchain_takes_part(NULL, &clang));
	assert_false(toolchain_takes_part(&clang, &gcc12));
	assert_false(toolchain_takes_part(NULL, &gcc12));
	assert_true(toolchain_takes_part(&gcc12, &gcc12));
	assert_false(toolchain_takes_part(&gcc12, &gcc11));
	assert_false(toolchain_takes_part(&gcc12, &clang));
}

/* Both kinds of counters: each driver links both runtimes, and gcc's by its own names alone. */
void test_both_kinds(void **state)
{
	const struct compiler clang = {.family = FAMILY_CLANG, .major = 22, .llvm = 22};
	const struct compiler gcc = {.family = FAMILY_GCC, .major = 12};
	const struct compiler rustc = {.family = FAMILY_RUSTC, .major = 95, .llvm = 22};
	const struct toolchain_build b = {.mode = MODE_INSTRUMENTED};
	const struct toolchain_link own = {.hook = "h.o", .gcov = "g.a"};
	const struct toolchain_link lent = {.hook = "h.o", .gcov = "g.a", .runtime = "rt.a"};
	const struct {
		const struct compiler *c;
		const struct toolchain_link *link;
		const char *words;
	} wanted[] = {
		{&clang, &own,
			"-fprofile-generate h.o g.a -Wl,--wrap=__gcov_dump "
			"-Wl,--wrap=__gcov_reset"},
		{&gcc, &lent,
			"-Wl,-u,__llvm_profile_runtime h.o rt.a g.a -Wl,--wrap=__gcov_dump "
			"-Wl,--wrap=__gcov_reset"},
		{&rustc, &own,
			"-Clink-arg=h.o -Clink-arg=g.a -Clink-arg=-Wl,--wrap=__gcov_dump "
			"-Clink-arg=-Wl,--wrap=__gcov_reset -Clink-arg=-lc"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		auto_strv struct strv flags = STRV_INIT;
		auto_free char *words = NULL;

		toolchain_link_flags(wanted[i].c, &b, wanted[i].link, &flags);
		words = strv_join(&flags, " ");
		assert_string_equal(words, wanted[i].words);
	}
}

void test_other_flags(void **state)
{
	compile_is(FAMILY_UNKNOWN, MODE_INSTRUMENTED, "");
}

/* What a project says for all of its builds. */
static void settings_are(enum compiler_family family, const struct toolchain_build *b,
	const char *compile, const char *lto)
{
	struct compiler c = {.family = family};
	auto_strv struct strv flags = STRV_INIT, words = STRV_INIT;
	auto_free char *a = NULL, *z = NULL;

	toolchain_compile_flags(&c, b, &flags);
	toolchain_lto_flags(&c, b, &words);
	a = strv_join(&flags, " ");
	z = strv_join(&words, " ");
	assert_string_equal(a, compile);
	assert_string_equal(z, lto);
}

static void dropped(const char *argv, enum plan_lto lto, const char *expected)
{
	auto_strv struct strv in = STRV_INIT, out = STRV_INIT;
	auto_free char *joined = NULL;

	strv_split_words(&in, argv);
	for (size_t i = 0; i < in.n;) {
		size_t n = toolchain_rustc_lto_words(&in, i, lto);

		if (!n)
			strv_add(&out, in.v[i]);
		i += n ? n : 1;
	}
	joined = strv_join(&out, " ");
	assert_string_equal(joined, expected);
}

void test_settings(void **state)
{
	static const char words[] = "-C lto=fat -Clto --codegen=lto=thin -C embed-bitcode=no "
				    "-Cembed-bitcode=no -Clinker-plugin-lto -C opt-level=3 -C";
	struct toolchain_build b = {.cpu = "x86-64-v3", .target = "x86_64-unknown-linux-gnu"};

	settings_are(FAMILY_CLANG, &b, "-march=x86-64-v3", "");
	settings_are(FAMILY_RUSTC, &b, "-Ctarget-cpu=x86-64-v3", "");
	b.target = "i686-unknown-linux-gnu";
	settings_are(FAMILY_CLANG, &b, "-march=x86-64-v3", "");
	b.target = "aarch64-unknown-linux-gnu";
	b.cpu = "neoverse-n1";
	settings_are(FAMILY_CLANG, &b, "-mcpu=neoverse-n1", "");
	b = (struct toolchain_build){.mode = MODE_INSTRUMENTED, .cpu = "v", .target = "x86_64"};
	b.lto = PLAN_LTO_THIN;
	settings_are(FAMILY_CLANG, &b, "-march=v -fprofile-generate", "-flto=thin");
	settings_are(FAMILY_RUSTC, &b, "-Ctarget-cpu=v -Cprofile-generate", "-Clto=thin");
	b = (struct toolchain_build){.lto = PLAN_LTO_FULL};
	settings_are(FAMILY_CLANG, &b, "", "-flto=full");
	settings_are(FAMILY_RUSTC, &b, "", "-Clto=fat");
	b.lto = PLAN_LTO_NONE;
	settings_are(FAMILY_CLANG, &b, "", "-fno-lto");
	settings_are(FAMILY_RUSTC, &b, "", "");
	dropped(words, PLAN_LTO_DEFAULT, words);
	dropped(words, PLAN_LTO_NONE, "-C embed-bitcode=no -Cembed-bitcode=no -C opt-level=3 -C");
	dropped(words, PLAN_LTO_THIN,
		"-C lto=fat -Clto --codegen=lto=thin -Clinker-plugin-lto -C opt-level=3 -C");
}

static void unsilenced(enum compiler_family family, const char *argv, const char *expected,
	const char *expected_removed)
{
	struct compiler c = {.family = family};
	auto_strv struct strv in = STRV_INIT, out = STRV_INIT, removed = STRV_INIT;
	auto_free char *a = NULL, *b = NULL;

	strv_split_words(&in, argv);
	toolchain_unsilence(&c, &in, &out, &removed);
	a = strv_join(&out, " ");
	b = strv_join(&removed, " ");
	assert_string_equal(a, expected);
	assert_string_equal(b, expected_removed);
}

void test_unsilence(void **state)
{
	unsilenced(FAMILY_CLANG, "-O2 -w -Wall -c a.c", "-O2 -Wall -c a.c", "-w");
	unsilenced(FAMILY_CLANG, "-Xclang -w -Xclang -foo", "-Xclang -foo", "-Xclang -w");
	unsilenced(FAMILY_GCC, "-w -c a.c", "-c a.c", "-w");
	unsilenced(FAMILY_CLANG, "-Wno-everything -www", "-Wno-everything -www", "");
	unsilenced(FAMILY_RUSTC, "--cap-lints allow a.rs", "--cap-lints=warn a.rs",
		"--cap-lints allow");
	unsilenced(FAMILY_RUSTC, "--cap-lints=allow", "--cap-lints=warn", "--cap-lints=allow");
	unsilenced(FAMILY_RUSTC, "--cap-lints warn", "--cap-lints warn", "");
	unsilenced(FAMILY_RUSTC,
		"-Awarnings -A warnings --allow=warnings --allow warnings -Adead_code",
		"-Adead_code", "-Awarnings -A warnings --allow=warnings --allow warnings");
	unsilenced(FAMILY_RUSTC, "-A", "-A", "");
}

void test_warnings_are_errors(void **state)
{
	auto_strv struct strv a = STRV_INIT;

	strv_split_words(&a, "-Wall -Werror=format -Wno-error");
	assert_false(toolchain_warnings_are_errors(&a));
	strv_add(&a, "-Werror");
	assert_true(toolchain_warnings_are_errors(&a));
}

void test_cxx_name(void **state)
{
	static const char *const pairs[][2] = {
		{"clang", "clang++"},
		{"clang-22", "clang++-22"},
		{"/opt/gcc/bin/clang-22", "/opt/gcc/bin/clang++-22"},
		{"gcc", "g++"},
		{"gcc-12", "g++-12"},
		{"x86_64-linux-gnu-gcc-12", "x86_64-linux-gnu-g++-12"},
		{"cc", "c++"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		auto_free char *cxx = toolchain_cxx_name(pairs[i][0]);

		assert_non_null(cxx);
		assert_string_equal(cxx, pairs[i][1]);
	}
	assert_null(toolchain_cxx_name("tcc"));
	assert_null(toolchain_cxx_name("ccache"));
}

/* ---- with real compilers ---- */

struct work {
	char folder[40];
	struct strv env;
	char *out; /* what the last command said on both streams */
	int code;
};

static void work_begin(struct work *w)
{
	*w = (struct work){.folder = "/tmp/whet-flags-XXXXXX"};
	assert_non_null(mkdtemp(w->folder));
	env_copy_current(&w->env);
}

static void work_end(struct work *w)
{
	tree_remove(w->folder, NULL);
	strv_release(&w->env);
	free(w->out);
}

static void run(struct work *w, const struct strv *argv)
{
	struct proc_options o = PROC_OPTIONS_INIT;
	auto_strv struct strv shell = STRV_INIT, lines = STRV_INIT;
	auto_free char *quoted = strv_shell_quote(argv);
	struct error err = ERROR_INIT;

	strv_add(&shell, "sh");
	strv_add(&shell, "-c");
	strv_addf(&shell, "%s 2>&1; echo \"code $?\"", quoted);
	o.argv = &shell;
	o.env = &w->env;
	o.cwd = w->folder;
	if (proc_capture(&o, 60 * NS_PER_S, &lines, &err) < 0)
		fail_msg("%s", err.msg);
	free(w->out);
	w->out = strv_join(&lines, "\n");
	assert_true(lines.n > 0);
	w->code = lines.v[lines.n - 1][5] - '0';
}

static void run_words(struct work *w, const char *words)
{
	auto_strv struct strv argv = STRV_INIT;

	strv_split_words(&argv, words);
	run(w, &argv);
}

static void write_file(const struct work *w, const char *name, const char *text)
{
	auto_free char *path = path_join(w->folder, name);

	assert_int_equal(file_write_atomic(path, text, strlen(text), 0644, NULL), 0);
}

static void optimise(struct work *w, const struct compiler *c, const char *given)
{
	auto_strv struct strv argv = STRV_INIT, in = STRV_INIT, removed = STRV_INIT;
	auto_free char *profile = path_join(w->folder, "p.profdata");
	struct toolchain_build build = {.mode = MODE_OPTIMISED, .profile = profile};

	strv_add(&argv, c->path);
	strv_split_words(&in, given);
	toolchain_unsilence(c, &in, &argv, &removed);
	toolchain_compile_flags(c, &build, &argv);
	if (c->family == FAMILY_CLANG && toolchain_warnings_are_errors(&in))
		strv_add(&argv, "-Wno-error=backend-plugin");
	run(w, &argv);
}

static bool begin_real(
	struct work *w, const char *compiler, const char *profdata, struct compiler *c)
{
	auto_free char *tool = path_find_program(profdata, getenv("PATH"), NULL);

	if (!tool || toolchain_probe(compiler, getenv("PATH"), c, NULL) < 0) {
		print_message("skipped: %s and %s are not both installed\n", compiler, profdata);
		return false;
	}
	work_begin(w);
	return true;
}

static void expect_told(const struct work *w, const char *given, const char *what)
{
	if (w->code || !strstr(w->out, what))
		fail_msg("with '%s' expected exit code 0 and '%s', got: %s", given, what, w->out);
}

#define BODY                                                                                       \
	"int f(int x)\n{\n\tint s = 0;\n\tfor (int i = 0; i < x; i++)\n\t\ts += i % 3 ? i : 1;\n"
#define REST "\treturn s;\n}\nint main(int c, char **v)\n{\n\treturn f(c * 1000) == 1;\n}\n"

static void clang_tells(const char *compiler, const char *profdata)
{
	static const char *const given[] = {"-O2 -c a.c", "-O2 -w -c a.c", "-O2 -Werror -c a.c",
		"-O2 -Wno-everything -c a.c", "-O2 -w -Werror -Wno-backend-plugin -c a.c"};
	auto_free char *build = xasprintf("%s -O2 -fprofile-generate a.c -o a", compiler);
	auto_free char *merge = xasprintf("%s merge -o p.profdata a.profraw", profdata);
	struct compiler c;
	struct work w;

	if (!begin_real(&w, compiler, profdata, &c))
		skip();
	write_file(&w, "a.c", BODY REST);
	env_set(&w.env, "LLVM_PROFILE_FILE", "a.profraw");
	run_words(&w, build);
	assert_int_equal(w.code, 0);
	run_words(&w, "./a");
	run_words(&w, merge);
	assert_int_equal(w.code, 0);
	/* The same source: nothing to tell. */
	optimise(&w, &c, "-O2 -Werror -c a.c");
	assert_string_equal(w.out, "code 0");
	write_file(&w, "a.c",
		"int printf(const char *, ...);\n" BODY
		"\tfor (int i = 0; i < x; i++)\n\t\tif (i % 7 == 2 && printf(\"%d\", i) > 9)\n"
		"\t\t\treturn 1;\n" REST);
	for (size_t i = 0; i < ARRAY_SIZE(given); i++) {
		optimise(&w, &c, given[i]);
		expect_told(&w, given[i], "control flow change detected (hash mismatch) f Hash");
	}
	compiler_release(&c);
	work_end(&w);
}

void test_clang_tells_of_stale_profile(void **state)
{
	clang_tells("clang-14", "llvm-profdata-14");
	clang_tells("clang-22", "llvm-profdata-22");
}

#define RUST(call)                                                                                 \
	"#[inline(never)] fn f(x: u64) -> u64 { let mut s = 0; for i in 0..x { if i % 3 == 0 "     \
	"{ s += i } else { s ^= 1 } } s }\n"                                                       \
	"#[inline(never)] fn g(x: u64) -> u64 { let mut s = 0; for i in "                          \
	"0..std::hint::black_box(x) "                                                              \
	"{ if i % 5 == 0 { s += i } else { s ^= 3 } } s }\n"                                       \
	"fn main() { println!(\"{}\", " call "(std::env::args().count() as u64 * 1000)); }\n"

/* Built from f alone, used for g: g is missing. cargo gives "--cap-lints allow" to every crate of a
 * registry, which by itself hides that. */
void test_rustc_tells_of_missing_profile(void **state)
{
	static const char *const given[] = {"-O a.rs", "-O --cap-lints allow a.rs",
		"-O -Awarnings a.rs", "-O --cap-lints=allow -A warnings a.rs"};
	struct compiler c;
	struct work w;

	if (!begin_real(&w, "rustc", "llvm-profdata-22", &c))
		skip();
	write_file(&w, "a.rs", RUST("f"));
	env_set(&w.env, "LLVM_PROFILE_FILE", "a.profraw");
	run_words(&w, "rustc -O -Cprofile-generate a.rs -o a");
	assert_int_equal(w.code, 0);
	run_words(&w, "./a");
	run_words(&w, "llvm-profdata-22 merge -o p.profdata a.profraw");
	if (w.code)
		fail_msg("%s", w.out);
	write_file(&w, "a.rs", RUST("g"));
	for (size_t i = 0; i < ARRAY_SIZE(given); i++) {
		optimise(&w, &c, given[i]);
		expect_told(&w, given[i], "no profile data available for function");
	}
	compiler_release(&c);
	work_end(&w);
}

/* rustc only warns of a processor that it does not know. */
void test_settings_of_compilers(void **state)
{
	static const char *const names[] = {"clang-22", "clang-14", "gcc", "rustc"};
	struct toolchain_build b = {0};
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		auto_free char *word = NULL;
		struct error err = ERROR_INIT;
		struct compiler c;

		if (toolchain_probe(names[i], getenv("PATH"), &c, NULL) < 0)
			continue;
		any = true;
		b.target = strncmp(c.target, "x86_64", 6) == 0 ? "x86_64-unknown-linux-gnu" : NULL;
		b.cpu = b.target ? "x86-64-v3" : "generic";
		assert_int_equal(toolchain_check_cpu(&c, &b, getenv("PATH"), &err), 0);
		b.cpu = "x86-64-v33";
		assert_int_equal(toolchain_check_cpu(&c, &b, getenv("PATH"), &err), -1);
		assert_int_equal(err.code, ERR_CONFIG);
		assert_non_null(strstr(err.msg, "knows no processor 'x86-64-v33'"));
		error_release(&err);
		if (c.family == FAMILY_CLANG &&
			toolchain_lto_linker(&c, getenv("PATH"), &word, &err) == 0 && word)
			assert_true(strcmp(word, "-fuse-ld=lld") == 0 ||
				    strncmp(word, "--ld-path=/", 11) == 0);
		error_release(&err);
		compiler_release(&c);
	}
	if (!any)
		skip();
}
