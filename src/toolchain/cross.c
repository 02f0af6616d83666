/* Compilers that compile for another machine: what their calls need, and what such a build needs
 * beside them. The names of packages are Debian's. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "toolchain/internal.h"

int clang_probe_cross(const struct question *q, struct compiler *c, struct error *err)
{
	const struct toolchain_cross *x = q->cross;
	struct question with = *q;

	free(c->target);
	c->target = xstrdup(x->target->gnu);
	strv_addf(&c->words, "--target=%s", x->target->gnu);
	if (x->sysroot)
		strv_addf(&c->words, "--sysroot=%s", x->sysroot);
	with.words = &c->words;
	if (x->runtime) {
		c->runtime = path_exists(x->runtime) ? path_absolute(x->runtime) : NULL;
		return c->runtime ? 0
				  : error_set(err, ERR_ENVIRONMENT,
					    "build.profile-runtime: there is no '%s'", x->runtime);
	}
	return clang_find_runtime(&with, c->target, &c->runtime, err);
}

static void add(struct buf *ret, char *line)
{
	buf_addf(ret, "%s%s", ret->n ? "\n" : "", line);
	free(line);
}

static const char *debian_of(const struct target *t)
{
	return t->processor ? t->processor->debian : t->gnu;
}

/* One file that links need; what: in words; package: that has it. */
static int need_file(const struct question *q, const char *file, const char *what, char *package,
	struct buf *ret, struct error *err)
{
	auto_free char *path = NULL, *of = package;

	if (ask_file(q, file, &path, err) < 0)
		return -1;
	if (!path)
		add(ret, xasprintf("%s: '%s' finds no '%s'; install the Debian package '%s'", what,
				 path_basename(q->path), file, of));
	return 0;
}

static bool is_musl(const struct target *t)
{
	return strstr(t->gnu, "-musl") != NULL;
}

/* clang takes glibc's headers and start files for musl's without a word, and Debian's runtime asks
 * for functions that glibc alone has. */
static void need_musl(const struct toolchain_cross *x, struct buf *ret)
{
	const struct target *t = x->target;

	if (!x->sysroot)
		add(ret, xasprintf("musl: clang would take this machine's glibc for it; let "
				   "build.sysroot name a folder with musl's usr/include and "
				   "usr/lib (Debian package 'musl-dev:%s')",
				 debian_of(t)));
	if (!x->runtime)
		add(ret, xstrdup("profile runtime: clang's own is built for glibc; let "
				 "build.profile-runtime name one that is built for musl"));
}

static int need_libraries(const struct toolchain_cross *x, const struct question *q,
	struct buf *ret, struct error *err)
{
	const struct target *t = x->target;
	char *libc = is_musl(t) ? xasprintf("musl-dev:%s", debian_of(t))
				: xasprintf("libc6-dev-%s-cross", debian_of(t));

	if (need_file(q, "crt1.o", "start files and C library", libc, ret, err) < 0)
		return -1;
	return need_file(q, "crtbegin.o", "libgcc", xasprintf("gcc-%s", t->gnu), ret, err);
}

static void need_runtime(const struct toolchain_cross *x, const struct compiler *c, struct buf *ret)
{
	const struct target *t = x->target;

	if (c->runtime)
		return;
	if (c->family == FAMILY_RUSTC)
		add(ret, xasprintf("profile runtime: '%s' has no standard library with "
				   "libprofiler_builtins for %s under '%s'; run 'rustup target add "
				   "%s', or install the Debian package 'libstd-rust-web-dev:%s' of "
				   "the same version",
				 c->version, t->triple, c->sysroot, t->triple, debian_of(t)));
	else
		add(ret,
			xasprintf("profile runtime: '%s' has none for %s (libclang_rt.profile) "
				  "under '%s'; it is in the Debian package "
				  "'libclang-rt-%d-dev:%s', which need not be installed: unpack it "
				  "(apt-get download, dpkg -x) and give its path by "
				  "build.profile-runtime",
				c->version, t->gnu, c->sysroot, c->major, debian_of(t)));
}

static void need_binutils(const struct target *t, int llvm, const char *path_list, struct buf *ret)
{
	static const char *const names[] = {"ld", "ar", "strip"};

	/* This machine's own reads 32-bit files of the same family, too. */
	for (size_t i = 0; t->foreign && i < ARRAY_SIZE(names); i++) {
		auto_free char *path = toolchain_binutil(t->gnu, llvm, names[i], path_list);

		if (path)
			continue;
		add(ret, xasprintf("'%s-%s' is not in PATH; install the Debian package "
				   "'binutils-%s'",
				 t->gnu, names[i], t->gnu));
		return;
	}
}

int toolchain_cross_missing(const struct toolchain_cross *x, const struct compiler *c,
	const char *path_list, struct buf *ret, struct error *err)
{
	struct question q = {.path = c->path, .path_list = path_list, .words = &c->words};

	if (c->family == FAMILY_GCC && strcmp(c->target, x->target->gnu) != 0) {
		add(ret, xasprintf("compiler: '%s' compiles for %s alone; let build.compiler name "
				   "'%s-gcc'",
				 path_basename(c->path), c->target, x->target->gnu));
		return 0;
	}
	if (c->family == FAMILY_CLANG && is_musl(x->target) && !strstr(target_host(), "-musl"))
		need_musl(x, ret);
	need_runtime(x, c, ret);
	if (c->family == FAMILY_RUSTC) {
		if (!c->linker)
			add(ret, xasprintf("linker: '%s-gcc' is not in PATH; install the Debian "
					   "package 'gcc-%s'",
					 x->target->gnu, x->target->gnu));
		return 0;
	}
	need_binutils(x->target, c->llvm, path_list, ret);
	return need_libraries(x, &q, ret, err);
}

char *toolchain_binutil(const char *gnu, int llvm, const char *name, const char *path_list)
{
	auto_free char *first = gnu ? xasprintf("%s-%s", gnu, name) : xstrdup(name);
	char *path = path_find_program(first, path_list, NULL);
	auto_free char *numbered = NULL, *plain = NULL;

	if (path || strcmp(name, "ld") == 0)
		return path;
	numbered = xasprintf("llvm-%s-%d", name, llvm);
	plain = xasprintf("llvm-%s", name);
	path = path_find_program(numbered, path_list, NULL);
	return path ? path : path_find_program(plain, path_list, NULL);
}

static int link_to(const char *folder, const char *name, const char *to, struct error *err)
{
	auto_free char *path = path_join(folder, name);

	(void)unlink(path);
	if (symlink(to, path) == 0)
		return 0;
	return error_set(err, ERR_IO, "cannot make the link '%s': %s", path, strerror(errno));
}

/* Everything in a folder, by links of the same names. */
static int link_all(const char *from, const char *folder, struct error *err)
{
	DIR *d = opendir(from);
	const struct dirent *e;
	int r = 0;

	while (d && r == 0 && (e = readdir(d))) {
		auto_free char *to = path_join(from, e->d_name);

		/* "lib" is a folder of whet's own. */
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
			strcmp(e->d_name, "lib") != 0)
			r = link_to(folder, e->d_name, to, err);
	}
	if (d)
		closedir(d);
	return r;
}

int toolchain_lend_runtime(struct compiler *c, const char *folder, struct error *err)
{
	auto_free char *arch = xstrndup(c->target, strcspn(c->target, "-"));
	auto_free char *name = xasprintf("libclang_rt.profile-%s.a", arch);
	auto_free char *linux_folder = path_join(folder, "lib/linux");
	auto_free char *beside = c->runtime ? path_dirname(c->runtime) : NULL;

	if (c->family != FAMILY_CLANG || !c->runtime || path_is_below(c->runtime, c->sysroot))
		return 0;
	if (tree_remove(folder, err) < 0 || dir_create(linux_folder, 0755, err) < 0 ||
		link_all(c->sysroot, folder, err) < 0 || link_all(beside, linux_folder, err) < 0 ||
		link_to(linux_folder, name, c->runtime, err) < 0)
		return -1;
	c->resource = xstrdup(folder);
	free(c->runtime);
	c->runtime = path_join(linux_folder, name);
	return 0;
}
