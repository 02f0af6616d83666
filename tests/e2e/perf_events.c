/* Takes the place of perf_event_open(2) for a machine that has no counters, or to take those that
 * it has: preloaded, WHET_PERF_EVENTS says which machine this is.
 *
 *   known      every event counts a known number: instructions 3000000, cycles 2000000, L1i misses
 *              4000, iTLB misses 500, branch misses 60; a tenth of them in kernel mode
 *   halved     the same, each with a counter for half of the time, so half of the numbers is read
 *   clock      instructions and cycles are nanoseconds on a processor, counted by the real
 *              kernel; the misses are page faults
 *   user       known, but kernel mode is denied
 *   still      every event is there and never counts
 *   taken      every event is there and never has a counter
 *   denied     EACCES
 *   absent     ENOENT
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef long call(long number, ...);

static bool is_mode(const char *name)
{
	const char *mode = getenv("WHET_PERF_EVENTS");

	return mode && strcmp(mode, name) == 0;
}

static uint64_t known(const struct perf_event_attr *a)
{
	if (a->type == PERF_TYPE_HARDWARE)
		return a->config == PERF_COUNT_HW_INSTRUCTIONS ? 3000000
		       : a->config == PERF_COUNT_HW_CPU_CYCLES ? 2000000
							       : 60;
	return (a->config & 0xff) == PERF_COUNT_HW_CACHE_L1I ? 4000 : 500;
}

/* A file that holds what one read of an event gives. */
static long event(const struct perf_event_attr *a)
{
	struct {
		uint64_t value, enabled, running;
	} count = {known(a) / (a->exclude_user ? 10 : 1), 1000000, 1000000};
	int fd = memfd_create("event", MFD_CLOEXEC);

	if (is_mode("halved")) {
		count.value /= 2;
		count.running /= 2;
	}
	if (is_mode("still") || is_mode("taken"))
		count.value = 0;
	if (is_mode("taken"))
		count.running = 0;
	if (fd < 0 || write(fd, &count, sizeof(count)) != (ssize_t)sizeof(count) ||
		lseek(fd, 0, SEEK_SET) < 0)
		abort();
	return fd;
}

static long fail(int e)
{
	errno = e;
	return -1;
}

static long perf_event_open(call *real, const struct perf_event_attr *a, long pid, long flags)
{
	struct perf_event_attr clock = *a;
	bool misses = a->type != PERF_TYPE_HARDWARE || a->config == PERF_COUNT_HW_BRANCH_MISSES;

	if (is_mode("denied") || (is_mode("user") && a->exclude_user))
		return fail(EACCES);
	if (is_mode("absent"))
		return fail(ENOENT);
	if (!is_mode("clock"))
		return event(a);
	clock.type = PERF_TYPE_SOFTWARE;
	clock.config = misses ? PERF_COUNT_SW_PAGE_FAULTS : PERF_COUNT_SW_TASK_CLOCK;
	return real(SYS_perf_event_open, &clock, pid, -1L, -1L, flags);
}

long syscall(long number, ...)
{
	static call *real;
	va_list ap;
	long v[6];

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		v[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_perf_event_open)
		return perf_event_open(real, (const struct perf_event_attr *)v[0], v[1], v[4]);
	return real(number, v[0], v[1], v[2], v[3], v[4], v[5]);
}
