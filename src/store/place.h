/* Where states lie, and how a folder is recognised as one that whet made. Private to src/store,
 * apart from what store.h offers. */
#pragma once

#include <stdbool.h>

#include "base/error.h"

/* What the marker of a state says. Strings are owned. */
struct state_mark {
	char *project, *folder;
};
void state_mark_release(struct state_mark *m);

#define STATE_MARKER "whet-state.json"

/* Whether base/name is a state folder: a real folder of this user, with a marker that fits its
 * name. */
bool state_recognise(const char *base, const char *name, struct state_mark *ret);
