/* JSON forms that the files of this folder share. */
#pragma once

#include "base/json.h"
#include "facts/compile.h"

json_t *compile_record_json(const struct compile_record *r);
int compile_record_from_json(const json_t *o, struct compile_record *ret, struct error *err);
