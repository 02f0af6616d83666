/* Reading a process that rests, without stopping it: while all its threads sleep, nothing in it
 * changes. Whether one ran meanwhile is told by the kernel's count of how often each went to sleep.
 * So nothing in the process sees that it was read, as an interrupted system call would. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "snapshot/internal.h"

#define LIMIT_NS (250 * NS_PER_MS) /* for a process that does not come to rest */
#define SETTLE_NS (2 * NS_PER_MS)  /* asleep for as long as this, it is no short pause */
#define PAUSE_NS (5 * NS_PER_MS)

struct look {
	pid_t pid;
	bool asleep;
	size_t threads;
	uint64_t mark; /* of all threads, with how often each went to sleep */
};

static uint64_t field(const char *status, const char *name)
{
	const char *at = strstr(status, name);
	uint64_t v = 0;

	return at && sscanf(at + strlen(name), "%" SCNu64, &v) == 1 ? v : 0;
}

static void look_at(void *ctx, pid_t tid)
{
	struct look *l = ctx;
	auto_free char *path = xasprintf("/proc/%d/task/%d/status", (int)l->pid, (int)tid);
	auto_buf struct buf b = BUF_INIT;
	const char *state;

	if (file_read(path, 65536, &b, NULL) < 0) {
		l->asleep = false;
		return;
	}
	state = strstr(buf_str(&b), "\nState:\t");
	l->asleep = l->asleep && state && state[8] == 'S';
	l->threads++;
	/* The order of the listing stays while no thread comes or goes. */
	l->mark = (l->mark ^ (uint64_t)tid) * 0x100000001b3;
	l->mark = (l->mark ^ field(buf_str(&b), "\nvoluntary_ctxt_switches:")) * 0x100000001b3;
}

static struct look look(pid_t pid)
{
	struct look l = {.pid = pid, .asleep = true};

	process_threads(pid, look_at, &l);
	return l;
}

static bool same_sleep(const struct look *a, const struct look *b)
{
	return a->asleep && b->asleep && a->threads && a->threads == b->threads &&
	       a->mark == b->mark;
}

static void nap(uint64_t ns)
{
	nanosleep(&(struct timespec){.tv_nsec = (long)ns}, NULL);
}

int rested_call(pid_t pid, int (*work)(void *ctx, struct error *err), void *ctx, struct error *err)
{
	uint64_t end = clock_mono_ns() + LIMIT_NS;

	do {
		struct look before = look(pid), settled, after;
		struct error own = ERROR_INIT;
		int rc;

		nap(SETTLE_NS);
		settled = look(pid);
		if (same_sleep(&before, &settled)) {
			rc = work(ctx, &own);
			after = look(pid);
			/* What failed in a process that ran may have been half of a change. */
			if (same_sleep(&settled, &after))
				return rc < 0 ? error_move(err, &own) : 0;
		}
		error_release(&own);
		if (!before.threads)
			return 1;
		nap(PAUSE_NS);
	} while (clock_mono_ns() < end);
	return 1;
}
