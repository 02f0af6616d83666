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
#include "wrap/node.h"
#include "wrap/thin.h"
#include "wrap/units.h"
#include "wrap/wrap.h"

static struct compiler clang = {.path = "/usr/bin/clang-22",
	.family = FAMILY_CLANG,
	.llvm = 22,
	.version = "clang 22.1.8",
	.target = "x86_64-pc-linux-gnu",
	.sysroot = "/usr/lib/llvm-22"};

static struct wrap_node example(void)
{
	return (struct wrap_node){.mode = MODE_OPTIMISED,
		.compilers = &clang,
		.n_compilers = 1,
		.slot = "/a/slot",
		.profile = "/a/profiles/1234.profdata"};
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
	n.profile = "/b/1234.profdata";
	n.slot = "/b/slot";
	wrap_token(&n, other);
	assert_string_equal(first, other);
	n.profile = "/a/profiles/5678.profdata";
	wrap_token(&n, other);
	assert_string_not_equal(first, other);
	n = example();
	n.mode = MODE_INSTRUMENTED;
	wrap_token(&n, other);
	assert_string_not_equal(first, other);
	n = example();
	n.target = "aarch64-unknown-linux-gnu";
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
	n.token = "t0";
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
	assert_string_equal(env_get(&env, "CCACHE_NAMESPACE"), "t0");
	assert_string_equal(env_get(&env, "CC"), "clang-19");
	assert_null(env_get(&env, "CMAKE_C_COMPILER_LAUNCHER"));
	/* a second time: the own wrapper is not chained inside itself */
	wrap_environment(&n, false, &env);
	assert_string_equal(env_get(&env, "PATH"), "/a/shims:/usr/bin:/bin");
	assert_string_equal(env_get(&env, "WHET_RUSTC_WRAPPER"), "sccache");
	assert_null(env_get(&env, "WHET_OBSERVE"));
}

static void node_file(void **state)
{
	char path[] = "/tmp/whet-node-XXXXXX";
	struct shim_node n = {.mode = MODE_OPTIMISED,
		.folder = "/f",
		.log = "/l",
		.slot = "/s",
		.evidence = "/e"};
	struct node_tool t = {
		.name = "cc", .path = "/usr/bin/cc", .family = FAMILY_GCC, .compiler = -1};
	struct shim_node back;
	struct error err = ERROR_INIT;
	static const char *const bad[] = {"", "{}", "[]", "{\"format\":\"whet shim node 1\"}",
		"{\"format\":\"whet shim node 1\",\"mode\":9}",
		"{\"format\":\"whet shim node "
		"1\",\"mode\":0,\"folder\":\"\",\"log\":\"\",\"slot\":\"\",\"evidence\":\"\","
		"\"tools\":"
		"[{\"name\":\"cc\",\"path\":\"x\",\"family\":0,\"compiler\":0}]}"};

	close(mkstemp(path));
	n.tools = &t;
	n.n_tools = 1;
	assert_int_equal(shim_node_write(&n, path, &err), 0);
	assert_int_equal(shim_node_read(path, &back, &err), 0);
	assert_int_equal(back.mode, MODE_OPTIMISED);
	assert_string_equal(shim_node_tool(&back, "cc")->path, "/usr/bin/cc");
	assert_int_equal(shim_node_tool(&back, "cc")->compiler, -1);
	assert_null(shim_node_tool(&back, "gcc"));
	assert_null(back.target);
	shim_node_release(&back);
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

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(token), cmocka_unit_test(environment),
		cmocka_unit_test(node_file), cmocka_unit_test(units), cmocka_unit_test(thin)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
