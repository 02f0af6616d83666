/* What a training gave: phases, processes, raw profiles. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/json.h"

enum phase_status {
	PHASE_OK,
	PHASE_FAILED,  /* an answer or an exit code was not the expected one */
	PHASE_TIMEOUT, /* its time limit ran out */
	PHASE_NOT_RUN, /* something before it failed */
	PHASE_SKIPPED, /* its `when:` said no */
};

struct phase_result {
	char *name;    /* unique: the phase's and, with a setting, that in brackets */
	char *phase;   /* name in the plan; NULL: name */
	char *setting; /* of the matrix: "http1=experimental, log=on"; NULL: there is none */
	enum phase_status status;
	uint64_t planned; /* requests (http) or 1 (run) */
	uint64_t done;    /* answered exactly as expected */
	uint64_t wall_ns, driver_cpu_ns, subject_cpu_ns;
	char *problem; /* first deviation: what was asked, expected and got; NULL when none */
	char *log;     /* last lines of the service or script; NULL when it went well */
};

/* How a process came to the profile folder's list. */
enum process_origin {
	PROCESS_STARTED,  /* its image started with the hook in it */
	PROCESS_FORKED,   /* made by fork; the hook ran in the child */
	PROCESS_LOADED,   /* no process: a shared object in one, with counters of its own */
	PROCESS_UNHOOKED, /* seen in the process tree running the instrumented image, but no hook
			     ran */
	PROCESS_SILENT,   /* seen running the instrumented image, and its hook told nothing */
};

enum raw_state {
	RAW_VALID,
	RAW_MISSING,
	RAW_EMPTY,
	RAW_INVALID, /* truncated, corrupt, unknown version */
	RAW_FOREIGN, /* valid, but of another program */
};

/* Why a process left no profile, as far as was seen. */
enum flush_cause {
	CAUSE_UNKNOWN,
	CAUSE_SIGNAL,  /* a signal ended it */
	CAUSE_EXIT,    /* it ended by itself without exit handlers */
	CAUSE_SANDBOX, /* a system call filter (seccomp) was on it */
	CAUSE_ROOT,    /* its root folder is another one (chroot, a mount namespace) */
	CAUSE_USER,    /* its user cannot write to the profile folder */
	CAUSE_DISK,    /* the disk was full */
	CAUSE_FOLDER,  /* the file could not be written for another reason */
};

/* One process that ran instrumented code. */
struct process_evidence {
	pid_t pid, parent;
	char *launch; /* "edge", "edge#2", or the phase's name */
	enum process_origin origin;
	bool exec;     /* it replaced its image by another program: no profile is due */
	int signal;    /* signal that ended it, when known; else 0 */
	bool snapshot; /* whet took its profile from outside before it was killed */
	enum raw_state state;
	char *file; /* its raw profile, relative to the training's folder; NULL when missing */
	/* Of a program with both kinds of counters: whose profile state and file tell of, "gcc" or
	 * "llvm", when not both are valid; else NULL. */
	char *lacks;
	/* Of one that left none: */
	char *command; /* its command line; NULL: not seen */
	enum flush_cause cause;
	char *detail; /* what more is known of the cause; NULL */
};

/* One file found in a launch's profile folder. */
struct raw_file {
	char *path; /* relative to the training's folder */
	char *launch;
	pid_t pid; /* of the process that wrote it, from its name; 0 when the name is no pid */
	uint64_t size;
	enum raw_state state;
	char *problem; /* for INVALID and FOREIGN: the precise reason; else NULL */
	uint64_t functions, executed;
};

struct training_facts {
	char *digest; /* of the plan's training part: what was asked */
	struct phase_result *phases;
	size_t n_phases, cap_phases;
	struct process_evidence *processes;
	size_t n_processes, cap_processes;
	struct raw_file *raws;
	size_t n_raws, cap_raws;
	char *emulator; /* what ran the programs: "qemu-aarch64 7.2.22"; NULL: they ran themselves
			 */
	char *disk;     /* the disk was full when it ended, and which; NULL: it was not */
	char *failure;  /* why the training stopped early (a service did not start, …); NULL: it did
			   not */
};

void phase_result_release(struct phase_result *p);
void process_evidence_release(struct process_evidence *p);
void raw_file_release(struct raw_file *r);
void training_facts_release(struct training_facts *t);
int training_facts_write(const struct training_facts *t, const char *path, struct error *err);
int training_facts_read(const char *path, struct training_facts *ret, struct error *err);
/* The likely cause in words, without p->detail, and what to do about it. */
const char *flush_cause_text(const struct process_evidence *p);
const char *flush_cause_remedy(const struct process_evidence *p);
const char *phase_status_name(enum phase_status s);
const char *raw_state_name(enum raw_state s);
json_t *phase_result_json(const struct phase_result *p);
