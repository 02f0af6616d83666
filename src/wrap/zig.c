#include "wrap/zig.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/strv.h"
#include "wrap/node.h"
#include "wrap/wrap.h"

/* Two programs with names that say what they are, so that all who know clang know these. Written
 * again only when zig lies elsewhere: a changed compiler changes all keys. */
static int make(const char *zig, const char *verb, const char *path, struct error *err)
{
	auto_strv struct strv words = STRV_INIT;
	auto_free char *quoted = NULL, *text = NULL;
	auto_buf struct buf now = BUF_INIT;

	strv_add(&words, zig);
	strv_add(&words, verb);
	quoted = strv_shell_quote(&words);
	text = xasprintf("#!/bin/sh\nexec %s \"$@\"\n", quoted);
	if (path_exists(path) && file_read(path, 0, &now, NULL) == 0 &&
		strcmp(buf_str(&now), text) == 0)
		return 0;
	return file_write_atomic(path, text, strlen(text), 0755, err);
}

int wrap_make_zig_drivers(const char *zig, const char *folder, char **ret, struct error *err)
{
	auto_free char *cc = path_join(folder, ZIG_CC);
	auto_free char *cxx = path_join(folder, ZIG_CXX);

	if (dir_create(folder, 0755, err) < 0 || make(zig, "cc", cc, err) < 0 ||
		make(zig, "c++", cxx, err) < 0)
		return -1;
	*ret = take_ptr(cc);
	return 0;
}

bool zig_made(const char *path)
{
	static const char *const names[] = {"crt1.o", "Scrt1.o", "rcrt1.o", "crti.o", "crtn.o",
		"libc_nonshared.a", "libcompiler_rt.a", "libubsan_rt.a", "libunwind.a", "libc++.a",
		"libc++abi.a", "libc.a"};
	auto_free char *folder = path_dirname(path), *above = path_dirname(folder);
	const char *digest = path_basename(folder);

	/* cargo-zigbuild asks by it for the folders of headers. */
	if (strncmp(path_basename(path), ".intentionally-empty-file.", 26) == 0)
		return true;
	if (strcmp(path_basename(above), "o") != 0 || strlen(digest) != 32 ||
		digest[strspn(digest, "0123456789abcdef")])
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(path_basename(path), names[i]) == 0)
			return true;
	return false;
}
