#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "toolchain/internal.h"

#define LLVM_OLDEST 14

static const char *value_of(const struct strv *lines, const char *key)
{
	size_t n = strlen(key);

	for (size_t i = 0; i < lines->n; i++)
		if (!strncmp(lines->v[i], key, n) && !strncmp(lines->v[i] + n, ": ", 2))
			return lines->v[i] + n + 2;
	return NULL;
}

static char *find_runtime(const char *sysroot, const char *target)
{
	auto_free char *folder = xasprintf("%s/lib/rustlib/%s/lib", sysroot, target);
	DIR *d = opendir(folder);
	const struct dirent *e;
	char *ret = NULL;

	if (!d)
		return NULL;
	while (!ret && (e = readdir(d))) {
		size_t n = strlen(e->d_name);

		if (!strncmp(e->d_name, "libprofiler_builtins-", 21) && n > 5 &&
			!strcmp(e->d_name + n - 5, ".rlib"))
			ret = path_join(folder, e->d_name);
	}
	closedir(d);
	return ret;
}

/* Since 1.90 rustc links x86_64-unknown-linux-gnu by the lld that it brings. */
static bool links_by_lld(const struct compiler *c)
{
	auto_free char *lld =
		xasprintf("%s/lib/rustlib/%s/bin/gcc-ld/ld.lld", c->sysroot, c->target);

	return c->major >= 90 && !strcmp(c->target, "x86_64-unknown-linux-gnu") && path_exists(lld);
}

static int read_lines(
	const struct question *q, const struct strv *lines, struct compiler *c, struct error *err)
{
	const char *release = value_of(lines, "release"), *host = value_of(lines, "host");
	const char *llvm = value_of(lines, "LLVM version");

	if (!release || strncmp(release, "1.", 2) || !host)
		return error_set(err, ERR_ENVIRONMENT,
			"'%s -vV' names no release and host; is it rustc?", q->path);
	c->version = xstrdup(lines->v[0]);
	c->major = leading_int(release + 2);
	c->target = xstrdup(host);
	c->llvm = llvm ? leading_int(llvm) : 0;
	if (c->llvm < LLVM_OLDEST)
		return error_set(err, ERR_ENVIRONMENT,
			"'%s' is %s with LLVM %s; whet needs a rustc built with LLVM %d or newer "
			"(1.60 "
			"or newer)",
			q->path, c->version, llvm ? llvm : "of no version", LLVM_OLDEST);
	return 0;
}

/* What links for another processor: gcc by its cross name, as rustc's own default, "cc", links for
 * this machine. */
static int rustc_probe_cross(const struct question *q, struct compiler *c)
{
	const struct target *t = q->cross->target;
	auto_free char *gcc = xasprintf("%s-gcc", t->gnu);

	free(c->target);
	c->target = xstrdup(t->triple);
	c->runtime = find_runtime(c->sysroot, c->target);
	c->linker = path_find_program(gcc, q->path_list, NULL);
	return 0;
}

int rustc_probe(const struct question *q, struct compiler *c, struct error *err)
{
	static const char *const verbose[] = {"-vV", NULL};
	static const char *const print_sysroot[] = {"--print", "sysroot", NULL};
	auto_strv struct strv lines = STRV_INIT, sysroot = STRV_INIT;

	if (ask(q, verbose, &lines, err) < 0 || ask(q, print_sysroot, &sysroot, err) < 0)
		return error_context(err, "'%s'", q->path);
	if (read_lines(q, &lines, c, err) < 0)
		return -1;
	c->sysroot = xstrdup(sysroot.n ? sysroot.v[0] : "");
	if (q->cross)
		return rustc_probe_cross(q, c);
	c->has_map_lld = links_by_lld(c);
	c->runtime = find_runtime(c->sysroot, c->target);
	if (!c->runtime)
		return error_set(err, ERR_ENVIRONMENT,
			"'%s' (%s) has no profile runtime (libprofiler_builtins) for %s under "
			"'%s'; use a "
			"toolchain installed by rustup (https://rustup.rs)",
			q->path, c->version, c->target, c->sysroot);
	return 0;
}
