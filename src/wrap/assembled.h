/* Objects without a record: what made them, told from what they hold. `as`, `objcopy` and `ld -r`
 * are called past whet, so this is all there is. Whatever is not proved stays unknown. */
#pragma once

#include "base/strv.h"
#include "facts/compile.h"
#include "wrap/wrap.h"

/* Assembler sources of the build, gathered when first needed; zero it before the first use. */
struct assembler_sources {
	struct strv paths;
	bool gathered;
};
void assembler_sources_release(struct assembler_sources *s);

/* Whether an assembler made this object of a source that no compiler wrote: it says so itself, or
 * an assembler source of the build defines all its symbols and, where it can be assembled alone,
 * gives its code. *source: that file, when it is known; caller frees. */
bool assembled_by_hand(struct assembler_sources *s, const struct wrap_node *n,
	const struct link_input *in, char **source);
/* The call (clang -S) that wrote what this object was assembled of: assembling its output once more
 * gives the same code. NULL: none. */
const struct compile_record *assembled_from_call(
	const struct compile_log *log, const struct wrap_node *n, const struct link_input *in);
