/* What a released binary is linked of: partial links, archives, objects, and the calls that made
 * them. docs/compile-log.md describes both forms. */
#pragma once

#include "report/compile_log.h"

/* Of the last build that has binaries: the optimised one when the build went that far. */
json_t *link_graph_json(const struct compile_logs *l);
void link_graph_text(const struct compile_logs *l, struct buf *out);
