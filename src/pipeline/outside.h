/* What a build reads beside the sources and its own slot: system headers, files behind links,
 * libraries, compilers, cargo's settings above the project. No digest of sources covers them, so
 * each node records them, and is used again only while they are what they were.
 * Private to src/pipeline. */
#pragma once

#include "facts/compile.h"
#include "pipeline/run.h"

/* Where one build happened. */
struct outside_place {
	const char *slot, *build, *log; /* the slot, cargo's target folder in it, the compile log */
	const char *state;              /* whet's own folder in the slot */
	const char *pkg_config;         /* what pkg-config was asked for, or no file */
	int64_t start_ns;               /* CLOCK_REALTIME before its first step */
};

/* Collects what the build read, together with what earlier builds in the same folder read, and
 * leaves the list in the state folder. *ret: path to {sha256, identity}; new reference. */
int outside_collect(const struct run *r, const struct outside_place *p,
	const struct compile_log *log, json_t **ret, struct error *err);
/* Whether every file still has its content. Identities are brought up to date. NULL: no. *changed:
 * the first that has not (borrowed from outside); may be NULL. */
bool outside_same(json_t *outside, const char **changed);
/* What such a file is called: "header", "library", "file". */
const char *outside_kind(const char *path);
/* Whether the list that a build folder's state holds is still true. */
bool outside_folder_usable(const char *state);
/* Whether the file was touched while the build ran: what was read of it is not known. */
bool outside_touched(const json_t *outside, const char *path);
/* A file that two builds read with different content, as far as is known, or NULL. */
const char *outside_difference(const json_t *a, const json_t *b);
/* Adds path and identity of every file to an object. */
void outside_add_identities(const json_t *outside, json_t *to);

/* Device, inode, size and times of a file as text, "absent" when there is none. Caller frees. */
char *file_identity(const char *path);
