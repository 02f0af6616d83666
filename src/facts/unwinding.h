/* What a linked file holds for stack unwinding: exceptions, panics and backtraces all depend on it.
 * What a tool that moves code (a linker, BOLT) must keep is told by comparing two of these. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"

/* A function, or one part of it, as the symbol table names it. Functions folded into one another
 * have the same start. */
struct unwind_function {
	char *name; /* linkage name of the function; that of a part without ".cold.0" and its kind
		     */
	char *part; /* what was taken off ("" for the part with the entry) */
	uint64_t start, size;
	bool framed;  /* FDEs cover its first and its last byte */
	bool handles; /* an FDE of it names exception data (LSDA) */
};

enum unwind_kind {
	UNWIND_TABLE, /* .eh_frame_hdr: absent, unsorted, incomplete, or it contradicts .eh_frame */
	UNWIND_FRAME, /* call frame information that cannot be read or executed */
	UNWIND_DATA,  /* exception data that cannot be read */
	UNWIND_PAD,   /* a landing pad outside its function */
	UNWIND_KINDS
};

/* A contradiction within one file. */
struct unwind_fault {
	enum unwind_kind kind;
	char *function; /* whose, without its part's suffix; "": of the whole file, or unnamed */
	char *text;     /* what is wrong, with the address */
};

struct unwind_facts {
	char *unknown; /* why the file cannot be judged; NULL: it can */
	struct unwind_function *functions;
	size_t n_functions, cap_functions; /* sorted by name, part, start */
	size_t n_frames;                   /* FDEs */
	size_t n_entries;                  /* of the table in .eh_frame_hdr */
	size_t n_data;                     /* FDEs with exception data */
	size_t n_pads;                     /* landing pads, counted per call site */
	size_t n_parts;                    /* functions that are a part without the entry */
	struct unwind_fault *faults;
	size_t n_faults, cap_faults;
};
void unwind_facts_release(struct unwind_facts *f);
/* text is taken; function is copied. */
void unwind_fault_add(
	struct unwind_facts *f, enum unwind_kind kind, const char *function, char *text);
/* function and parts are found by it afterwards; sorts them. */
void unwind_facts_seal(struct unwind_facts *f);
/* The first of the functions of this name; *n: how many follow it, itself counted. NULL: none. */
const struct unwind_function *unwind_find(
	const struct unwind_facts *f, const char *name, size_t *n);
/* How many bytes of a linkage name are the function's own: BOLT and gcc add ".cold", ".cold.0",
 * ".warm" and ".part.0" is none of theirs to take off, since such a clone is a function. */
size_t unwind_name_length(const char *name);

/* What a command printed and how it ended, with one build. */
struct unwind_run {
	char *output;    /* the last lines of its standard output, for messages */
	char sha256[65]; /* of all of it */
	char *end;       /* "exit code 0", "signal 11 (Segmentation fault)" */
	bool passed;     /* with exit code 0 */
};
/* The user's own proof (`gates: unwind:`). */
struct unwind_proof {
	char *command; /* NULL: there is none */
	struct unwind_run plain, final;
};
void unwind_proof_release(struct unwind_proof *p);
int unwind_proof_write(const struct unwind_proof *p, const char *path, struct error *err);
int unwind_proof_read(const char *path, struct unwind_proof *ret, struct error *err);
