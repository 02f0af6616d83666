/* What `whet build` shows of its builds instead of the report. */
#pragma once

#include <stdbool.h>

#include "cli/opt.h"
#include "report/compile_log.h"

struct build_view {
	bool log;
};

bool build_view_asked(const struct build_view *v);
void build_view_show(
	const struct build_view *v, const struct cli *cli, const struct compile_logs *l);
