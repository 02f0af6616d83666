/* What a state takes on the disk, its budget, and its removal. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

#define STORE_BUDGET_DEFAULT ((uint64_t)10 << 30)

/* The budget of one project in bytes: $WHET_STATE_BUDGET ("500M", "10G", "none"), or the default.
 * UINT64_MAX: none. */
int store_budget(uint64_t *ret, struct error *err);

struct store_trimmed {
	struct strv gone; /* "builds/TOKEN", … in the order in which they went */
	uint64_t freed, left;
};
/* Removes nodes, kept builds and profiles, the least recently used first, until the whole state
 * takes at most budget bytes. Spares what this store used and what keep names. Needs the lock. */
int store_trim(const struct store *s, uint64_t budget, const struct strv *keep,
	struct store_trimmed *ret, struct error *err);
void store_trimmed_release(struct store_trimmed *t);

/* Bytes on the disk below a folder. */
int store_bytes(const char *folder, uint64_t *ret, struct error *err);

/* ---- all projects ---- */

struct store_project {
	char *state;            /* its state folder */
	char *project, *folder; /* name, and where its whet.yaml lay */
	uint64_t bytes;
	int64_t used_ns; /* CLOCK_REALTIME of the last whet on it */
};
struct store_projects {
	struct store_project *v; /* in the order of their folders' names */
	size_t n, cap;
};
/* Every folder in the folder of all states that whet made; nothing else, no symlink. */
int store_projects(struct store_projects *ret, struct error *err);
void store_projects_release(struct store_projects *p);
/* Takes the lock and removes the state. ERR_ENVIRONMENT with the holder's pid while another whet
 * has it. What whet did not make is left, and *foreign (caller frees) names one such entry. */
int store_project_remove(const struct store_project *p, char **foreign, struct error *err);
