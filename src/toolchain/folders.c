#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "toolchain/internal.h"

/* A folder as the linker may name it and as it really is: /lib is often a link to /usr/lib. */
static void add_folder(struct strv *ret, const char *folder)
{
	auto_free char *clean = path_clean(folder);
	auto_free char *real = realpath(folder, NULL);

	if (!strcmp(clean, "/") || (real && !strcmp(real, "/")))
		return;
	if (!strv_has(ret, clean))
		strv_add(ret, clean);
	if (real && !strv_has(ret, real))
		strv_add(ret, real);
}

static int add_folder_of(
	struct strv *ret, const struct question *q, const char *file, struct error *err)
{
	auto_free char *path = NULL, *folder = NULL;

	if (ask_file(q, file, &path, err) < 0)
		return -1;
	folder = path ? path_dirname(path) : NULL;
	if (folder)
		add_folder(ret, folder);
	return 0;
}

static int driver_folders(const struct question *q, struct strv *ret, struct error *err)
{
	/* libc, compiler start files, compiler library, C++ library: each may lie apart. */
	static const char *const files[] = {"crt1.o", "crti.o", "crtbegin.o", "crtbeginS.o",
		"libc.so", "libc.so.6", "libc.a", "libgcc.a", "libgcc_s.so.1", "libstdc++.so",
		"libc++.so"};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (add_folder_of(ret, q, files[i], err) < 0)
			return -1;
	return 0;
}

int toolchain_folders(const struct compiler *c, struct strv *ret, struct error *err)
{
	const char *path_list = getenv("PATH");
	struct question q = {.path = c->path,
		.path_list = path_list ? path_list : "/usr/bin:/bin",
		.words = &c->words};
	auto_strv struct strv folders = STRV_INIT;
	auto_free char *cc = NULL;

	if (!c->sysroot || c->sysroot[0] != '/')
		return error_set(err, ERR_ENVIRONMENT,
			"'%s' names no folder of its own files: '%s'", c->path,
			c->sysroot ? c->sysroot : "");
	add_folder(&folders, c->sysroot);
	if (c->zig) {
		strv_add_all(ret, &folders);
		return 0;
	}
	if (c->family == FAMILY_RUSTC) {
		/* rustc links by cc: libc and start files are those of cc. */
		cc = c->linker ? xstrdup(c->linker) : path_find_program("cc", q.path_list, NULL);
		q.path = cc;
	}
	if (q.path && driver_folders(&q, &folders, err) < 0)
		return -1;
	for (size_t i = 0; i < folders.n; i++)
		if (!strv_has(ret, folders.v[i]))
			strv_add(ret, folders.v[i]);
	return 0;
}
