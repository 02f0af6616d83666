/* Helpers around jansson: files, and typed reads that name what is missing. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"

/* Sorted keys, two-space indentation, newline at the end; atomic. */
int json_write_file(const json_t *j, const char *path, struct error *err);
json_t *json_read_file(const char *path, struct error *err); /* NULL on error */

/* Typed reads from an object. The *_opt forms give the default when the key is absent. */
int json_get_str(
	const json_t *o, const char *key, char **ret, struct error *err); /* caller frees */
char *json_opt_str(const json_t *o, const char *key); /* NULL when absent; caller frees */
int64_t json_opt_int(const json_t *o, const char *key, int64_t otherwise);
bool json_opt_bool(const json_t *o, const char *key, bool otherwise);
void json_opt_strv(const json_t *o, const char *key, struct strv *ret); /* adds to ret */

json_t *json_u64(uint64_t v); /* INT64_MAX when it is larger: JSON numbers here are signed */
json_t *json_from_strv(const struct strv *s);
/* Text that may not be UTF-8 (paths, diagnostics): bad bytes become U+FFFD. NULL gives null. */
json_t *json_text(const char *s);
void json_set_text(json_t *o, const char *key, const char *s); /* nothing when s is NULL */

static inline void json_release_ptr(json_t **j)
{
	json_decref(*j);
}
#define auto_json __attribute__((cleanup(json_release_ptr)))
