/* Which commands each tool gets, and what is told before the first compile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "buildtool/buildtool.h"

static struct build_place place = {
	.source = "/s", .build = "/b", .cc = "clang-22", .cxx = "clang++-22", .jobs = 4};

static void begin(struct plan_build *b, enum build_tool tool, const char *binaries)
{
	*b = (struct plan_build){.tool = tool, .target = (char *)"x86_64-unknown-linux-gnu"};
	strv_split_words(&b->binary, binaries);
}

static void end(struct plan_build *b)
{
	strv_release(&b->binary);
	strv_release(&b->args);
	strv_release(&b->env);
}

/* One line a step, "label[*] cwd: argv" ('*': configure), then the binaries. */
static char *steps_text(const struct plan_build *b)
{
	auto_strv struct strv vars = STRV_INIT;
	struct build_steps s = {0};
	struct error err = ERROR_INIT;
	struct buf out = BUF_INIT;

	strv_add(&vars, "commit=abc");
	strv_add(&vars, "version=1.2");
	if (buildtool_steps(b, &place, &vars, &s, &err) < 0)
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < s.n; i++) {
		auto_free char *argv = strv_shell_quote(&s.v[i].argv);

		buf_addf(&out, "%s%s %s: %s\n", s.v[i].label, s.v[i].configure ? "*" : "",
			s.v[i].cwd, argv);
	}
	for (size_t i = 0; i < s.binaries.n; i++)
		buf_addf(&out, "-> %s\n", s.binaries.v[i]);
	build_steps_release(&s);
	assert_null(s.v);
	return buf_detach(&out);
}

static void steps_are(struct plan_build *b, const char *expected)
{
	auto_free char *text = steps_text(b);

	assert_string_equal(text, expected);
	end(b);
}

static void test_cargo(void **state)
{
	struct plan_build b;

	begin(&b, TOOL_CARGO, "edge edge-ctl");
	strv_split_words(&b.args, "--features tls,{version}");
	steps_are(&b,
		"build /s: cargo build --release --target x86_64-unknown-linux-gnu --target-dir "
		"/b -j4 --locked --bin edge --bin edge-ctl --features tls,1.2\n"
		"-> /b/x86_64-unknown-linux-gnu/release/edge\n"
		"-> /b/x86_64-unknown-linux-gnu/release/edge-ctl\n");
}

static void test_cargo_libraries(void **state)
{
	struct plan_build b;

	begin(&b, TOOL_CARGO, "host libplugin.so libother.so");
	steps_are(&b,
		"build /s: cargo build --release --target x86_64-unknown-linux-gnu --target-dir "
		"/b -j4 --locked --bin host --lib\n"
		"-> /b/x86_64-unknown-linux-gnu/release/host\n"
		"-> /b/x86_64-unknown-linux-gnu/release/libplugin.so\n"
		"-> /b/x86_64-unknown-linux-gnu/release/libother.so\n");
	begin(&b, TOOL_CARGO, "libonly.so");
	steps_are(&b,
		"build /s: cargo build --release --target x86_64-unknown-linux-gnu --target-dir "
		"/b -j4 --locked --lib\n"
		"-> /b/x86_64-unknown-linux-gnu/release/libonly.so\n");
}

static void test_cargo_front_ends(void **state)
{
	struct plan_build b;

	begin(&b, TOOL_CARGO, "a");
	b.cargo = (char *)"cargo zigbuild";
	b.target = (char *)"x86_64-unknown-linux-gnu.2.17";
	steps_are(&b, "build /s: cargo zigbuild --release --target x86_64-unknown-linux-gnu.2.17 "
		      "--target-dir /b -j4 --locked --bin a\n"
		      "-> /b/x86_64-unknown-linux-gnu/release/a\n");
	begin(&b, TOOL_CARGO, "a");
	b.cargo = (char *)"tools/front build";
	steps_are(&b, "build /s: /s/tools/front build --release --target x86_64-unknown-linux-gnu "
		      "--target-dir /b -j4 --locked --bin a\n"
		      "-> /b/x86_64-unknown-linux-gnu/release/a\n");
	begin(&b, TOOL_CARGO, "a");
	b.cargo = (char *)"cargo +nightly";
	strv_split_words(&b.args, "--profile dist --frozen");
	steps_are(&b,
		"build /s: cargo +nightly build --target x86_64-unknown-linux-gnu --target-dir "
		"/b -j4 --bin a --profile dist --frozen\n"
		"-> /b/x86_64-unknown-linux-gnu/dist/a\n");
}

static void rust_target_is(const char *target, const char *expected)
{
	struct plan_build b = {.tool = TOOL_CARGO, .target = (char *)target};
	auto_free char *bare = buildtool_rust_target(&b);

	assert_string_equal(bare, expected);
}

static void test_rust_target(void **state)
{
	rust_target_is("x86_64-unknown-linux-gnu", "x86_64-unknown-linux-gnu");
	rust_target_is("x86_64-unknown-linux-gnu.2.28", "x86_64-unknown-linux-gnu");
	rust_target_is("aarch64-unknown-linux-gnu.2", "aarch64-unknown-linux-gnu");
	rust_target_is("thumbv8m.main-none-eabihf", "thumbv8m.main-none-eabihf");
	rust_target_is("riscv32", "riscv32");
	rust_target_is("odd.", "odd.");
	rust_target_is("custom.json", "custom.json");
}

static void fails(struct plan_build *b, const char *expected)
{
	struct build_steps s = {.n = 77};
	struct error err = ERROR_INIT;

	assert_int_equal(buildtool_steps(b, &place, NULL, &s, &err), -1);
	assert_int_equal(err.code, ERR_CONFIG);
	assert_string_equal(err.msg, expected);
	assert_int_equal(s.n, 77);
	error_release(&err);
	end(b);
}

static void test_refused_arguments(void **state)
{
	struct plan_build b;

	begin(&b, TOOL_CARGO, "a");
	strv_add(&b.args, "--target=wasm32-wasi");
	fails(&b,
		"build.args may not hold '--target=wasm32-wasi'; give the triple by build.target");
	begin(&b, TOOL_CARGO, "a");
	strv_split_words(&b.args, "--target-dir x");
	fails(&b, "build.args may not hold '--target-dir': whet keeps its own target folders");
	begin(&b, TOOL_COMMAND, "a");
	fails(&b, "build lacks the key 'run': with 'tool: command' it is the command that builds");
}

static void test_cmake(void **state)
{
	struct plan_build b;

	begin(&b, TOOL_CMAKE, "bin/app");
	strv_add(&b.args, "-DX={source}/y z");
	steps_are(&b, "configure* /s: cmake -S /s -B /b -DCMAKE_BUILD_TYPE=Release '-DX=/s/y z'\n"
		      "build /b: cmake --build /b --parallel 4\n-> /b/bin/app\n");
	begin(&b, TOOL_CMAKE, "app");
	strv_add(&b.args, "-DCMAKE_BUILD_TYPE:STRING=RelWithDebInfo");
	b.run = (char *)"cmake --build {build} -j{jobs} --target app";
	steps_are(&b, "configure* /s: cmake -S /s -B /b -DCMAKE_BUILD_TYPE:STRING=RelWithDebInfo\n"
		      "build /b: sh -c 'cmake --build /b -j4 --target app'\n-> /b/app\n");
}

static void test_meson(void **state)
{
	struct plan_build b;

	begin(&b, TOOL_MESON, "src/app");
	steps_are(&b, "configure* /s: meson setup --buildtype=release /b /s\n"
		      "build /b: ninja -C /b -j4\n-> /b/src/app\n");
}

static void test_make_and_autotools(void **state)
{
	struct plan_build b;

	begin(&b, TOOL_MAKE, "objs/nginx");
	strv_add(&b.args, "CC={cc}");
	b.configure = (char *)"./configure --with-cc={cc}";
	steps_are(&b, "configure* /s: sh -c './configure --with-cc=clang-22'\n"
		      "build /s: make -j4 CC=clang-22\n-> /s/objs/nginx\n");
	begin(&b, TOOL_MAKE, "app");
	steps_are(&b, "build /s: make -j4\n-> /s/app\n");
	begin(&b, TOOL_AUTOTOOLS, "src/app");
	strv_add(&b.args, "--prefix=/a b");
	steps_are(&b, "configure* /s: sh -c './configure '\\''--prefix=/a b'\\'''\n"
		      "build /s: make -j4\n-> /s/src/app\n");
}

static void test_another_machine(void **state)
{
	auto_strv struct strv emulator = STRV_INIT;
	struct target target;
	struct build_cross cross = {.target = &target,
		.ar = "/bin/t-ar",
		.ranlib = "/bin/t-ranlib",
		.strip = "/bin/t-strip",
		.pkg_config = "/l/a:/l/b",
		.emulator = &emulator,
		.meson_file = "/w/cross.ini"};
	const struct build_place native = place;
	auto_free char *text = NULL, *host = target_host_gnu(), *expected = NULL;
	struct plan_build b;

	target_read("aarch64-unknown-linux-gnu", &target);
	strv_split_words(&emulator, "qemu -L /r");
	place.cross = &cross;
	place.cc = "clang --target=aarch64-linux-gnu";
	begin(&b, TOOL_CMAKE, "app");
	strv_add(&b.args, "-DCMAKE_RANLIB=own");
	steps_are(&b, "configure* /s: cmake -S /s -B /b -DCMAKE_BUILD_TYPE=Release "
		      "-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 "
		      "-DCMAKE_AR=/bin/t-ar '-DCMAKE_CROSSCOMPILING_EMULATOR=qemu;-L;/r' "
		      "-DCMAKE_RANLIB=own\nbuild /b: cmake --build /b --parallel 4\n-> /b/app\n");
	begin(&b, TOOL_CMAKE, "app");
	strv_add(&b.args, "-DCMAKE_TOOLCHAIN_FILE=own.cmake");
	steps_are(&b, "configure* /s: cmake -S /s -B /b -DCMAKE_BUILD_TYPE=Release "
		      "-DCMAKE_TOOLCHAIN_FILE=own.cmake\n"
		      "build /b: cmake --build /b --parallel 4\n-> /b/app\n");
	begin(&b, TOOL_MESON, "app");
	steps_are(&b, "configure* /s: meson setup --buildtype=release --cross-file /w/cross.ini "
		      "/b /s\nbuild /b: ninja -C /b -j4\n-> /b/app\n");
	begin(&b, TOOL_AUTOTOOLS, "app");
	expected = xasprintf("configure* /s: sh -c './configure --build=%s "
			     "--host=aarch64-linux-gnu'\nbuild /s: make -j4\n-> /s/app\n",
		host);
	steps_are(&b, expected);
	begin(&b, TOOL_MAKE, "app");
	strv_add(&b.args, "CC={cc} -O");
	strv_add(&b.args, "AR={ar}");
	strv_add(&b.args, "T={target}");
	b.target = (char *)"aarch64-unknown-linux-gnu";
	steps_are(&b, "build /s: make -j4 'CC=clang --target=aarch64-linux-gnu -O' AR=/bin/t-ar "
		      "T=aarch64-linux-gnu\n-> /s/app\n");
	text = buildtool_meson_file(&cross, place.cc, "c++");
	assert_string_equal(text,
		"[binaries]\nc = ['clang', '--target=aarch64-linux-gnu']\ncpp = ['c++']\n"
		"ar = ['/bin/t-ar']\nstrip = ['/bin/t-strip']\npkg-config = ['pkg-config']\n"
		"exe_wrapper = ['qemu', '-L', '/r']\n[properties]\n"
		"pkg_config_libdir = ['/l/a', '/l/b']\n[host_machine]\nsystem = 'linux'\n"
		"cpu_family = 'aarch64'\ncpu = 'aarch64'\nendian = 'little'\n");
	place = native;
	target_release(&target);
}

static void test_command(void **state)
{
	struct plan_build b;

	begin(&b, TOOL_COMMAND, "out/app");
	b.configure = (char *)"echo ${HOME} {version}";
	b.run = (char *)"./build.sh {cc} {cxx} {jobs} {commit}";
	steps_are(&b, "configure* /s: sh -c 'echo ${HOME} 1.2'\n"
		      "build /s: sh -c './build.sh clang-22 clang++-22 4 abc'\n-> /s/out/app\n");
}

static void environment_is(const struct plan_build *b, const char *expected)
{
	auto_strv struct strv vars = STRV_INIT;
	auto_free char *joined = NULL;
	struct build_steps s = {0};

	strv_add(&vars, "commit=abc");
	assert_int_equal(buildtool_steps(b, &place, &vars, &s, NULL), 0);
	joined = strv_join(&s.v[s.n - 1].env, " ");
	assert_string_equal(joined, expected);
	build_steps_release(&s);
}

static void test_environment(void **state)
{
	struct plan_build b;

	begin(&b, TOOL_MAKE, "a");
	strv_add(&b.env, "SHA={commit}");
	environment_is(&b, "SHA=abc CC=clang-22 CXX=clang++-22");
	strv_add(&b.env, "CC=mycc");
	environment_is(&b, "SHA=abc CC=mycc CXX=clang++-22");
	/* crates find their C compiler by themselves, unless one is asked for. */
	b.tool = TOOL_CARGO;
	environment_is(&b, "SHA=abc CC=mycc");
	end(&b);
	begin(&b, TOOL_CARGO, "a");
	environment_is(&b, "");
	b.compiler = (char *)"clang-22";
	environment_is(&b, "CC=clang-22 CXX=clang++-22");
	end(&b);
}

static void test_in_tree(void **state)
{
	assert_false(buildtool_in_tree(TOOL_CARGO));
	assert_false(buildtool_in_tree(TOOL_CMAKE));
	assert_false(buildtool_in_tree(TOOL_MESON));
	assert_true(buildtool_in_tree(TOOL_MAKE));
	assert_true(buildtool_in_tree(TOOL_AUTOTOOLS));
	assert_true(buildtool_in_tree(TOOL_COMMAND));
}

static char folder[] = "/tmp/whet-buildtool-XXXXXX";

static void touch(const char *name)
{
	auto_free char *path = path_join(folder, name);

	assert_int_equal(file_write_atomic(path, "", 0, 0644, NULL), 0);
}

static void check_says(
	enum build_tool tool, const char *source, enum error_code code, const char *expected)
{
	struct error err = ERROR_INIT;
	struct plan_build b;

	begin(&b, tool, "a");
	assert_int_equal(buildtool_check(&b, source, &err), -1);
	assert_int_equal(err.code, code);
	if (!strstr(err.msg, expected))
		fail_msg("expected '%s' in: %s", expected, err.msg);
	error_release(&err);
	end(&b);
}

static void test_check_sources(void **state)
{
	check_says(TOOL_CARGO, "/no/such/folder", ERR_CONFIG,
		"the source folder '/no/such/folder' does not exist; see build.dir");
	check_says(TOOL_CARGO, folder, ERR_CONFIG, "has no Cargo.toml; set build.dir");
	touch("Cargo.toml");
	check_says(TOOL_CARGO, folder, ERR_CONFIG, "run 'cargo generate-lockfile' there");
	check_says(TOOL_CMAKE, folder, ERR_CONFIG, "has no CMakeLists.txt");
	check_says(TOOL_MESON, folder, ERR_CONFIG, "has no meson.build");
	check_says(TOOL_AUTOTOOLS, folder, ERR_CONFIG, "has no configure script; set build.dir");
	touch("configure.ac");
	check_says(TOOL_AUTOTOOLS, folder, ERR_CONFIG,
		"set build.configure to 'autoreconf -fi && ./configure'");
	check_says(TOOL_MAKE, folder, ERR_CONFIG, "has no Makefile");
	touch("configure");
	check_says(TOOL_MAKE, folder, ERR_CONFIG, "tool: autotools");
}

static void test_check_workspace_member(void **state)
{
	auto_free char *member = path_join(folder, "member");
	struct plan_build b;
	struct error err = ERROR_INIT;

	assert_int_equal(dir_create(member, 0755, NULL), 0);
	touch("Cargo.toml");
	touch("Cargo.lock");
	touch("member/Cargo.toml");
	begin(&b, TOOL_CARGO, "a");
	if (buildtool_check(&b, member, &err) < 0)
		assert_int_equal(err.code, ERR_ENVIRONMENT); /* cargo is not installed */
	error_release(&err);
	end(&b);
}

static void test_check_programs(void **state)
{
	auto_free char *path = xstrdup(getenv("PATH"));

	touch("meson.build");
	assert_int_equal(setenv("PATH", "/nonexistent", 1), 0);
	check_says(TOOL_MESON, folder, ERR_ENVIRONMENT,
		"'meson' is not in PATH; install the Debian package 'meson'\n"
		"'ninja' is not in PATH; install the Debian package 'ninja-build'");
	assert_int_equal(setenv("PATH", path, 1), 0);
}

static int make_folder(void **state)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	return tree_remove(folder, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cargo),
		cmocka_unit_test(test_cargo_libraries),
		cmocka_unit_test(test_cargo_front_ends),
		cmocka_unit_test(test_rust_target),
		cmocka_unit_test(test_refused_arguments),
		cmocka_unit_test(test_cmake),
		cmocka_unit_test(test_meson),
		cmocka_unit_test(test_make_and_autotools),
		cmocka_unit_test(test_another_machine),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_in_tree),
		cmocka_unit_test(test_check_sources),
		cmocka_unit_test(test_check_workspace_member),
		cmocka_unit_test(test_check_programs),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
