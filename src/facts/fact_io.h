/* Shared by the readers and writers of this folder: names of enum values, compact files, required
 * and optional members of JSON objects. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/json.h"
#include "base/strv.h"

/* One compact JSON text with a newline; appears whole or not at all. Not synced to the disk: what
 * must survive a power failure is written by the store. */
int fact_write(const json_t *j, const char *path, struct error *err);
/* The object in a file whose member "format" has this value. ERR_CORRUPT otherwise. */
json_t *fact_read(const char *path, const char *format, struct error *err);

/* The index of a member's text in names; ERR_CORRUPT when absent or unknown. */
int fact_enum(const json_t *o, const char *key, const char *const *names, size_t n, int *ret,
	struct error *err);

/* Counters and sizes: values beyond what JSON numbers of the library hold are capped. */
void fact_set_u64(json_t *o, const char *key, uint64_t v);
uint64_t fact_u64(const json_t *o, const char *key);

/* A member that is a non-empty list; left out when s is empty. */
void fact_set_strv(json_t *o, const char *key, const struct strv *s);

/* Moves an optional text into *to (owned, freed by the type's release). */
void fact_take_str(const json_t *o, const char *key, char **to);
