/* The one scratch folder of a run. Whoever is left of the run removes it, however it ended. */
#pragma once

#include "base/error.h"

/* Before any fork: this process and its later forks know of one another's scratch folder. */
void scratch_share(void);
/* A name for a new folder, "word-" and 16 random hexadecimal digits, in $TMPDIR (without a '%')
 * or /tmp. Caller
 * frees. */
int scratch_name(const char *word, char **ret, struct error *err);
/* Creates the folder. Others may pass through but not look: services that drop privileges reach
 * their own folders below by name. Exists already: ERR_IO. */
int scratch_create(const char *path, struct error *err);
/* Removes the folder that was created last, by whichever of the processes; none is fine. */
void scratch_remove(void);

/* Below it, the TMPDIR of builds. The name marks temporary files in recorded command lines. */
#define SCRATCH_TMP "whet-tmp"
