#include "base/json.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

int json_write_file(const json_t *j, const char *path, struct error *err)
{
	auto_free char *text = json_dumps(j, JSON_INDENT(2) | JSON_SORT_KEYS);
	auto_buf struct buf b = BUF_INIT;

	if (!text)
		return error_set(err, ERR_INTERNAL, "cannot encode '%s' as JSON", path);
	buf_adds(&b, text);
	buf_addc(&b, '\n');
	return file_write_atomic(path, b.p, b.n, 0644, err);
}

json_t *json_read_file(const char *path, struct error *err)
{
	auto_buf struct buf b = BUF_INIT;
	json_error_t je;
	json_t *j;

	if (file_read(path, 0, &b, err) < 0)
		return NULL;
	j = json_loadb(buf_str(&b), b.n, 0, &je);
	if (!j)
		error_set(err, ERR_CORRUPT, "'%s' is not valid JSON: line %d, column %d: %s", path,
			je.line, je.column, je.text);
	return j;
}

int json_get_str(const json_t *o, const char *key, char **ret, struct error *err)
{
	const char *s = json_string_value(json_object_get(o, key));

	if (!s)
		return error_set(err, ERR_CORRUPT, "'%s' is missing or no string", key);
	*ret = xstrdup(s);
	return 0;
}

char *json_opt_str(const json_t *o, const char *key)
{
	return xstrdup(json_string_value(json_object_get(o, key)));
}

int64_t json_opt_int(const json_t *o, const char *key, int64_t otherwise)
{
	const json_t *v = json_object_get(o, key);

	return json_is_integer(v) ? (int64_t)json_integer_value(v) : otherwise;
}

bool json_opt_bool(const json_t *o, const char *key, bool otherwise)
{
	const json_t *v = json_object_get(o, key);

	return json_is_boolean(v) ? json_is_true(v) : otherwise;
}

void json_opt_strv(const json_t *o, const char *key, struct strv *ret)
{
	const json_t *v = json_object_get(o, key);

	for (size_t i = 0; i < json_array_size(v); i++) {
		const char *s = json_string_value(json_array_get(v, i));

		if (s)
			strv_add(ret, s);
	}
}

json_t *json_u64(uint64_t v)
{
	return json_integer(v > INT64_MAX ? INT64_MAX : (json_int_t)v);
}

json_t *json_from_strv(const struct strv *s)
{
	json_t *a = json_array();

	for (size_t i = 0; i < s->n; i++)
		json_array_append_new(a, json_text(s->v[i]));
	return a;
}

/* The length of a valid UTF-8 sequence at s, or 0. */
static size_t utf8_length(const unsigned char *s)
{
	size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0;
	auto_json json_t *probe =
		n > 1 ? json_stringn((const char *)s, strnlen((const char *)s, n)) : NULL;

	if (n <= 1)
		return n;
	return probe && json_string_length(probe) == n ? n : 0;
}

json_t *json_text(const char *s)
{
	auto_buf struct buf b = BUF_INIT;
	json_t *j;

	if (!s)
		return json_null();
	j = json_string(s);
	if (j)
		return j;
	while (*s) {
		size_t n = utf8_length((const unsigned char *)s);

		if (n)
			buf_add(&b, s, n);
		else
			buf_adds(&b, "\xef\xbf\xbd");
		s += n ? n : 1;
	}
	return json_string(buf_str(&b));
}

void json_set_text(json_t *o, const char *key, const char *s)
{
	if (s)
		json_object_set_new(o, key, json_text(s));
}
