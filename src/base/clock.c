#include "base/clock.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

static uint64_t now(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static _Atomic uint64_t *paused; /* NULL: never stopped */

uint64_t clock_mono_ns(void)
{
	return now(CLOCK_MONOTONIC) - (paused ? atomic_load(paused) : 0);
}

void clock_share_pause(void)
{
	void *p = mmap(
		NULL, sizeof(*paused), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	/* Without it, time limits run on while whet is stopped; nothing worse. */
	if (!paused && p != MAP_FAILED)
		paused = p;
}

void clock_add_pause(uint64_t ns)
{
	if (paused)
		atomic_fetch_add(paused, ns);
}

uint64_t clock_real_ns(void)
{
	return now(CLOCK_REALTIME);
}

void clock_utc_text(uint64_t seconds, char text[CLOCK_TEXT])
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(text, CLOCK_TEXT, "%Y-%m-%dT%H:%M:%SZ", &tm))
		text[0] = '\0';
}

uint64_t clock_thread_cpu_ns(void)
{
	return now(CLOCK_THREAD_CPUTIME_ID);
}

uint64_t clock_rusage_ns(const struct rusage *ru)
{
	return ((uint64_t)ru->ru_utime.tv_sec + (uint64_t)ru->ru_stime.tv_sec) * NS_PER_S +
	       ((uint64_t)ru->ru_utime.tv_usec + (uint64_t)ru->ru_stime.tv_usec) * 1000;
}

uint64_t clock_usage_ns(int who)
{
	struct rusage ru;

	getrusage(who, &ru);
	return clock_rusage_ns(&ru);
}

int clock_process_cpu_ns(pid_t pid, uint64_t *ret)
{
	struct timespec t;
	clockid_t id;
	int r = clock_getcpuclockid(pid, &id);

	if (r != 0) {
		errno = r;
		return -1;
	}
	if (clock_gettime(id, &t) < 0)
		return -1;
	*ret = (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
	return 0;
}
