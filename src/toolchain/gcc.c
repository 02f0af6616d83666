#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "toolchain/internal.h"

int gcc_probe(
	const struct question *q, const struct strv *lines, struct compiler *c, struct error *err)
{
	auto_free char *full = NULL, *libgcc = NULL;

	if (ask_line(q, "-dumpfullversion", &full, err) < 0 ||
		ask_line(q, "-dumpmachine", &c->target, err) < 0 ||
		ask_line(q, "-print-libgcc-file-name", &libgcc, err) < 0)
		return error_context(err, "'%s'", q->path);
	c->major = leading_int(full);
	if (c->major <= 0)
		return error_set(
			err, ERR_ENVIRONMENT, "'%s' tells no version of gcc: '%s'", q->path, full);
	c->version = xasprintf("gcc %s", full);
	c->sysroot = path_dirname(libgcc);
	return ask_file(q, "libgcov.a", &c->runtime, err);
}

int toolchain_check_gcc(const struct compiler *c, struct error *err)
{
	if (c->major < TOOLCHAIN_GCC_OLDEST)
		return error_set(err, ERR_ENVIRONMENT,
			"'%s' is %s; whet instruments with gcc %d or newer (Debian package "
			"'gcc-%d')",
			c->path, c->version, TOOLCHAIN_GCC_OLDEST, TOOLCHAIN_GCC_OLDEST);
	if (!c->runtime)
		return error_set(err, ERR_ENVIRONMENT,
			"'%s' (%s) has no profile runtime (libgcov.a) under '%s'; install the "
			"Debian package 'libgcc-%d-dev'",
			c->path, c->version, c->sysroot, c->major);
	return 0;
}
