#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"

bool path_exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

bool path_is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

char *path_join(const char *a, const char *b)
{
	size_t n = strlen(a);

	if (*b == '/' || n == 0)
		return xstrdup(b);
	return xasprintf("%s%s%s", a, a[n - 1] == '/' ? "" : "/", b);
}

char *path_dirname(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	if (slash == path)
		return xstrdup("/");
	return xstrndup(path, (size_t)(slash - path));
}

const char *path_basename(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

char *path_clean(const char *path)
{
	auto_strv struct strv parts = STRV_INIT;
	bool absolute = *path == '/';
	auto_free char *joined = NULL;

	while (*path) {
		size_t n;

		path += strspn(path, "/");
		n = strcspn(path, "/");
		if (n == 0 || (n == 1 && path[0] == '.')) {
			path += n;
			continue;
		}
		if (n == 2 && path[0] == '.' && path[1] == '.' &&
			(parts.n ? strcmp(parts.v[parts.n - 1], "..") != 0 : absolute)) {
			if (parts.n) {
				free(parts.v[--parts.n]);
				parts.v[parts.n] = NULL;
			}
		} else {
			strv_take(&parts, xstrndup(path, n));
		}
		path += n;
	}
	joined = strv_join(&parts, "/");
	if (absolute)
		return xasprintf("/%s", joined);
	return xstrdup(*joined ? joined : ".");
}

char *path_absolute(const char *path)
{
	auto_free char *cwd = NULL, *joined = NULL;

	if (*path == '/')
		return path_clean(path);
	cwd = getcwd(NULL, 0);
	joined = path_join(cwd ? cwd : "/", path);
	return path_clean(joined);
}

bool path_is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	while (n > 1 && folder[n - 1] == '/')
		n--;
	return strncmp(path, folder, n) == 0 &&
	       (path[n] == '\0' || path[n] == '/' || (n == 1 && folder[0] == '/'));
}

char *path_replace(const char *text, const char *from, const char *to)
{
	auto_buf struct buf b = BUF_INIT;
	size_t n = strlen(from);

	for (const char *at; n && (at = strstr(text, from)); text = at + n) {
		/* "/state/slot" is no part of "/state/slot-2". */
		bool whole = !isalnum((unsigned char)at[n]) &&
			     (!at[n] || !strchr("-_.~+", at[n])) && !((unsigned char)at[n] & 0x80);

		buf_add(&b, text, (size_t)(at - text));
		buf_adds(&b, whole ? to : from);
	}
	buf_adds(&b, text);
	return buf_detach(&b);
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *path_find_program(const char *name, const char *path_list, const char *skip_dir)
{
	if (strchr(name, '/'))
		return is_program(name) ? xstrdup(name) : NULL;
	for (const char *p = path_list ? path_list : "/usr/bin:/bin"; *p;) {
		size_t n = strcspn(p, ":");
		auto_free char *dir = n ? xstrndup(p, n) : xstrdup(".");

		p += n + (p[n] == ':');
		if (!skip_dir || strcmp(dir, skip_dir) != 0) {
			auto_free char *full = path_join(dir, name);

			if (is_program(full))
				return take_ptr(full);
		}
	}
	return NULL;
}

char *path_resolve(const char *path)
{
	auto_free char *front = path_absolute(path);
	auto_free char *rest = xstrdup("");

	for (;;) {
		auto_free char *real = realpath(front, NULL);
		auto_free char *above = NULL;
		char *longer;

		if (real)
			return *rest ? path_join(real, rest) : take_ptr(real);
		if (strcmp(front, "/") == 0)
			return path_absolute(path);
		longer = *rest ? xasprintf("%s/%s", path_basename(front), rest)
			       : xstrdup(path_basename(front));
		free(rest);
		rest = longer;
		above = path_dirname(front);
		free(front);
		front = take_ptr(above);
	}
}
