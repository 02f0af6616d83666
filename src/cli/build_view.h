/* What `whet build` shows of its builds: the compile log, the link graph, compile_commands.json. */
#pragma once

#include <stdbool.h>

#include "cli/opt.h"
#include "report/compile_log.h"

struct build_view {
	bool log, links;   /* printed instead of the report */
	char *commands;    /* where compile_commands.json goes; NULL */
	const char *state; /* the project's state folder */
};

/* Whether the logs of the builds are needed; whether something is printed in place of the report.
 */
bool build_view_needs_logs(const struct build_view *v);
bool build_view_prints(const struct build_view *v);
/* Returns the exit code; what went wrong has been said. */
int build_view_show(
	const struct build_view *v, const struct cli *cli, const struct compile_logs *l);
