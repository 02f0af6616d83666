#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "toolchain/internal.h"

#define ASK_TIMEOUT (60 * NS_PER_S) /* a rustup proxy may fetch its toolchain first */

void compiler_release(struct compiler *c)
{
	free(c->path);
	free(c->version);
	free(c->target);
	free(c->runtime);
	free(c->sysroot);
	free(c->linker);
	free(c->resource);
	strv_release(&c->words);
	*c = (struct compiler){0};
}

int ask(const struct question *q, const char *const *args, struct strv *ret, struct error *err)
{
	struct proc_options o = PROC_OPTIONS_INIT;
	auto_strv struct strv argv = STRV_INIT, env = STRV_INIT;

	strv_add(&argv, q->path);
	if (q->words)
		strv_add_all(&argv, q->words);
	for (; *args; args++)
		strv_add(&argv, *args);
	env_copy_current(&env);
	env_set(&env, "PATH", q->path_list);
	env_set(&env, "LC_ALL", "C");
	env_set(&env, "RUSTC_WRAPPER", NULL);
	o.argv = &argv;
	o.env = &env;
	o.cwd = q->folder;
	o.new_group = true;
	return proc_capture(&o, ASK_TIMEOUT, ret, err);
}

int ask_line(const struct question *q, const char *arg, char **ret, struct error *err)
{
	const char *args[] = {arg, NULL};
	auto_strv struct strv lines = STRV_INIT;

	if (ask(q, args, &lines, err) < 0)
		return -1;
	*ret = xstrdup(lines.n ? lines.v[0] : "");
	return 0;
}

int ask_file(const struct question *q, const char *name, char **ret, struct error *err)
{
	auto_free char *arg = xasprintf("-print-file-name=%s", name);
	auto_free char *line = NULL;
	struct error why = ERROR_INIT;

	*ret = NULL;
	if (ask_line(q, arg, &line, &why) < 0) {
		if (error_is_no_answer(&why))
			return error_move(err, &why);
		error_release(&why);
		return 0;
	}
	if (line[0] == '/' && path_exists(line))
		*ret = path_clean(line);
	return 0;
}

int leading_int(const char *text)
{
	int v = 0;

	for (; *text >= '0' && *text <= '9' && v < 100000; text++)
		v = v * 10 + (*text - '0');
	return v < 100000 ? v : 0;
}

static bool is_numbered(const char *name, const char *stem)
{
	size_t n = strlen(stem);

	return !strncmp(name, stem, n) && name[n] && !name[n + strspn(name + n, "0123456789")];
}

static int not_found(const char *name, struct error *err)
{
	if (is_numbered(name, "clang-") || is_numbered(name, "gcc-") || !strcmp(name, "clang") ||
		!strcmp(name, "gcc"))
		return error_set(err, ERR_ENVIRONMENT,
			"compiler '%s' is not in PATH; install the Debian package '%s'", name,
			name);
	if (!strcmp(name, "rustc"))
		return error_set(err, ERR_ENVIRONMENT,
			"compiler 'rustc' is not in PATH; install Rust by rustup "
			"(https://rustup.rs), or the "
			"Debian package 'rustc'");
	if (strchr(name, '/'))
		return error_set(err, ERR_ENVIRONMENT, "compiler '%s' is no executable file", name);
	return error_set(err, ERR_ENVIRONMENT, "compiler '%s' is not in PATH", name);
}

static enum compiler_family family_of(const struct strv *lines)
{
	const char *first = lines->n ? lines->v[0] : "";

	if (!strncmp(first, "rustc ", 6))
		return FAMILY_RUSTC;
	if (strstr(first, "clang version "))
		return FAMILY_CLANG;
	for (size_t i = 1; i < lines->n; i++)
		if (strstr(lines->v[i], "Free Software Foundation"))
			return FAMILY_GCC;
	return FAMILY_UNKNOWN;
}

static int probe_family(
	const struct question *q, const char *name, struct compiler *c, struct error *err)
{
	static const char *const version[] = {"--version", NULL};
	auto_strv struct strv lines = STRV_INIT;

	if (ask(q, version, &lines, err) < 0) {
		error_context(err, "compiler '%s' cannot be used", name);
		if (err && !error_is_no_answer(err))
			err->code = ERR_ENVIRONMENT;
		return -1;
	}
	c->family = family_of(&lines);
	switch (c->family) {
	case FAMILY_CLANG:
		return clang_probe(q, &lines, c, err);
	case FAMILY_GCC:
		return gcc_probe(q, &lines, c, err);
	case FAMILY_RUSTC:
		return rustc_probe(q, c, err);
	default:
		return error_set(err, ERR_ENVIRONMENT,
			"'%s' is no compiler that whet knows (clang, gcc, rustc); it says of "
			"itself: %s",
			q->path, lines.n ? lines.v[0] : "nothing");
	}
}

int toolchain_probe_cross(const struct toolchain_cross *x, const char *folder, const char *name,
	const char *path_list, struct compiler *ret, struct error *err)
{
	auto_free char *found = path_find_program(name, path_list, NULL);
	auto_free char *path = found ? path_absolute(found) : NULL;
	struct question q = {.path = path, .path_list = path_list, .folder = folder, .cross = x};
	struct compiler c = {0};

	if (!path)
		return not_found(name, err);
	c.path = xstrdup(path);
	if (probe_family(&q, name, &c, err) < 0) {
		compiler_release(&c);
		return -1;
	}
	*ret = c;
	return 0;
}

int toolchain_probe_in(const char *folder, const char *name, const char *path_list,
	struct compiler *ret, struct error *err)
{
	return toolchain_probe_cross(NULL, folder, name, path_list, ret, err);
}

int toolchain_probe(
	const char *name, const char *path_list, struct compiler *ret, struct error *err)
{
	return toolchain_probe_in(NULL, name, path_list, ret, err);
}
