/* Branch stacks, as `perf script -F pid,brstack --show-mmap-events --show-task-events` prints them,
 * to what llvm-bolt reads.
 *
 * A sample is a process and the last 16 or 32 branches that its processor took, the newest first:
 *
 *   1234  0x55d0c0a1b2c4/0x55d0c0a1b300/P/-/-/3/COND/- 0x55d0c0a1b2f0/…
 *
 * (from, to, predicted or mispredicted, two fields on transactions, cycles, and since Linux 5.18
 * kind and speculation; tools/perf/Documentation/perf-script.txt, "brstack"). What ran between two
 * branches follows from them: from where the older one led to, up to where the newer one begins.
 * Each branch with the stretch behind it is a trace.
 *
 * The addresses are those of a process. Which file lies where is told by events on lines of their
 * own (PERF_RECORD_MMAP2), which process has the memory of which other by PERF_RECORD_FORK and
 * PERF_RECORD_COMM exec. Of all that only the traces of one program are kept, as often as each
 * occurs, with its addresses as linked: memory grows with the program's branches and the number of
 * its processes, not with the text. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "layout/branch_image.h"

struct branch_counts {
	uint64_t lines;
	uint64_t samples;
	uint64_t foreign;       /* samples of processes in which the program is not mapped */
	uint64_t without_stack; /* samples of its processes that hold no branch */
	uint64_t of_program;    /* samples with a branch that begins or ends in the program */
	uint64_t branches;      /* of its processes; each is one of the following six */
	uint64_t inside;        /* begins and ends in the program */
	uint64_t entering;      /* ends in it: a return from a library, a call from one */
	uint64_t leaving;
	uint64_t outside;   /* in libraries alone */
	uint64_t kernel;    /* an end of it lies in the kernel: an interrupt */
	uint64_t not_taken; /* of processors that record these, too */
	uint64_t mispredicted;
	uint64_t lost;         /* samples that the kernel could not write */
	uint64_t other_builds; /* mapped files of its name, with another build-id */
	uint64_t processes;    /* that had the program mapped; once more after exec */
	/* After branch_reader_end(): */
	uint64_t traces;       /* stretches between two branches, in the program */
	uint64_t contradicted; /* of these: backwards, or from one function into another */
	size_t distinct;       /* traces, each counted once */
	size_t functions;      /* in which a branch begins or ends */
};

struct branch_reader_options {
	const struct branch_image *image; /* must outlive the reader */
	/* Last component of the path by which it was recorded; NULL: the image's. */
	const char *recorded_as;
	size_t max_distinct;  /* traces; 0: BRANCH_DISTINCT_MAX */
	size_t max_processes; /* 0: BRANCH_PROCESSES_MAX */
};

#define BRANCH_DISTINCT_MAX ((size_t)1 << 22) /* at most 500 MiB while the table grows */
#define BRANCH_PROCESSES_MAX ((size_t)1 << 18)
#define BRANCH_LINE_MAX ((size_t)1 << 20) /* bytes */

struct branch_reader;

struct branch_reader *branch_reader_new(const struct branch_reader_options *o);
void branch_reader_free(struct branch_reader *r);
/* The text in pieces of any size. ERR_CORRUPT names the line; after an error the reader is good for
 * branch_reader_free() alone. */
int branch_reader_add(struct branch_reader *r, const char *text, size_t n, struct error *err);
/* The text is complete: one that ends within a line was cut off, and is refused. */
int branch_reader_end(struct branch_reader *r, struct error *err);
/* The same for all that comes from fd, to its end. */
int branch_reader_take(struct branch_reader *r, int fd, struct error *err);
const struct branch_counts *branch_reader_counts(const struct branch_reader *r);

/* How the traces are written, all for `perf2bolt --pa` (bolt/docs/profiles.md in LLVM,
 * "Pre-aggregated format"), sorted. */
enum branch_format {
	BRANCH_TRACES, /* T and R: LLVM 22 and newer */
	BRANCH_PAIRS,  /* B, F and f, which all versions read; a return's target within the same
			* stretch is told less exactly */
};
enum branch_format branch_format_for(unsigned llvm_major);
/* After branch_reader_end(). Appears whole or not at all. */
int branch_reader_write(
	struct branch_reader *r, enum branch_format format, const char *path, struct error *err);

/* Whether the counts are a profile of the program to lay it out by: ERR_GATE says what they lack,
 * with figures and the next step. */
#define BRANCH_MIN_BRANCHES 10000     /* that begin or end in the program */
#define BRANCH_MIN_STACKS_PERCENT 50  /* of samples of its processes */
#define BRANCH_MIN_PROGRAM_PERCENT 5  /* of samples */
#define BRANCH_MAX_AGAINST_PERCENT 10 /* of traces, as perf2bolt's warning */
int branch_counts_judge(
	const struct branch_counts *c, const struct branch_image *i, struct error *err);
/* One line: how much was read, how much of it is the program's. */
void branch_counts_describe(const struct branch_counts *c, struct buf *ret);

/* Looks for the program in what `perf buildid-list` printed. *ret_name is the last component of the
 * path under which it was recorded (caller frees), NULL when the list tells nothing: the program or
 * its entry has no build-id. ERR_MISMATCH: another build of it was recorded. */
int branch_buildid_find(
	const char *list, const struct branch_image *i, char **ret_name, struct error *err);
