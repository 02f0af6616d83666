#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "wrap/launcher.h"
#include "wrap/node.h"
#include "wrap/shim.h"
#include "wrap/thin.h"
#include "wrap/units.h"
#include "wrap/wrap.h"

static struct compiler clang = {.path = "/usr/bin/clang-22",
	.family = FAMILY_CLANG,
	.llvm = 22,
	.version = "clang 22.1.8",
	.target = "x86_64-pc-linux-gnu",
	.sysroot = "/usr/lib/llvm-22"};

static const char *const profile[] = {"/a/profiles/1234.profdata"};

static struct wrap_node example(void)
{
	return (struct wrap_node){.build = {.mode = MODE_OPTIMISED},
		.compilers = &clang,
		.n_compilers = 1,
		.slot = "/a/slot",
		.profiles = profile};
}

static void token(void **state)
{
	struct wrap_node n = example();
	char first[65], other[65];

	wrap_token(&n, first);
	assert_int_equal(strlen(first), 64);
	wrap_token(&n, other);
	assert_string_equal(first, other);
	/* the same profile elsewhere is the same configuration */
	n.profiles = (const char *const[]){"/b/1234.profdata"};
	n.slot = "/b/slot";
	wrap_token(&n, other);
	assert_string_equal(first, other);
	n.profiles = (const char *const[]){"/a/profiles/5678.profdata"};
	wrap_token(&n, other);
	assert_string_not_equal(first, other);
	n = example();
	n.build.mode = MODE_INSTRUMENTED;
	wrap_token(&n, other);
	assert_string_not_equal(first, other);
	n = example();
	n.target = "aarch64-unknown-linux-gnu";
	wrap_token(&n, other);
	assert_string_not_equal(first, other);
	n = example();
	n.cross = "aarch64-linux-gnu";
	wrap_token(&n, other);
	assert_string_not_equal(first, other);
	n = example();
	n.relinks = 5;
	n.released = &(struct strv)STRV_INIT;
	wrap_token(&n, other);
	assert_string_not_equal(first, other);
	clang.version = "clang 22.1.9";
	n = example();
	wrap_token(&n, other);
	clang.version = "clang 22.1.8";
	assert_string_not_equal(first, other);
}

static void environment(void **state)
{
	struct wrap_node n = example();
	auto_strv struct strv env = STRV_INIT;

	n.folder = "/a/shims";
	n.node_file = "/a/node.json";
	n.quarantine = "/a/quarantine";
	strv_add(&env, "PATH=/usr/bin:/a/shims:/bin");
	strv_add(&env, "RUSTC_WRAPPER=sccache");
	strv_add(&env, "CC=clang-19");
	strv_add(&env, "CMAKE_C_COMPILER_LAUNCHER=ccache");
	wrap_environment(&n, true, &env);
	assert_string_equal(env_get(&env, "PATH"), "/a/shims:/usr/bin:/bin");
	assert_string_equal(env_get(&env, "RUSTC_WRAPPER"), "/a/shims/whet-rustc");
	assert_string_equal(env_get(&env, "WHET_RUSTC_WRAPPER"), "sccache");
	assert_string_equal(env_get(&env, "WHET_NODE"), "/a/node.json");
	assert_string_equal(env_get(&env, "WHET_OBSERVE"), "1");
	assert_string_equal(env_get(&env, "LLVM_PROFILE_FILE"), "/a/quarantine/%p.profraw");
	assert_string_equal(env_get(&env, "GCOV_PREFIX"), "/a/quarantine");
	assert_string_equal(env_get(&env, "CC"), "clang-19");
	assert_string_equal(env_get(&env, "CMAKE_C_COMPILER_LAUNCHER"), "ccache");
	/* a second time: the own wrapper is not chained inside itself */
	wrap_environment(&n, false, &env);
	assert_string_equal(env_get(&env, "PATH"), "/a/shims:/usr/bin:/bin");
	assert_string_equal(env_get(&env, "WHET_RUSTC_WRAPPER"), "sccache");
	assert_null(env_get(&env, "WHET_OBSERVE"));
}

/* cargo's order: the variable, an empty one too; else its settings. */
static void rustc_wrapper(void **state)
{
	auto_strv struct strv env = STRV_INIT, empty = STRV_INIT;
	struct wrap_node n = {.folder = "/a/shims", .node_file = "/a/n", .rustc_wrapper = "/t/x"};

	strv_add(&env, "PATH=/bin");
	wrap_environment(&n, false, &env);
	assert_string_equal(env_get(&env, "WHET_RUSTC_WRAPPER"), "/t/x");
	strv_add(&empty, "PATH=/bin");
	strv_add(&empty, "RUSTC_WRAPPER=");
	wrap_environment(&n, false, &empty);
	assert_null(env_get(&empty, "WHET_RUSTC_WRAPPER"));
	assert_string_equal(env_get(&empty, "RUSTC_WRAPPER"), "/a/shims/whet-rustc");
}

/* In front of the shim every launcher does nothing; behind it the user's settings hold again. */
static void launcher_variables(void **state)
{
	auto_strv struct strv env = STRV_INIT;
	const struct launcher *ccache = launcher_named("ccache");

	strv_add(&env, "CCACHE_PATH=/opt/bin");
	strv_add(&env, "DISTCC_HOSTS=far/8");
	strv_add(&env, "CCACHE_NAMESPACE=mine");
	strv_add(&env, "CCACHE_NOCPP2=1");
	launchers_switch_off(&env, "/a/shims");
	launchers_switch_off(&env, "/a/shims");
	assert_string_equal(env_get(&env, "CCACHE_DISABLE"), "1");
	assert_string_equal(env_get(&env, "CCACHE_PREFIX"), "/a/shims/whet-behind-ccache");
	assert_string_equal(env_get(&env, "CCACHE_PATH"), "/a/shims:/opt/bin");
	assert_string_equal(env_get(&env, "SCCACHE_NO_CACHE"), "1");
	assert_string_equal(env_get(&env, "DISTCC_HOSTS"), "localhost");
	launchers_restore(&env);
	assert_null(env_get(&env, "CCACHE_DISABLE"));
	assert_null(env_get(&env, "CCACHE_PREFIX"));
	assert_null(env_get(&env, "SCCACHE_NO_CACHE"));
	assert_string_equal(env_get(&env, "CCACHE_PATH"), "/opt/bin");
	assert_string_equal(env_get(&env, "DISTCC_HOSTS"), "far/8");
	assert_false(launcher_is_off(ccache, &env));
	launcher_behind(ccache, "t0", &env);
	assert_string_equal(env_get(&env, "CCACHE_NAMESPACE"), "mine-t0");
	assert_string_equal(env_get(&env, "SCCACHE_C_CUSTOM_CACHE_BUSTER"), "t0");
	assert_string_equal(env_get(&env, "CCACHE_CPP2"), "1");
	assert_null(env_get(&env, "CCACHE_NOCPP2"));
}

/* A cache that the user switched off stays off, in front and behind. */
static void launcher_off(void **state)
{
	auto_strv struct strv env = STRV_INIT;

	strv_add(&env, "CCACHE_DISABLE=1");
	launchers_switch_off(&env, "/a/shims");
	assert_null(env_get(&env, "CCACHE_PREFIX"));
	launchers_restore(&env);
	assert_true(launcher_is_off(launcher_named("ccache"), &env));
	assert_false(launcher_is_off(launcher_named("distcc"), &env));
}

static void launcher_calls(void **state)
{
	struct node_tool tools[] = {{.name = "cc", .path = "/nonexistent/cc"},
		{.name = "clang", .path = "/nonexistent/clang"}};
	struct shim_node n = {.folder = "/a/shims", .tools = tools, .n_tools = 2};
	static const struct {
		const char *words[6];
		int tool, place; /* tool -1: the launcher's own call */
	} calls[] = {
		{{"ccache", "clang", "-c"}, 1, 1},
		{{"ccache", "/a/shims/cc", "-c"}, 0, 1},
		{{"ccache", "distcc", "clang", "-c"}, 1, 2},
		{{"ccache", "debug=true", "cc"}, 0, 2},
		{{"ccache", "-s"}, -1, 0},
		{{"ccache"}, -1, 0},
		{{"distcc", "-c", "cc"}, -1, 0},
		{{"ccache", "/opt/other/clang", "-c"}, -1, 1},
		{{"sccache", "rustc", "x.rs"}, -1, 1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		const struct node_tool *t;
		int argc = 0, place = 0;

		while (calls[i].words[argc])
			argc++;
		t = launcher_compiler(&n, argc, (char **)(uintptr_t)calls[i].words, &place);
		assert_ptr_equal(t, calls[i].tool < 0 ? NULL : &tools[calls[i].tool]);
		assert_int_equal(place, calls[i].place);
	}
	assert_string_equal(launcher_named("whet-behind-ccache")->name, "ccache");
	assert_null(launcher_named("clang"));
	assert_null(launcher_named("whet-behind-"));
}

static void node_file(void **state)
{
	char path[] = "/tmp/whet-node-XXXXXX";
	struct shim_node n = {.mode = MODE_OPTIMISED,
		.folder = "/f",
		.space = "sp",
		.log = "/l",
		.slot = "/s",
		.evidence = "/e",
		.relinks = 5,
		.relinker = "/ld.lld"};
	struct node_tool t = {
		.name = "cc", .path = "/usr/bin/cc", .family = FAMILY_GCC, .compiler = -1};
	struct shim_node back;
	struct error err = ERROR_INIT;
	static const char *const bad[] = {"", "{}", "[]", "{\"format\":\"whet shim node 2\"}",
		"{\"format\":\"whet shim node 2\",\"mode\":9}",
		"{\"format\":\"whet shim node "
		"1\",\"mode\":0,\"folder\":\"\",\"log\":\"\",\"slot\":\"\",\"evidence\":\"\","
		"\"tools\":"
		"[{\"name\":\"cc\",\"path\":\"x\",\"family\":0,\"compiler\":0}]}"};

	close(mkstemp(path));
	strv_add(&n.released, "tally");
	n.tools = &t;
	n.n_tools = 1;
	assert_int_equal(shim_node_write(&n, path, &err), 0);
	assert_int_equal(shim_node_read(path, &back, &err), 0);
	assert_int_equal(back.mode, MODE_OPTIMISED);
	assert_string_equal(shim_node_tool(&back, "cc")->path, "/usr/bin/cc");
	assert_int_equal(shim_node_tool(&back, "cc")->compiler, -1);
	assert_null(shim_node_tool(&back, "gcc"));
	assert_null(back.target);
	assert_int_equal(back.relinks, 5);
	assert_string_equal(back.relinker, "/ld.lld");
	assert_int_equal(back.released.n, 1);
	shim_node_release(&back);
	strv_release(&n.released);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(file_write_atomic(path, bad[i], strlen(bad[i]), 0644, NULL), 0);
		assert_int_equal(shim_node_read(path, &back, &err), -1);
		assert_non_null(strstr(err.msg, path));
	}
	error_release(&err);
	unlink(path);
}

static void units(void **state)
{
	char *inputs[] = {"src/a.c", NULL};
	struct compile_record c = {.kind = CALL_COMPILE,
		.cwd = "/a/slot/build",
		.inputs = {.v = inputs, .n = 1},
		.output = "/a/slot/build/obj/a.o"};
	struct compile_record r = {.kind = CALL_RUSTC, .crate_name = "edge", .metadata = "12"};
	static const struct {
		const char *file, *unit;
	} rust[] = {{"edge-34.edge.2eaa-cgu.0.rcgu.o", "crate edge 12 edge.2eaa-cgu.0"},
		{"edge-34.edge.2eaa-cgu.13.0x9zrnd.rcgu.o", "crate edge 12 edge.2eaa-cgu.13"},
		{"edge-34.40rdxa1ufo.rcgu.o", "crate edge 12 40rdxa1ufo"},
		{"edge-34.40rdxa1ufo.11g82ir.rcgu.o", "crate edge 12 40rdxa1ufo"},
		{"symbols.o", "crate edge 12 symbols.o"}};
	struct link_input in = {.path = "/a/slot/build/obj/a.o"};
	auto_free char *unit = unit_name(&c, &in, "/a/slot");

	assert_string_equal(unit, "build/src/a.c > build/obj/a.o");
	for (size_t i = 0; i < ARRAY_SIZE(rust); i++) {
		auto_free char *path = path_join("/tmp/rustcAbC123", rust[i].file);
		auto_free char *name = NULL;

		in.path = path;
		name = unit_name(&r, &in, "/a/slot");
		assert_string_equal(name, rust[i].unit);
	}
}

#define HEADER(name, size) name "0           0     0     644     " size "`\n"

static int collect(void *ctx, const char *name, const char *file, struct error *err)
{
	strv_addf(ctx, "%s=%s", name, file);
	return 0;
}

static void thin(void **state)
{
	static const char archive[] = "!<thin>\n" HEADER(
		"/               ", "4         ") "\0\0\0\0" HEADER("//              ",
		"18        ") "long-file-name.o/\n" HEADER("b.o/            ", "900       ")
		HEADER("/0              ", "77        ");
	struct file_map f = {.p = (const uint8_t *)archive, .n = sizeof(archive) - 1};
	auto_strv struct strv names = STRV_INIT;
	struct error err = ERROR_INIT;

	assert_int_equal(thin_walk(&f, "/s/sub/libx.a", collect, &names, &err), 0);
	assert_int_equal(names.n, 2);
	assert_string_equal(names.v[0], "b.o=/s/sub/b.o");
	assert_string_equal(names.v[1], "long-file-name.o=/s/sub/long-file-name.o");
	for (size_t n = 8; n < sizeof(archive) - 1; n++) {
		auto_strv struct strv some = STRV_INIT;

		f.n = n;
		(void)thin_walk(&f, "/s/libx.a", collect, &some, &err);
	}
	error_release(&err);
}

static void may_become(void **state)
{
	assert_true(shim_may_become("tally", "tally"));
	assert_true(shim_may_become("tally.full", "tally"));
	assert_true(shim_may_become("a_b-0123456789abcdef", "a-b"));
	assert_true(shim_may_become("libx.so.1.2", "libx.so.1"));
	assert_true(shim_may_become(".hidden", ".hidden"));
	assert_false(shim_may_become("a.out", "tally"));
	assert_false(shim_may_become("tall", "tally"));
	assert_false(shim_may_become(".other", ".hidden"));
	assert_false(shim_may_become("", "tally"));
}

/* Where there is no relink, the reason is told. */
static void no_relink(void **state)
{
	char folder[] = "/tmp/whet-relinks-XXXXXX";
	auto_strv struct strv names = STRV_INIT;
	struct compile_record records[] = {{.id = "1", .output = "/s/tally"},
		{.id = "2", .output = "/s/a.out"}, {.id = "3", .output = "/s/tally"}};
	struct compile_log log = {.v = records, .n = 3};
	struct wrap_node n = {.log = folder, .released = &names};
	static const struct {
		const char *link, *says;
	} cases[] = {
		{"1", "lld cannot repeat the link: ld.lld: error: bad"},
		{"2", "its link makes 'a.out', whose name does not begin like its own"},
		{"3", "its link was done by an earlier build; `whet clean` has it done again"},
		{"4", "its link was not recorded"},
		{NULL, "its link was not recorded"},
	};
	static const char words[] = "x\nld.lld: error: bad\nlast\n";
	auto_free char *sub = NULL, *output = NULL, *file = NULL, *got = NULL;

	assert_non_null(mkdtemp(folder));
	strv_add(&names, "tally");
	sub = path_join(folder, ".1.relinks");
	output = path_join(sub, "output");
	file = path_join(sub, "1");
	assert_int_equal(dir_create(sub, 0755, NULL), 0);
	assert_int_equal(file_write_atomic(output, words, strlen(words), 0644, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_free char *why = NULL;

		assert_null(wrap_relink(&log, &n, cases[i].link, 2, &why));
		assert_string_equal(why, cases[i].says);
	}
	assert_int_equal(file_write_atomic(file, "", 0, 0755, NULL), 0);
	got = wrap_relink(&log, &n, "1", 1, NULL);
	assert_string_equal(got, file);
	assert_int_equal(tree_remove(folder, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(token), cmocka_unit_test(environment),
		cmocka_unit_test(rustc_wrapper), cmocka_unit_test(launcher_variables),
		cmocka_unit_test(launcher_off), cmocka_unit_test(launcher_calls),
		cmocka_unit_test(node_file), cmocka_unit_test(units), cmocka_unit_test(thin),
		cmocka_unit_test(may_become), cmocka_unit_test(no_relink)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
