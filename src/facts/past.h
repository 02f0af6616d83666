/* What is remembered of a build that ended well: enough to tell how its gain moved. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "facts/trial.h"

struct past_tool {
	char *name, *version; /* a compiler's path, and what it says of itself */
};

struct past_artefact {
	char *name, *variant, *sha256;
	uint64_t bytes;
};

struct past_stage {
	char *name;
	uint64_t wall_ns, cpu_ns;
	bool reused;
};

struct past_build {
	int64_t id;           /* from 1; 0: not noted yet */
	uint64_t finished_ns; /* CLOCK_REALTIME */
	char *started;        /* RFC 3339 */
	char *project, *version, *target, *whet;
	char *revision; /* full commit id; NULL: no git */
	/* Whether tracked files differed from the commit. */
	enum { PAST_CLEAN, PAST_DIRTY, PAST_DIRTY_UNKNOWN } dirty;
	char *machine;                     /* model and number of its processors */
	char *source, *training, *profile; /* digests; NULL: not known */
	struct past_tool *tools;
	size_t n_tools, cap_tools;
	struct past_artefact *artefacts;
	size_t n_artefacts, cap_artefacts;
	struct past_stage *stages;
	size_t n_stages, cap_stages;
	struct comparisons bench; /* n is 0: nothing was measured */
};

struct past_builds {
	struct past_build *v; /* the newest last */
	size_t n, cap;
};

void past_build_release(struct past_build *b);
void past_builds_release(struct past_builds *b);
#define auto_past_builds __attribute__((cleanup(past_builds_release)))
const struct past_build *past_find(const struct past_builds *b, int64_t id); /* or NULL */

/* The one figure of a comparison: the first variant over all scenarios by weight, or in the only
 * scenario. NULL: nothing was measured. */
const struct comparison *past_overall(const struct comparisons *c);
/* The row of this scenario and variant, or NULL. variant NULL: the first one. */
const struct comparison *past_scenario(
	const struct comparisons *c, const char *scenario, const char *variant);

json_t *past_build_json(const struct past_build *b); /* docs/history.md */
