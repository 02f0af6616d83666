/* Recording branch stacks of running processes with perf, and what llvm-bolt reads made of them.
 *
 *   branch_record_start()   the services are up, the load has not begun
 *   branch_record_stop()    the load has ended, the services still run
 *   branch_record_read()    the recording, to traces of one program
 *   branch_profile_write()  the traces, to a profile of llvm-bolt
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "layout/branch_events.h"
#include "layout/branch_text.h"

struct branch_record_options {
	const char *perf;                 /* path of the program */
	const struct branch_event *event; /* of branch_choose() */
	/* Processes to record: all their threads, and everything that any of these starts from now
	 * on. */
	const pid_t *pids;
	size_t n_pids;
	const char *data; /* where the recording goes; two fifos lie beside it meanwhile */
	const char *log;  /* what perf prints */
};

/* Samples a second and processor, for events without a period; a prime, so that timers do not beat
 * with it. Up to the kernel's limit (kernel.perf_event_max_sample_rate). */
#define BRANCH_FREQUENCY 3989

struct branch_recording;

/* Returns when the first sample can be taken. NULL: ERR_ENVIRONMENT when the kernel refuses,
 * ERR_CHILD with perf's last lines. Needs perf 5.10 or newer (--control). */
struct branch_recording *branch_record_start(
	const struct branch_record_options *o, struct error *err);
/* Ends the recording and frees it. It may have ended with the last of its processes. */
int branch_record_stop(struct branch_recording *r, struct error *err);
/* Ends and frees it, and removes its files. */
void branch_record_abandon(struct branch_recording *r);

struct branch_read_options {
	const char *perf, *data;
	const struct branch_image *image; /* must outlive *ret */
	const char *log;                  /* perf's messages are appended */
	uint64_t timeout_ns;
};
/* Reads and judges a recording: ERR_MISMATCH, ERR_GATE when it is not one of this program, or too
 * little. ret is for branch_reader_free(). */
int branch_record_read(
	const struct branch_read_options *o, struct branch_reader **ret, struct error *err);

struct branch_profile_options {
	const char *perf2bolt; /* path of the program, */
	unsigned major;        /* and its LLVM */
	const char *binary;    /* that was recorded */
	const char *traces;    /* written first: what perf2bolt gets */
	const char *out;       /* the profile (.fdata) */
	const char *log;       /* perf2bolt's output */
	uint64_t timeout_ns;
};
/* ERR_GATE: by perf2bolt's own count, more than BRANCH_MAX_AGAINST_PERCENT of the traces do not fit
 * the program's instructions. */
int branch_profile_write(
	struct branch_reader *r, const struct branch_profile_options *o, struct error *err);
