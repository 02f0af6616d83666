/* Which event to record branch stacks by, or why there is none: from a machine's description alone.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "layout/branch_events.h"

#define CYCLES "cycles", "branch stacks", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0
/* Every so many taken branches; a prime, so that loops do not beat with it. */
#define TAKEN_PERIOD 100003

static const struct branch_event cycles_alone[] = {{CYCLES}, {0}};

/* Intel SDM, volume 3, "Last Branch Records": any event. BR_INST_RETIRED.NEAR_TAKEN is event 0xc4
 * with mask 0x20 since Sandy Bridge. */
static const struct branch_event intel[] = {
	{CYCLES},
	{"cpu/event=0xc4,umask=0x20/", "Intel LBR by taken branches", PERF_TYPE_RAW, 0x20c4,
		TAKEN_PERIOD},
	{0},
};

/* Zen 4 and newer (LbrExtV2): any event. Zen 3 (Branch Sampling, BRS): taken branches alone (event
 * 0xc4), and only by a fixed period that is longer than its 16 entries
 * (arch/x86/events/amd/brs.c). */
static const struct branch_event amd[] = {
	{CYCLES},
	{"cpu/event=0xc4/", "AMD Branch Sampling", PERF_TYPE_RAW, 0xc4, TAKEN_PERIOD},
	{0},
};

const struct branch_event *branch_events(enum branch_vendor vendor)
{
	return vendor == BRANCH_CPU_INTEL ? intel : vendor == BRANCH_CPU_AMD ? amd : cycles_alone;
}

char *branch_event_text(const struct branch_event *e)
{
	size_t n = strlen(e->perf);

	return xasprintf("%s%su", e->perf, n && e->perf[n - 1] == '/' ? "" : ":");
}

void branch_choice_release(struct branch_choice *c)
{
	free(c->missing);
	free(c->remedy);
	*c = (struct branch_choice){0};
}

/* What an answer of perf_event_open(2) means for branch stacks. */
static const char *meaning(int error)
{
	switch (error) {
	case ENOENT:
		return "the kernel knows no such counter of this processor";
	case EOPNOTSUPP:
		return "the processor's counters take no branch stacks";
	case EINVAL:
		return "the kernel does not take this event with branch stacks";
	case EACCES:
	case EPERM:
		return "not permitted";
	case ENOSYS:
		return "the kernel has no performance events, or a filter of system calls hides "
		       "them";
	case EBUSY:
		return "another program holds the counters";
	case ENODEV:
		return "the processor lacks it";
	default:
		return strerror(error);
	}
}

static const char *name_of(int error)
{
	const char *name = strerrorname_np(error);

	return name ? name : "an unknown error";
}

static void add_answers(struct buf *b, const struct branch_machine *m)
{
	for (size_t k = 0; k < m->n_trials; k++) {
		const struct branch_trial *t = &m->trials[k];
		auto_free char *event = branch_event_text(t->event);

		buf_addf(b, "%s%s: %s (%s)%s", k ? "; " : "", event, name_of(t->with_stack),
			meaning(t->with_stack),
			!t->without && t->with_stack == EOPNOTSUPP ? ", although it counts" : "");
	}
}

static bool all_answer(const struct branch_machine *m, int error)
{
	for (size_t k = 0; k < m->n_trials; k++)
		if (m->trials[k].with_stack != error)
			return false;
	return m->n_trials > 0;
}

static bool any_answers(const struct branch_machine *m, int error)
{
	for (size_t k = 0; k < m->n_trials; k++)
		if (m->trials[k].with_stack == error)
			return true;
	return false;
}

static bool counts_without(const struct branch_machine *m)
{
	for (size_t k = 0; k < m->n_trials; k++)
		if (!m->trials[k].without)
			return true;
	return false;
}

/* Up to 2, a process's own user mode may be recorded by anybody; Debian and Android have 3, Ubuntu
 * has 4. */
static bool paranoid_forbids(const struct branch_machine *m)
{
	return m->paranoid > 2 && !m->may_monitor;
}

static char *remedy_of_refusal(const struct branch_machine *m)
{
	if (paranoid_forbids(m))
		return xasprintf("sysctl kernel.perf_event_paranoid=2 (it is %d%s), or give perf "
				 "CAP_PERFMON",
			m->paranoid, m->container ? "; of the machine, not of the container" : "");
	if (m->container)
		return xstrdup("start the container with --cap-add PERFMON, and with a seccomp "
			       "profile that lets perf_event_open through");
	return xstrdup("a seccomp filter or security module refuses perf_event_open: run whet "
		       "where it is allowed");
}

static char *remedy_of_absence(const struct branch_machine *m)
{
	if (m->hypervisor && !counts_without(m))
		return xstrdup("the virtual machine has no performance counters: give it a virtual "
			       "PMU with LBR (KVM on Intel: -cpu host,pmu=on; host kernel 5.12 or "
			       "newer), or build on the bare machine");
	if (m->hypervisor)
		return xstrdup("the hypervisor gives counters, but no branch stacks: build on the "
			       "bare machine, or on a host whose hypervisor passes LBR on");
	if (m->vendor == BRANCH_CPU_ARM)
		return xstrdup("branch stacks need the Branch Record Buffer Extension (BRBE, "
			       "Armv9.2) and Linux 6.17 or newer");
	if (m->vendor == BRANCH_CPU_AMD)
		return xstrdup("branch stacks need Zen 3 with Linux 5.19 or newer, or Zen 4 with "
			       "Linux 6.1 or newer");
	if (m->vendor == BRANCH_CPU_INTEL)
		return xstrdup("every Intel processor of the last 15 years has LBR: is it switched "
			       "off in the firmware, or the kernel older than the processor?");
	return NULL;
}

static char *remedy_of(const struct branch_machine *m)
{
	if (any_answers(m, EACCES) || any_answers(m, EPERM))
		return remedy_of_refusal(m);
	if (any_answers(m, EBUSY))
		return xstrdup("end the other profiler (perf, VTune), or sysctl "
			       "kernel.nmi_watchdog=0");
	if (all_answer(m, ENOSYS) && !m->container)
		return xstrdup("a kernel built with CONFIG_PERF_EVENTS");
	if (all_answer(m, ENOSYS))
		return remedy_of_refusal(m);
	return remedy_of_absence(m);
}

static void describe_machine(struct buf *b, const struct branch_machine *m)
{
	buf_addf(b, "%s%s", m->cpu && *m->cpu ? m->cpu : "this processor",
		m->container && m->hypervisor ? " (a container in a virtual machine)"
		: m->container                ? " (in a container)"
		: m->hypervisor               ? " (a virtual machine)"
					      : "");
}

static char *missing_of(const struct branch_machine *m)
{
	auto_buf struct buf b = BUF_INIT;

	buf_adds(&b, "no branch stacks from ");
	describe_machine(&b, m);
	buf_adds(&b, ": ");
	add_answers(&b, m);
	if (any_answers(m, EACCES) || any_answers(m, EPERM)) {
		if (m->paranoid == BRANCH_PARANOID_UNKNOWN)
			buf_adds(&b, "; kernel.perf_event_paranoid cannot be read");
		else
			buf_addf(&b, "; kernel.perf_event_paranoid is %d", m->paranoid);
	}
	if (m->spe)
		buf_adds(&b, "; its statistical profiling (SPE) takes single branches, no stacks");
	return buf_detach(&b);
}

void branch_choose(const struct branch_machine *m, struct branch_choice *ret)
{
	struct branch_choice c = {0};

	for (size_t k = 0; k < m->n_trials && !c.event; k++)
		if (!m->trials[k].with_stack)
			c.event = m->trials[k].event;
	if (!c.event) {
		c.missing = missing_of(m);
		c.remedy = remedy_of(m);
	} else if (!m->perf) {
		c.event = NULL;
		c.missing = xstrdup("the machine records branch stacks, but no 'perf' is "
				    "installed");
		c.remedy = xstrdup("install it (Debian: linux-perf, Ubuntu: linux-tools-generic, "
				   "Fedora: perf)");
	}
	*ret = c;
}

int branch_choice_demand(const struct branch_choice *c, struct error *err)
{
	if (c->event)
		return 0;
	return error_set(err, ERR_ENVIRONMENT, "branch stacks cannot be recorded: %s%s%s",
		c->missing, c->remedy ? "\n  remedy: " : "", c->remedy ? c->remedy : "");
}
