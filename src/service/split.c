/* User and kernel time apart, as far as the kernel tells. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "service/internal.h"

/* The clocks of a process (linux/posix-timers_types.h): the kernel's samples of user and kernel
 * time together, and of user time, as they are. /proc/PID/stat has them rounded to hundredths of a
 * second, which a short measurement of several processes is lost in. */
enum process_clock { CLOCK_BOTH = 0, CLOCK_USER = 1 };

static bool read_clock(pid_t pid, enum process_clock which, uint64_t *ret)
{
	clockid_t id = (clockid_t)(~(unsigned int)pid << 3 | (unsigned int)which);
	struct timespec t;

	if (clock_gettime(id, &t) < 0)
		return false;
	*ret = (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
	return true;
}

/* Of the children that it waited for: proc(5), fields 16 and 17. */
static void add_ended(pid_t pid, struct cpu_split *sum)
{
	uint64_t tick = NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
	auto_buf struct buf text = BUF_INIT;
	unsigned long long user, kernel;
	char path[64];
	const char *p;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (file_read(path, 4096, &text, NULL) < 0)
		return;
	p = strrchr(buf_str(&text), ')'); /* the name may hold anything */
	if (!p || sscanf(p, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %llu %llu",
			  &user, &kernel) != 2)
		return;
	sum->user_ns += user * tick;
	sum->kernel_ns += kernel * tick;
}

static void add_process(pid_t pid, struct cpu_split *sum)
{
	uint64_t both, user;

	if (!read_clock(pid, CLOCK_USER, &user) || !read_clock(pid, CLOCK_BOTH, &both))
		return;
	sum->user_ns += user;
	sum->kernel_ns += both > user ? both - user : 0;
	add_ended(pid, sum);
}

void service_cpu_split(const struct service *s, struct cpu_split *ret)
{
	auto_free pid_t *pids = NULL;
	size_t n = tree_members(s->tree, &pids);
	struct cpu_split sum = {0};

	/* The reaper has the time of those that lost their parents. */
	add_ended(s->tree->reaper, &sum);
	for (size_t i = 0; i < n; i++)
		add_process(pids[i], &sum);
	*ret = sum;
}
