/* Progress on standard error: a live line per running stage on a terminal, plain lines elsewhere.
 */
#pragma once

#include <stdbool.h>

#include "base/events.h"
#include "cli/opt.h"

struct terminal;

struct terminal *terminal_new(const struct cli *cli);
const struct events *terminal_events(struct terminal *t);
void terminal_free(struct terminal *t); /* leaves the cursor on a fresh line */
