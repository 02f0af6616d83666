/* What the merged profile holds, as far as gates and report need it, and where it came from. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strv.h"

/* In the hash of a record whose counters were put in after inlining (LLVM:
 * NamedInstrProfRecord::CS_FLAG_IN_FUNC_HASH). Compilers print it, too. */
#define PROFILE_CONTEXT_SENSITIVE (1ULL << 60)

struct profile_function {
	char *key; /* PGO name: linkage name, or path;name for a local one */
	uint64_t hash;
	uint64_t max_count; /* its largest counter; 0: not executed */
	bool single_block;  /* known to have no branch, whatever the hash says */
	double count;       /* all of them together */
	bool second;        /* its counters were put in after inlining, by the second round */
	bool gcc;           /* counted by gcc's counters; key and hash are then of its kind */
};

struct profile_facts {
	char *sha256;                 /* of the profile as published */
	uint64_t functions, executed; /* of the first round */
	uint64_t second_functions, second_executed;
	/* Of these, what gcc's counters counted, in a program that has LLVM's, too. */
	uint64_t gcc_functions, gcc_executed;
	/* Of such a program: digest of the profile of the other kind of counters than the main
	 * compiler's; NULL: the program has one kind. */
	char *beside_sha256;
	uint64_t total_count;   /* of all counters */
	bool context_sensitive; /* it holds counts of a second round */
	bool left_out; /* the compilers do not get the functions whose counts are all zero */
	struct profile_function *v; /* every function record, sorted by key and hash */
	size_t n, cap;
	bool given;  /* by --profile, not trained in this build */
	bool reused; /* given, and it is the one of the last trained build: --profile last */
};

/* Where a profile comes from: published beside it, checked when it is used again. */
struct provenance {
	char *profile;  /* digest of the profile's file */
	char *beside;   /* of the file of the other kind of counters; NULL: there is none */
	char *source;   /* digest of the sources that were trained */
	char *training; /* digest of the training plan */
	char *target;   /* target triple */
	char *project, *created; /* created: RFC 3339 UTC */
	char *commit;            /* that was trained, `-dirty` behind it; NULL: not known */
	/* The build that took it instead of training: digest of its sources, and commit. NULL: it
	 * was published by the build that trained it. */
	char *reused_source, *reused_commit;
	struct strv compilers; /* one line each: path-independent identity, e.g. "clang 22.1.8" */
};

void profile_facts_release(struct profile_facts *p);
void provenance_release(struct provenance *p);
int provenance_write(const struct provenance *p, const char *path, struct error *err);
int provenance_read(const char *path, struct provenance *ret, struct error *err);
