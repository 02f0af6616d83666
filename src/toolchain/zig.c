/* zig as a compiler of C: `zig cc` is clang, by an LLVM of zig's own, with libraries for any
 * version of glibc. cargo-zigbuild compiles and links by it. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "toolchain/internal.h"

/* Debian has no package of it. */
static const char how[] = "install it by 'pip install ziglang', or from its own page";

void zig_release(struct zig *z)
{
	free(z->path);
	free(z->library);
	free(z->version);
	*z = (struct zig){0};
}

/* `zig env` prints .NAME = "VALUE", and "NAME": "VALUE" before 0.15. */
static char *setting(const struct strv *lines, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < lines->n; i++) {
		const char *at = strstr(lines->v[i], name);
		const char *value = at ? strpbrk(at + n, "=:") : NULL;

		value = value ? strchr(value, '"') : NULL;
		if (value)
			return xstrndup(value + 1, strcspn(value + 1, "\""));
	}
	return NULL;
}

/* 1: asked; 0: there is none by these words. */
static int ask_env(const char *program, const char *const *args, const char *path_list,
	struct zig *ret, struct error *err)
{
	auto_free char *path = path_find_program(program, path_list, NULL);
	struct question q = {.path = path, .path_list = path_list};
	auto_strv struct strv lines = STRV_INIT;
	struct error why = ERROR_INIT;

	if (!path)
		return 0;
	if (ask(&q, args, &lines, &why) < 0) {
		bool no_answer = error_is_no_answer(&why);

		if (no_answer)
			return error_move(err, &why);
		error_release(&why);
		return 0;
	}
	ret->path = setting(&lines, "zig_exe");
	ret->library = setting(&lines, "lib_dir");
	ret->version = setting(&lines, "version");
	if (ret->path && ret->library && ret->version)
		return 1;
	zig_release(ret);
	return 0;
}

int toolchain_find_zig(const char *path_list, struct zig *ret, struct error *err)
{
	static const char *const module[] = {"-m", "ziglang", "env", NULL};
	static const char *const alone[] = {"env", NULL};
	const char *python = getenv("CARGO_ZIGBUILD_PYTHON_PATH");
	const char *zig = getenv("CARGO_ZIGBUILD_ZIG_PATH");
	int r;

	*ret = (struct zig){0};
	/* The order in which cargo-zigbuild looks. */
	r = ask_env(python ? python : "python3", module, path_list, ret, err);
	if (r == 0)
		r = ask_env(zig ? zig : "zig", alone, path_list, ret, err);
	if (r < 0)
		return -1;
	return r ? 0
		 : error_set(err, ERR_ENVIRONMENT,
			   "no zig was found: neither 'python3 -m ziglang' nor 'zig' works; %s",
			   how);
}

int toolchain_probe_zig(const char *cc, const struct zig *z, const char *path_list,
	struct compiler *ret, struct error *err)
{
	static const char *const version[] = {"--version", NULL};
	struct question q = {.path = cc, .path_list = path_list};
	auto_strv struct strv lines = STRV_INIT;
	struct compiler c = {.family = FAMILY_CLANG, .zig = true};

	if (ask(&q, version, &lines, err) < 0)
		return error_context(err, "'%s' cannot compile", z->path);
	if (!lines.n || !strstr(lines.v[0], "clang version "))
		return error_set(err, ERR_ENVIRONMENT,
			"'%s cc' says of itself: %s; expected a clang", z->path,
			lines.n ? lines.v[0] : "nothing");
	clang_read_version(&lines, &c);
	c.path = xstrdup(cc);
	c.sysroot = xstrdup(z->library);
	/* One line of both: the same clang is another compiler in another zig. */
	{
		auto_free char *clang = c.version;

		c.version = xasprintf("zig %s (%s)", z->version, clang);
	}
	*ret = c;
	return 0;
}
