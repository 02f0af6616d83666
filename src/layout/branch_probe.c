/* What the machine answers when branch stacks are asked for. */
#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "layout/branch_events.h"

/* The value of the first "NAME : VALUE" line in /proc/cpuinfo; "" when there is none. Caller frees.
 */
static char *cpu_field(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *line = text; *line;) {
		const char *end = strchrnul(line, '\n'),
			   *colon = memchr(line, ':', (size_t)(end - line));
		const char *stop = line + n;

		while (colon && stop < colon && (*stop == ' ' || *stop == '\t'))
			stop++;
		if (colon && stop == colon && strncmp(line, name, n) == 0) {
			colon += colon + 1 < end && colon[1] == ' ' ? 2 : 1;
			return xstrndup(colon, (size_t)(end - colon));
		}
		line = *end ? end + 1 : end;
	}
	return xstrdup("");
}

static enum branch_vendor vendor_of(const char *id, const char *arm)
{
	if (strcmp(id, "GenuineIntel") == 0)
		return BRANCH_CPU_INTEL;
	if (strcmp(id, "AuthenticAMD") == 0 || strcmp(id, "HygonGenuine") == 0)
		return BRANCH_CPU_AMD;
	return *arm ? BRANCH_CPU_ARM : BRANCH_CPU_OTHER;
}

static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += n)
		if ((at == text || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
			return true;
	return false;
}

/* The answer of a hypervisor on Arm machines, and on those of IBM. */
static bool tree_tells_hypervisor(void)
{
	return path_exists("/proc/device-tree/hypervisor") || path_exists("/sys/hypervisor/type");
}

static void probe_cpu(struct branch_machine *m)
{
	auto_buf struct buf text = BUF_INIT;
	auto_free char *id = NULL, *arm = NULL, *name = NULL, *family = NULL, *model = NULL;
	auto_free char *flags = NULL;

	if (file_read("/proc/cpuinfo", 0, &text, NULL) < 0)
		buf_clear(&text);
	id = cpu_field(buf_str(&text), "vendor_id");
	arm = cpu_field(buf_str(&text), "CPU implementer");
	name = cpu_field(buf_str(&text), "model name");
	family = cpu_field(buf_str(&text), "cpu family");
	model = cpu_field(buf_str(&text), "model");
	flags = cpu_field(buf_str(&text), "flags");
	m->vendor = vendor_of(id, arm);
	m->hypervisor = has_word(flags, "hypervisor") || tree_tells_hypervisor();
	m->cpu = *family ? xasprintf("%s, family %s model %s", name, family, model)
			 : xstrdup(*name ? name : arm);
}

/* As systemd-detect-virt finds them: what the container's manager says, or the file that it leaves.
 */
static bool in_container(void)
{
	auto_buf struct buf environment = BUF_INIT;

	if (getenv("container") || path_exists("/.dockerenv") ||
		path_exists("/run/.containerenv") || path_exists("/run/systemd/container"))
		return true;
	if (file_read("/proc/1/environ", 0, &environment, NULL) < 0)
		return false;
	return environment.n && memmem(environment.p, environment.n, "\0container=", 11) != NULL;
}

static bool may_monitor(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};

	if (syscall(SYS_capget, &head, data) != 0)
		return false;
	return (data[CAP_PERFMON / 32].effective & 1u << CAP_PERFMON % 32) ||
	       (data[CAP_SYS_ADMIN / 32].effective & 1u << CAP_SYS_ADMIN % 32);
}

static int paranoid(void)
{
	auto_buf struct buf text = BUF_INIT;
	char *end;
	long v;

	if (file_read("/proc/sys/kernel/perf_event_paranoid", 64, &text, NULL) < 0)
		return BRANCH_PARANOID_UNKNOWN;
	v = strtol(buf_str(&text), &end, 10);
	return end == buf_str(&text) ? BRANCH_PARANOID_UNKNOWN : (int)v;
}

/* Opens an event on this process as `perf record` would, and closes it. 0, or errno. */
static int try_event(const struct branch_event *e, bool stack)
{
	struct perf_event_attr a = {
		.size = sizeof(a),
		.type = e->type,
		.config = e->config,
		.sample_period = e->period ? e->period : 1000003,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd;

	if (stack) {
		a.sample_type |= PERF_SAMPLE_BRANCH_STACK;
		a.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
	}
	fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

void branch_machine_probe(const char *path_list, struct branch_machine *ret)
{
	struct branch_machine m = {.container = in_container(),
		.may_monitor = may_monitor(),
		.paranoid = paranoid(),
		.spe = path_exists("/sys/bus/event_source/devices/arm_spe_0"),
		.perf = path_find_program("perf", path_list, NULL)};

	probe_cpu(&m);
	for (const struct branch_event *e = branch_events(m.vendor);
		e->perf && m.n_trials < BRANCH_TRIALS_MAX; e++) {
		struct branch_trial t = {e, .with_stack = try_event(e, true)};

		if (t.with_stack)
			t.without = try_event(e, false);
		m.trials[m.n_trials++] = t;
	}
	*ret = m;
}

void branch_machine_release(struct branch_machine *m)
{
	free(m->cpu);
	free(m->perf);
	*m = (struct branch_machine){0};
}
