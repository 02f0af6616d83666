/* Shared by the files of this folder. */
#pragma once

#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"
#include "elf/elf_profile.h"
#include "profile/raw_write.h"
#include "snapshot/snapshot.h"

/* ---- process.c: which process, and why not ------------------------------------------------- */

/* Finds the process that pid (or a thread of it) names, and a live thread of it, by which its
 * memory is reached even when its main thread has ended. */
int process_find(pid_t pid, pid_t *ret_pid, pid_t *ret_tid, struct error *err);
/* ERR_ENVIRONMENT: the kernel does not let whet look into the process; says why and what helps. */
int process_refused(pid_t pid, struct error *err);
/* Calls fn for each thread; returns how many there were. */
size_t process_threads(pid_t pid, void (*fn)(void *ctx, pid_t tid), void *ctx);
/* State of a thread as in /proc/PID/stat, 0 when it is gone. */
char process_state(pid_t pid, pid_t tid);

/* ---- maps.c: what is mapped where ------------------------------------------------------------ */

struct mapping {
	uint64_t start, end, off;
	uint64_t device, inode;
	bool exec, write, shared;
	char *path; /* "" for anonymous memory */
};
struct mappings {
	struct mapping *v;
	size_t n, cap;
};
void mappings_release(struct mappings *m);
int mappings_read(pid_t pid, pid_t tid, struct mappings *ret, struct error *err);
const struct mapping *mapping_at(const struct mappings *m, uint64_t at);
/* Whether all of n bytes are mapped. */
bool mapped(const struct mappings *m, uint64_t at, uint64_t n);
bool same_file(const struct mapping *a, const struct mapping *b);
/* Whether the same code of files is mapped at the same places. */
bool same_code(const struct mappings *a, const struct mappings *b);

/* ---- image.c: the instrumented images of the process ----------------------------------------- */

struct image {
	char *path;
	uint64_t device, inode, bias;
	struct elf_profile elf;
	uint64_t version; /* version word; the lower half may be 0 */
	bool assumed;
	uint64_t counter_bias, bitmap_bias; /* continuous mode with moved counters */
	struct raw_records records;
	struct buf constant; /* names, vtables, vtable names, one after the other */
	const uint8_t *copies[ELF_PRF_SECTIONS];
};
struct images {
	struct image *v;
	size_t n, cap;
	uint64_t program_inode;
};
void images_release(struct images *i);
/* Finds the images and reads of them what never changes; ret_maps is what it found them in. Notes
 * go to notes. */
int images_find(pid_t pid, pid_t tid, struct images *ret, struct mappings *ret_maps,
	struct strv *notes, struct error *err);
/* Address of a section in the process, where it really is (continuous mode moves two). */
uint64_t image_place(const struct image *i, enum elf_prf section);
void image_sections(const struct image *i, struct raw_sections *ret);

/* ---- copy.c: copies of memory ---------------------------------------------------------------- */

struct copy {
	uint64_t at;
	size_t n;
	uint8_t *p;
};
struct copies {
	struct copy *v;
	size_t n, cap;
	size_t sorted; /* the first of them, ascending by address */
	void **blocks; /* what the copies lie in; malloc'ed */
	size_t n_blocks, cap_blocks;
};
void copies_release(struct copies *c);
/* Makes room for one more copy, with its memory in place. */
void copies_want(struct copies *c, uint64_t at, size_t n);
/* Reads all copies from index `from` on. */
int copies_read(struct copies *c, size_t from, pid_t tid, struct error *err);
void copies_sort(struct copies *c);
/* Drops those that were added after the sorting, for a reading anew. */
static inline void copies_forget_lists(struct copies *c)
{
	c->n = c->sorted;
}
/* n bytes at an address, or NULL. */
const uint8_t *copies_look(const void *copies, uint64_t at, size_t n);
int memory_read(pid_t tid, uint64_t at, void *to, size_t n, struct error *err);

/* ---- lists.c: value lists outside the sections ------------------------------------------------
 */

/* Reads the heads and elements that lie outside the copies; the process stands still. */
int lists_read(struct copies *c, const struct images *i, pid_t tid, struct error *err);

/* ---- stop.c ------------------------------------------------------------------------------------
 */

struct stop_facts {
	uint64_t ns; /* from the first thread's interruption until the last was let go */
	size_t threads;
};
/* Stops all threads of the process, calls work, and lets them go, whatever work returns. Signals to
 * whet wait meanwhile. Returns what work returned, or -1. */
int stopped_call(pid_t pid, int (*work)(void *ctx, struct error *err), void *ctx,
	struct stop_facts *ret, struct error *err);

/* ---- rest.c ------------------------------------------------------------------------------------
 */

/* Calls work while all threads of the process sleep, without stopping it: again when one ran
 * meanwhile, so work must start anew each time. 0 done, 1 the process did not come to rest, -1 work
 * failed. */
int rested_call(pid_t pid, int (*work)(void *ctx, struct error *err), void *ctx, struct error *err);
