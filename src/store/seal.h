/* JSON records that notice damage: a digest of the content travels in them. */
#pragma once

#include "base/error.h"
#include "base/json.h"

/* Writes the object with its digest as "seal" (added to it); atomic. */
int sealed_write(json_t *object, const char *path, struct error *err);
/* New reference, or NULL: unreadable, no object, or not what was written (ERR_CORRUPT). */
json_t *sealed_read(const char *path, struct error *err);
