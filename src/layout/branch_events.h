/* Whether this machine can record branch stacks: by asking its kernel, with the events that its
 * processor may have. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum branch_vendor {
	BRANCH_CPU_OTHER,
	BRANCH_CPU_INTEL,
	BRANCH_CPU_AMD,
	BRANCH_CPU_ARM,
};

/* An event that branch stacks can be sampled by. */
struct branch_event {
	const char *perf; /* as `perf record -e` takes it, without the modifier u */
	const char *what; /* which hardware that is */
	uint32_t type;    /* struct perf_event_attr: PERF_TYPE_… and its number */
	uint64_t config;
	uint64_t period; /* how many of them between two samples; 0: by frequency alone */
};

/* As `perf record -e` takes it, for user mode alone: "cycles:u". Caller frees. */
char *branch_event_text(const struct branch_event *e);

/* The events to try on a processor, the best first; ends with perf == NULL. */
const struct branch_event *branch_events(enum branch_vendor vendor);

/* What the kernel answered to perf_event_open(2): 0, or errno. */
struct branch_trial {
	const struct branch_event *event;
	int with_stack; /* in user mode, with branch stacks */
	int without;    /* the same event without them; asked when with_stack is not 0 */
};

#define BRANCH_TRIALS_MAX 4
#define BRANCH_PARANOID_UNKNOWN (-100)

struct branch_machine {
	enum branch_vendor vendor;
	char *cpu;       /* "AMD EPYC 9654, family 25 model 17"; "" when unknown */
	bool hypervisor; /* a virtual machine */
	bool container;
	int paranoid;     /* kernel.perf_event_paranoid; BRANCH_PARANOID_UNKNOWN: no such file */
	bool may_monitor; /* has CAP_PERFMON or CAP_SYS_ADMIN */
	bool spe;         /* ARM's statistical profiling, which takes no stacks, is there */
	char *perf;       /* path of the program; NULL: not installed */
	struct branch_trial trials[BRANCH_TRIALS_MAX];
	size_t n_trials;
};

/* Asks the machine. path_list: where perf is looked for, as PATH has it. */
void branch_machine_probe(const char *path_list, struct branch_machine *ret);
void branch_machine_release(struct branch_machine *m);

/* Whether to record, and by which event. Depends on the machine's description alone. */
struct branch_choice {
	const struct branch_event *event; /* NULL: branch stacks cannot be recorded */
	char *missing;                    /* then: what is missing, with the kernel's answers */
	char *remedy;                     /* and what would bring it; NULL: nothing would */
};
void branch_choose(const struct branch_machine *m, struct branch_choice *ret);
void branch_choice_release(struct branch_choice *c);
/* "layout: lbr" demands it: ERR_ENVIRONMENT with what is missing and the remedy. 0 otherwise. */
int branch_choice_demand(const struct branch_choice *c, struct error *err);
