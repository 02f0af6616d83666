/* Archive members that share a name. */
#pragma once

#include "facts/compile.h"

/* An archive may hold several members of one name, and a linker map does not tell which of them was
 * loaded: evidence then names them all. What was linked (r->output) tells it by its functions: this
 * removes those that have none in it. Where it does not tell (stripped, functions dropped), all
 * stay. */
void twins_drop_unloaded(struct compile_record *r);
