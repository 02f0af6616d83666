/* The state of a project: nodes with their outputs, profiles by content, build folders by token,
 * the one slot, the lock and the index of file digests. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"

struct store {
	char *root;     /* $WHET_STATE or the user's cache folder, then PROJECT-xxxxxxxxxxxx */
	int lock_fd;    /* held open-file-description lock; -1 */
};

int store_open(struct store *s, const char *project, const char *project_root, struct error *err);
void store_close(struct store *s);
char *store_path(const struct store *s, const char *name); /* root/name; caller frees */
