#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "toolchain/internal.h"

#define CLANG_OLDEST 14

/* The runtime lies in one of two layouts: lib/linux/libclang_rt.profile-ARCH.a, or
 * lib/TRIPLE/libclang_rt.profile.a. */
int clang_find_runtime(const struct question *q, const char *target, char **ret, struct error *err)
{
	auto_free char *arch = xstrndup(target, strcspn(target, "-"));
	auto_free char *old_name = xasprintf("libclang_rt.profile-%s.a", arch);

	if (ask_file(q, old_name, ret, err) < 0)
		return -1;
	return *ret ? 0 : ask_file(q, "libclang_rt.profile.a", ret, err);
}

void clang_read_version(const struct strv *lines, struct compiler *c)
{
	const char *version = strstr(lines->v[0], "clang version ") + strlen("clang version ");

	c->major = leading_int(version);
	c->llvm = c->major;
	c->version = xasprintf("clang %s", version);
	for (size_t i = 1; i < lines->n && !c->target; i++)
		if (!strncmp(lines->v[i], "Target: ", 8))
			c->target = xstrdup(lines->v[i] + 8);
}

int toolchain_check_context_sensitive(const struct compiler *c, struct error *err)
{
	static const char *const args[] = {
		"-fcs-profile-generate", "-fsyntax-only", "-x", "c", "/dev/null", NULL};
	struct question q = {.path = c->path, .path_list = getenv("PATH")};
	auto_strv struct strv lines = STRV_INIT;

	if (c->family != FAMILY_CLANG)
		return error_set(err, ERR_ENVIRONMENT,
			"'%s' (%s) has no counters that are put in after inlining; clang has: "
			"leave "
			"the key out, or build with clang",
			c->path, c->version);
	if (ask(&q, args, &lines, err) < 0)
		return error_context(
			err, "'%s' (%s) does not take -fcs-profile-generate", c->path, c->version);
	return 0;
}

int clang_probe(
	const struct question *q, const struct strv *lines, struct compiler *c, struct error *err)
{
	clang_read_version(lines, c);
	if (c->major < CLANG_OLDEST)
		return error_set(err, ERR_ENVIRONMENT,
			"'%s' is %s; whet needs clang %d or newer (Debian package 'clang-%d')",
			q->path, c->version, CLANG_OLDEST, CLANG_OLDEST);
	if (!c->target)
		return error_set(
			err, ERR_ENVIRONMENT, "'%s' (%s) names no target", q->path, c->version);
	if (ask_line(q, "-print-resource-dir", &c->sysroot, err) < 0)
		return error_context(err, "'%s'", q->path);
	if (q->cross)
		return clang_probe_cross(q, c, err);
	if (clang_find_runtime(q, c->target, &c->runtime, err) < 0)
		return -1;
	if (!c->runtime)
		return error_set(err, ERR_ENVIRONMENT,
			"'%s' (%s) has no profile runtime (libclang_rt.profile) for %s under '%s'; "
			"install "
			"the Debian package 'libclang-rt-%d-dev'",
			q->path, c->version, c->target, c->sysroot, c->major);
	return 0;
}
