#include "store/seal.h"

#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

#define SEAL "seal"

static int digest(json_t *object, char hex[SHA256_HEX], const char *path, struct error *err)
{
	auto_free char *text = NULL;

	json_object_del(object, SEAL);
	text = json_dumps(object, JSON_COMPACT | JSON_SORT_KEYS);
	if (!text)
		return error_set(err, ERR_INTERNAL, "cannot encode '%s' as JSON", path);
	sha256_of(text, strlen(text), hex);
	return 0;
}

int sealed_write(json_t *object, const char *path, struct error *err)
{
	char hex[SHA256_HEX];

	if (digest(object, hex, path, err) < 0)
		return -1;
	json_object_set_new(object, SEAL, json_string(hex));
	return json_write_file(object, path, err);
}

json_t *sealed_read(const char *path, struct error *err)
{
	auto_json json_t *j = json_read_file(path, err);
	auto_free char *seal = json_opt_str(j, SEAL);
	char hex[SHA256_HEX];

	if (!j)
		return NULL;
	if (!json_is_object(j) || digest(j, hex, path, err) < 0 || !seal ||
		strcmp(seal, hex) != 0) {
		error_set(
			err, ERR_CORRUPT, "'%s' was changed or damaged since it was written", path);
		return NULL;
	}
	return take_ptr(j);
}
