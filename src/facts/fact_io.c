#include "facts/fact_io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"

static int write_failed(int fd, const char *temporary, const char *path, struct error *err)
{
	int saved = errno;

	if (fd >= 0)
		close(fd);
	unlink(temporary);
	return error_set(err, ERR_IO, "cannot write '%s': %s", path, strerror(saved));
}

int fact_write(const json_t *j, const char *path, struct error *err)
{
	auto_free char *text = json_dumps(j, JSON_COMPACT);
	auto_free char *dir = path_dirname(path);
	auto_free char *temporary = xasprintf("%s/.%s.XXXXXX", dir, path_basename(path));
	int fd;

	if (!text)
		return error_set(err, ERR_INTERNAL, "cannot encode '%s' as JSON", path);
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return error_set(err, ERR_IO, "cannot create '%s': %s", path, strerror(errno));
	if (file_write_all(fd, text, strlen(text)) < 0 || file_write_all(fd, "\n", 1) < 0 ||
		fchmod(fd, 0644) < 0)
		return write_failed(fd, temporary, path, err);
	if (close(fd) < 0 || rename(temporary, path) < 0)
		return write_failed(-1, temporary, path, err);
	return 0;
}

json_t *fact_read(const char *path, const char *format, struct error *err)
{
	json_t *j = json_read_file(path, err);
	const char *found = json_string_value(json_object_get(j, "format"));

	if (!j)
		return NULL;
	if (found && strcmp(found, format) == 0)
		return j;
	error_set(err, ERR_CORRUPT, "'%s' is no %s file (its format is %s%s%s)", path, format,
		found ? "'" : "", found ? found : "not given", found ? "'" : "");
	json_decref(j);
	return NULL;
}

int fact_enum(const json_t *o, const char *key, const char *const *names, size_t n, int *ret,
	struct error *err)
{
	const char *s = json_string_value(json_object_get(o, key));

	for (size_t i = 0; s && i < n; i++) {
		if (strcmp(s, names[i]) == 0) {
			*ret = (int)i;
			return 0;
		}
	}
	if (!s)
		return error_set(err, ERR_CORRUPT, "'%s' is missing or no string", key);
	return error_set(err, ERR_CORRUPT, "'%s' has the unknown value '%s'", key, s);
}

void fact_set_u64(json_t *o, const char *key, uint64_t v)
{
	if (v)
		json_object_set_new(o, key, json_u64(v));
}

uint64_t fact_u64(const json_t *o, const char *key)
{
	int64_t v = json_opt_int(o, key, 0);

	return v < 0 ? 0 : (uint64_t)v;
}

void fact_set_strv(json_t *o, const char *key, const struct strv *s)
{
	if (s->n)
		json_object_set_new(o, key, json_from_strv(s));
}

void fact_take_str(const json_t *o, const char *key, char **to)
{
	*to = json_opt_str(o, key);
}
