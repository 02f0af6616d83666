/* What a compiler prints on standard error: profile diagnostics are taken down, and what whet's own
 * flags brought about is kept from the user. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "facts/compile.h"

/* Whether a line (without colour codes and newline) is a diagnostic of the profile passes. profile:
 * path of the profile given to the compiler, or NULL. ret is owned by the caller. */
bool diag_parse(const char *line, const char *profile, struct profile_diag *ret);

struct diag_filter {
	struct compile_record *record; /* diagnostics are added here */
	const char *profile;
	bool rust;          /* rustc: profile warnings of both forms are not forwarded */
	bool gcc;           /* a line that says where stands in front of each diagnostic */
	bool hide_warnings; /* the call had -w: only errors and staleness are forwarded */
	/* state */
	bool dropping;
	unsigned hidden; /* warnings that were not forwarded */
	struct buf preamble;
};

/* Takes one line, newline included when there is one, and adds to out what is to be forwarded. */
void diag_filter_line(struct diag_filter *f, const char *line, size_t n, struct buf *out);
/* At the end of the stream. */
void diag_filter_end(struct diag_filter *f, struct buf *out);
