/* Between the files that read branch stacks. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "layout/branch_image.h"
#include "layout/branch_text.h"

/* Which executable mappings of the program each process has. */
struct branch_mapping {
	uint64_t start, end, offset; /* [start, end) holds the file from offset on */
};

struct branch_process {
	int64_t pid;
	struct branch_mapping *v;
	size_t n, cap;
	struct branch_process *next; /* of the same bucket */
};

struct branch_processes {
	struct branch_process **buckets;
	size_t n, n_buckets, max;
};

void branch_processes_release(struct branch_processes *p);
/* NULL: the program is not mapped in it. */
const struct branch_process *branch_process_find(const struct branch_processes *p, int64_t pid);
/* The program's file lies at start. What was mapped there is gone. */
int branch_process_map(struct branch_processes *p, int64_t pid, const struct branch_mapping *m,
	uint64_t *processes, struct error *err);
/* Another file lies there. */
void branch_process_unmap(struct branch_processes *p, int64_t pid, const struct branch_mapping *m);
void branch_process_drop(struct branch_processes *p, int64_t pid); /* exec */
int branch_process_fork(struct branch_processes *p, int64_t parent, int64_t child,
	uint64_t *processes, struct error *err);
/* As linked; 0: not in the program. */
uint64_t branch_process_address(
	const struct branch_process *p, const struct branch_image *i, uint64_t address);

/* Traces and how often each occurs. Addresses as linked; 0: not in the program. */
struct branch_trace {
	uint64_t branch; /* where the branch begins; BRANCH_RETURN set: it is a return */
	uint64_t start;  /* where it leads to */
	uint64_t end;    /* where the next branch begins; BRANCH_NO_END: not known */
	uint64_t count, mispredicted;
};
#define BRANCH_RETURN ((uint64_t)1 << 63)
#define BRANCH_NO_END UINT64_MAX

struct branch_table {
	struct branch_trace *v; /* a count of 0: free */
	size_t n, slots, max;
};

void branch_table_release(struct branch_table *t);
int branch_table_add(struct branch_table *t, const struct branch_trace *trace, struct error *err);
/* All entries in front, sorted; nothing can be added any more. */
void branch_table_sort(struct branch_table *t);
int branch_table_write(const struct branch_table *t, const struct branch_image *i,
	enum branch_format format, const char *path, struct error *err);

/* One line of text without its end. */
struct branch_line {
	const char *p, *end;
	uint64_t number; /* from 1 */
};

int branch_line_error(const struct branch_line *l, struct error *err, const char *what);
bool branch_line_hex(struct branch_line *l, uint64_t *ret);     /* with or without 0x */
bool branch_line_number(struct branch_line *l, int64_t *ret);   /* decimal, also negative */
bool branch_line_word(struct branch_line *l, const char *word); /* passes over it, if there */
void branch_line_spaces(struct branch_line *l);

enum branch_event_kind {
	BRANCH_EVENT_OTHER,
	BRANCH_EVENT_MAP,
	BRANCH_EVENT_FORK,
	BRANCH_EVENT_EXEC,
	BRANCH_EVENT_LOST,
};

struct branch_text_event {
	enum branch_event_kind kind;
	int64_t pid, parent;
	uint64_t lost;
	struct branch_mapping map;
	const char *build_id, *file; /* point into the line; build_id NULL: not told */
	size_t build_id_n, file_n;
};
/* From "PERF_RECORD_" on. */
int branch_event_read(struct branch_line *l, struct branch_text_event *ret, struct error *err);

/* One entry of a stack. */
struct branch_entry {
	uint64_t from, to;
	bool mispredicted, not_taken, is_return;
};
int branch_entry_read(struct branch_line *l, struct branch_entry *ret, struct error *err);
