#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "bench/internal.h"

/* Whether two processors are threads of one core. The list reads "0-1" or "0,4". */
static bool are_siblings(int a, int b)
{
	auto_buf struct buf text = BUF_INIT;
	char path[96];
	const char *p;

	(void)snprintf(path, sizeof(path),
		"/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", a);
	if (file_read(path, 4096, &text, NULL) < 0)
		return false;
	for (p = buf_str(&text); *p >= '0' && *p <= '9';) {
		char *end;
		long first = strtol(p, &end, 10), last = first;

		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		if (b >= first && b <= last)
			return true;
		p = *end == ',' ? end + 1 : end;
	}
	return false;
}

int cores_choose(struct cores *ret, struct error *err)
{
	struct cores got = {-1, -1, false, false};
	int other = -1;
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return error_set(err, ERR_ENVIRONMENT,
			"cannot read which processors may be used: %s", strerror(errno));
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET((size_t)cpu, &set))
			continue;
		if (got.subject < 0)
			got.subject = cpu;
		else if (!are_siblings(got.subject, cpu) && got.driver < 0)
			got.driver = cpu;
		else if (other < 0)
			other = cpu;
	}
	if (got.driver < 0 && other >= 0) {
		got.driver = other;
		got.siblings = true;
	}
	if (got.driver < 0) {
		got.driver = got.subject;
		got.alone = true;
	}
	*ret = got;
	return 0;
}

int cores_pin_self(int cpu, struct error *err)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		return error_set(err, ERR_ENVIRONMENT,
			"cannot pin the load driver to processor %d: %s", cpu, strerror(errno));
	return 0;
}
