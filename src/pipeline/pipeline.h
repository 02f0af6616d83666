/* The pipeline: a graph of nodes, each taking artefacts from the store, calling one domain library
 * and putting artefacts back. The node_NN_*.c files stand in the order of the data flow. */
#pragma once

#include <stdbool.h>

#include "base/error.h"
#include "base/events.h"
#include "report/compile_log.h"
#include "report/report.h"

struct pipeline_options {
	const char *file;  /* whet.yaml */
	const char *dist;  /* where artefacts go; NULL: dist/ beside whet.yaml */
	const char *until; /* name of the last stage to run; NULL: all */
	/* Use this profile instead of training; "last": that of the last trained build; NULL. */
	const char *profile;
	bool no_bench;
	const char *relinks; /* in the place of the plan's bench.relinks, "0": none; NULL */
	bool why;            /* tell before each stage why it runs */
	int jobs;            /* at least 1 */
	const char *self;    /* path of whet */
	const char *shim;    /* path of whet-shim */
	const struct events *events;
	struct compile_logs *logs; /* filled with what there is when the run ends; NULL */
	const char *written;       /* a file that the caller will write for the user; NULL */
};

/* What the last complete build left, when nothing changed since. Strings are owned. */
struct pipeline_last {
	bool up_to_date;
	char *since;         /* when it ended, RFC 3339 */
	char *dist;          /* its folder */
	char *state;         /* the project's state folder */
	char *source, *copy; /* as in struct compile_logs */
	char *text;          /* its report as text */
	struct strv nodes;   /* keys of its builds */
};
void pipeline_last_release(struct pipeline_last *l);
/* The compile logs of its builds. Starts no process. ERR_ENVIRONMENT: the state holds them no more.
 */
int pipeline_last_logs(const struct pipeline_last *l, struct compile_logs *ret, struct error *err);

/* The compile logs of the last build when it was stopped, as far as it went; empty when it was not.
 */
int pipeline_stopped_logs(const char *state, struct compile_logs *ret, struct error *err);

/* Remembers that whet wrote this file for the user: where it lies among the sources, it is none. */
int pipeline_note_written(const char *state, const char *path, struct error *err);

/* Whether everything that the options ask for is already there. Starts no process, takes no lock.
 * -1: the plan cannot be read, or the like. */
int pipeline_look(const struct pipeline_options *o, struct pipeline_last *ret, struct error *err);

/* Runs what is missing. ERR_GATE: a gate stopped it, the report holds the verdicts. The report is
 * filled as far as the build went, also on failure. The process must be a child subreaper. */
int pipeline_run(const struct pipeline_options *o, struct report *report, struct error *err);

/* Names of the stages, in order, NULL-terminated. */
extern const char *const pipeline_stages[];
