/* The history of builds, as `whet history` shows it. Pure: docs/history.md. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "facts/past.h"

/* A line for each build, the newest last. */
void report_history_list(const char *project, const struct past_builds *b, struct buf *out);
/* All that is remembered of one. */
void report_history_build(const struct past_build *b, struct buf *out);
/* The gain over the builds, one line each, with its interval; width: columns of the terminal.
 * scenario NULL: the one figure of each build. ERR_USAGE: no build has such a figure. */
int report_history_plot(const struct past_builds *b, const char *scenario, unsigned width,
	struct buf *out, struct error *err);
/* How the gain changed, scenario by scenario, and what that can and cannot say. */
void report_history_compare(
	const struct past_build *before, const struct past_build *after, struct buf *out);
json_t *report_history_json(const char *project, const struct past_build *v, size_t n);
json_t *report_history_compare_json(
	const struct past_build *before, const struct past_build *after);
