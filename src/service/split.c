/* User and kernel time apart, as far as the kernel tells (proc(5), fields 14 to 17). */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "service/internal.h"

static void add_process(pid_t pid, struct cpu_split *sum)
{
	uint64_t tick = NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
	unsigned long long user, kernel, user_ended, kernel_ended;
	auto_buf struct buf text = BUF_INIT;
	char path[64];
	const char *p;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (file_read(path, 4096, &text, NULL) < 0)
		return;
	p = strrchr(buf_str(&text), ')'); /* the name may hold anything */
	if (!p || sscanf(p, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %llu %llu",
			  &user, &kernel, &user_ended, &kernel_ended) != 4)
		return;
	sum->user_ns += (user + user_ended) * tick;
	sum->kernel_ns += (kernel + kernel_ended) * tick;
}

void service_cpu_split(const struct service *s, struct cpu_split *ret)
{
	auto_free pid_t *pids = NULL;
	size_t n = tree_members(s->tree, &pids);
	struct cpu_split sum = {0};

	/* The reaper has the time of those that lost their parents. */
	add_process(s->tree->reaper, &sum);
	for (size_t i = 0; i < n; i++)
		add_process(pids[i], &sum);
	*ret = sum;
}
