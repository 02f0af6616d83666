#include "base/clock.h"

#include <errno.h>
#include <time.h>

static uint64_t now(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

uint64_t clock_mono_ns(void)
{
	return now(CLOCK_MONOTONIC);
}

uint64_t clock_real_ns(void)
{
	return now(CLOCK_REALTIME);
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
