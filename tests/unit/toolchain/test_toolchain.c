/* Probing: real compilers where they are installed, and stand-ins that answer as given. */
#include "tests.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "toolchain/toolchain.h"

static char folder[] = "/tmp/whet-toolchain-XXXXXX";

static const char *path_list(void)
{
	return getenv("PATH");
}

/* A shell script in the test's folder that answers like a compiler. */
static void fake(const char *name, const char *script)
{
	auto_free char *path = path_join(folder, name);
	auto_free char *text = xasprintf("#!/bin/sh\n%s", script);

	assert_int_equal(file_write_atomic(path, text, strlen(text), 0755, NULL), 0);
}

static void forget(const char *name)
{
	auto_free char *path = path_join(folder, name);

	unlink(path);
}

#define CLANG(version)                                                                             \
	"case \"$1\" in\n"                                                                         \
	"--version) echo 'Debian clang version " version                                           \
	"'; echo 'Target: x86_64-pc-linux-gnu';;\n"                                                \
	"-print-resource-dir) echo /fake/lib/clang;;\n"                                            \
	"-print-file-name=*) n=${1#*=}; test -e \"$0.d/$n\" && echo \"$0.d/$n\" || echo $n;;\n"    \
	"esac\n"

static void add_runtime(const char *compiler, const char *name)
{
	auto_free char *dir = xasprintf("%s/%s.d", folder, compiler);
	auto_free char *path = path_join(dir, name);

	assert_int_equal(dir_create(dir, 0755, NULL), 0);
	assert_int_equal(file_write_atomic(path, "", 0, 0644, NULL), 0);
}

static void fails_with(const char *name, const char *expected)
{
	struct compiler c = {.path = (char *)"untouched"};
	struct error err = ERROR_INIT;

	assert_int_equal(toolchain_probe(name, folder, &c, &err), -1);
	assert_int_equal(err.code, ERR_ENVIRONMENT);
	assert_string_equal(err.msg, expected);
	assert_string_equal(c.path, "untouched");
	error_release(&err);
}

static void test_missing_compilers(void **state)
{
	fails_with("clang-22",
		"compiler 'clang-22' is not in PATH; install the Debian package 'clang-22'");
	fails_with("rustc", "compiler 'rustc' is not in PATH; install Rust by rustup "
			    "(https://rustup.rs), or the "
			    "Debian package 'rustc'");
	fails_with("mycc", "compiler 'mycc' is not in PATH");
	fails_with("/no/such/cc", "compiler '/no/such/cc' is no executable file");
}

static void test_missing_runtime(void **state)
{
	auto_free char *expected = xasprintf(
		"'%s/clang-19' (clang 19.1.7 (3~deb12u1)) has no profile runtime "
		"(libclang_rt.profile) "
		"for x86_64-pc-linux-gnu under '/fake/lib/clang'; install the Debian package "
		"'libclang-rt-19-dev'",
		folder);

	fake("clang-19", CLANG("19.1.7 (3~deb12u1)"));
	fails_with("clang-19", expected);
	forget("clang-19");
}

static void test_old_clang(void **state)
{
	auto_free char *expected = xasprintf(
		"'%s/clang-13' is clang 13.0.1-11; whet needs clang 14 or newer (Debian package "
		"'clang-14')",
		folder);

	fake("clang-13", CLANG("13.0.1-11"));
	fails_with("clang-13", expected);
	forget("clang-13");
}

static void test_both_runtime_layouts(void **state)
{
	static const char *const names[] = {
		"libclang_rt.profile-x86_64.a", "libclang_rt.profile.a"};

	fake("clang", CLANG("17.0.6"));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		auto_free char *runtime = xasprintf("%s/clang.d/%s", folder, names[i]);
		struct compiler c;

		add_runtime("clang", names[i]);
		assert_int_equal(toolchain_probe("clang", folder, &c, NULL), 0);
		assert_string_equal(c.runtime, runtime);
		assert_string_equal(c.version, "clang 17.0.6");
		assert_int_equal(c.family, FAMILY_CLANG);
		assert_int_equal(c.major, 17);
		assert_int_equal(c.llvm, 17);
		assert_string_equal(c.target, "x86_64-pc-linux-gnu");
		assert_string_equal(c.sysroot, "/fake/lib/clang");
		compiler_release(&c);
		unlink(runtime);
	}
	forget("clang");
}

static void test_unknown_and_broken_compilers(void **state)
{
	auto_free char *expected = xasprintf("'%s/icx' is no compiler that whet knows (clang, gcc, "
					     "rustc); it says of itself: Some Compiler 1.0",
		folder);
	struct compiler c;
	struct error err = ERROR_INIT;

	fake("icx", "echo Some Compiler 1.0\n");
	fails_with("icx", expected);
	fake("broken", "echo no such toolchain >&2; exit 3\n");
	assert_int_equal(toolchain_probe("broken", folder, &c, &err), -1);
	assert_int_equal(err.code, ERR_ENVIRONMENT);
	assert_non_null(strstr(err.msg, "compiler 'broken' cannot be used"));
	assert_non_null(strstr(err.msg, "no such toolchain"));
	error_release(&err);
}

static void test_newest_clang_wins(void **state)
{
	struct error err = ERROR_INIT;
	struct compiler c;

	assert_int_equal(toolchain_find_clang(folder, &c, &err), -1);
	assert_int_equal(err.code, ERR_ENVIRONMENT);
	assert_non_null(strstr(err.msg, "no usable clang is in PATH"));
	fake("clang", CLANG("14.0.6"));
	add_runtime("clang", "libclang_rt.profile.a");
	fake("clang-9", CLANG("9.0.0"));
	fake("clang-18", CLANG("18.1.8"));
	add_runtime("clang-18", "libclang_rt.profile.a");
	fake("clang-21", CLANG("21.1.0")); /* without a runtime: not usable */
	fake("clang-format-22", "exit 1\n");
	assert_int_equal(toolchain_find_clang(folder, &c, &err), 0);
	assert_int_equal(c.major, 18);
	assert_string_equal(path_basename(c.path), "clang-18");
	compiler_release(&c);
	/* As new as the newest: the plain name. */
	fake("clang", CLANG("18.1.8"));
	assert_int_equal(toolchain_find_clang(folder, &c, &err), 0);
	assert_string_equal(path_basename(c.path), "clang");
	compiler_release(&c);
	forget("clang");
	forget("clang-18");
	assert_int_equal(toolchain_find_clang(folder, &c, &err), -1);
	assert_non_null(strstr(err.msg, "libclang-rt-21-dev"));
	assert_non_null(strstr(err.msg, "whet needs clang 14 or newer"));
	error_release(&err);
}

static bool probe_real(const char *name, struct compiler *c)
{
	struct error err = ERROR_INIT;
	bool ok = toolchain_probe(name, path_list(), c, &err) == 0;

	if (!ok)
		print_message("skipped: %s\n", err.msg);
	error_release(&err);
	return ok;
}

static void check_real_clang(const char *name, int major)
{
	auto_strv struct strv folders = STRV_INIT;
	auto_free char *front = xasprintf("clang %d.", major);
	struct compiler c;

	if (!probe_real(name, &c))
		skip();
	assert_int_equal(c.family, FAMILY_CLANG);
	assert_int_equal(c.major, major);
	assert_int_equal(c.llvm, major);
	assert_memory_equal(c.version, front, strlen(front));
	assert_true(path_exists(c.runtime));
	assert_true(path_is_dir(c.sysroot));
	assert_int_equal(toolchain_folders(&c, &folders, NULL), 0);
	assert_true(strv_has(&folders, c.sysroot));
	assert_false(strv_has(&folders, "/"));
	assert_true(folders.n >= 3);
	for (size_t i = 0; i < folders.n; i++) {
		assert_true(folders.v[i][0] == '/');
		assert_null(strstr(folders.v[i], "/.."));
	}
	compiler_release(&c);
}

static void test_real_clang_14(void **state)
{
	check_real_clang("clang-14", 14);
}

static void test_real_clang_22(void **state)
{
	check_real_clang("clang-22", 22);
}

static bool holds_file(const struct strv *folders, const char *name)
{
	for (size_t i = 0; i < folders->n; i++) {
		auto_free char *path = path_join(folders->v[i], name);

		if (path_exists(path))
			return true;
	}
	return false;
}

static void test_real_gcc(void **state)
{
	auto_strv struct strv folders = STRV_INIT;
	struct compiler c;

	if (!probe_real("gcc", &c))
		skip();
	assert_int_equal(c.family, FAMILY_GCC);
	assert_true(c.major > 4);
	assert_int_equal(c.llvm, 0);
	assert_true(path_exists(c.runtime));
	assert_int_equal(toolchain_folders(&c, &folders, NULL), 0);
	assert_true(holds_file(&folders, "crt1.o"));
	assert_true(holds_file(&folders, "crtbegin.o"));
	assert_true(holds_file(&folders, "libgcc.a"));
	compiler_release(&c);
}

static void test_real_rustc(void **state)
{
	auto_strv struct strv folders = STRV_INIT;
	struct compiler c;

	if (!probe_real("rustc", &c))
		skip();
	assert_int_equal(c.family, FAMILY_RUSTC);
	assert_memory_equal(c.version, "rustc 1.", 8);
	assert_true(c.major >= 60);
	assert_true(c.llvm >= 14);
	assert_true(path_exists(c.runtime));
	assert_non_null(strstr(c.runtime, "/libprofiler_builtins-"));
	assert_int_equal(toolchain_folders(&c, &folders, NULL), 0);
	assert_true(strv_has(&folders, c.sysroot));
	assert_true(holds_file(&folders, "crt1.o"));
	compiler_release(&c);
}

static int make_folder(void **state)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	return tree_remove(folder, NULL);
}

#define LLD(version) "echo '" version " (compatible with GNU linkers)'\n"

/* That of the build's LLVM, else the newest; none that cannot pad. */
static void test_find_lld(void **state)
{
	struct lld l = {0};
	struct error err = ERROR_INIT;
	char before[4096];

	assert_int_equal(toolchain_find_lld(NULL, 0, 22, folder, &l, &err), -1);
	assert_int_equal(err.code, ERR_ENVIRONMENT);
	assert_string_equal(err.msg,
		"relinks with random padding need lld 20 or later, and none is "
		"in PATH; install the package 'lld-22' or a later one");
	fake("ld.lld-19", LLD("Debian LLD 19.1.7"));
	fake("ld.lld-new", LLD("LLD 30.0.0"));
	fake("ld.lld-5", "exit 1\n");
	assert_int_equal(toolchain_find_lld(NULL, 0, 14, folder, &l, &err), -1);
	assert_string_equal(err.msg,
		"relinks with random padding need lld 20 or later, and there is only lld 19.1.7; "
		"install the package 'lld-20' or a later one");
	fake("ld.lld-23", LLD("Debian LLD 23.1.0"));
	fake("ld.lld", LLD("LLD 21.1.2"));
	fake("ld.lld-22", LLD("Homebrew LLD 22.1.8"));
	assert_int_equal(toolchain_find_lld(NULL, 0, 22, folder, &l, &err), 0);
	assert_int_equal(l.major, 22);
	assert_string_equal(l.version, "lld 22.1.8");
	assert_string_equal(path_basename(l.path), "ld.lld-22");
	lld_release(&l);
	assert_int_equal(toolchain_find_lld(NULL, 0, 14, folder, &l, &err), 0);
	assert_string_equal(l.version, "lld 23.1.0");
	lld_release(&l);
	/* Links run in other folders. */
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(folder), 0);
	assert_int_equal(toolchain_find_lld(NULL, 0, 22, ".", &l, &err), 0);
	assert_int_equal(chdir(before), 0);
	assert_int_equal(l.path[0], '/');
	assert_true(path_exists(l.path));
	lld_release(&l);
	error_release(&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing_compilers),
		cmocka_unit_test(test_missing_runtime),
		cmocka_unit_test(test_old_clang),
		cmocka_unit_test(test_both_runtime_layouts),
		cmocka_unit_test(test_unknown_and_broken_compilers),
		cmocka_unit_test(test_newest_clang_wins),
		cmocka_unit_test(test_find_lld),
		cmocka_unit_test(test_real_clang_14),
		cmocka_unit_test(test_real_clang_22),
		cmocka_unit_test(test_real_gcc),
		cmocka_unit_test(test_real_rustc),
		cmocka_unit_test(test_clang_flags),
		cmocka_unit_test(test_rustc_flags),
		cmocka_unit_test(test_mixed_link),
		cmocka_unit_test(test_trace_flags),
		cmocka_unit_test(test_gcc_flags),
		cmocka_unit_test(test_both_kinds),
		cmocka_unit_test(test_takes_part),
		cmocka_unit_test(test_other_flags),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_settings_of_compilers),
		cmocka_unit_test(test_unsilence),
		cmocka_unit_test(test_warnings_are_errors),
		cmocka_unit_test(test_cxx_name),
		cmocka_unit_test(test_clang_tells_of_stale_profile),
		cmocka_unit_test(test_rustc_tells_of_missing_profile),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
