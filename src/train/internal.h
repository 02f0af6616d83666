/* Shared by the files of this folder. */
#pragma once

#include "service/service.h"
#include "service/tree.h"
#include "train/train.h"

struct session;

/* ---- launches.c: the folders for profiles and the environment of a launch -------------------- */

#define LAUNCH_PROCESSES "processes" /* the fork hook's list of processes in a launch's folder */

bool launch_runs_binary(const char *command); /* whether it mentions {binary} or {binary.NAME} */
/* Adds a name for a launch, made of name and not among launches, which owns it. */
const char *launch_name(const char *name, struct strv *launches);
/* The environment of this process without anything that names a profile. */
void launch_environment(struct strv *env);
/* Makes a new launch folder, named after name, and points env to it. Appends the launch to launches
 * and returns its name (owned by launches), or NULL. */
const char *launch_new(const char *profiles, const char *name, struct strv *launches,
	struct strv *env, struct error *err);

/* ---- watch.c: processes that run an instrumented binary, seen from outside -------------------
 */

struct sighting {
	pid_t pid, parent;
	uint64_t start; /* with the pid its name for good */
	unsigned int times;
	char *launch;
	int pidfd;     /* tells how it ended; -1: none */
	char *command; /* its words, quoted for a shell; "" when they were not to be read */
	/* As they were when it was seen last. */
	uid_t uid;
	gid_t gid;
	bool filtered;   /* a system call filter (seccomp) is on it */
	bool other_root; /* its root folder is another */
};

struct watch {
	const struct strv *binaries;           /* NULL: nothing is looked for (replay) */
	const struct train_emulator *emulator; /* that runs them; NULL */
	struct sighting *v;
	size_t n, cap;
	uint64_t last; /* CLOCK_MONOTONIC of the last round */
};

/* Looks at some processes; launch is what they belong to. */
void watch_pids(struct watch *w, const char *launch, const pid_t *pids, size_t n);
/* Adds those seen twice that are not in facts->processes: no hook told of them. */
void watch_report(const struct watch *w, struct training_facts *facts);
/* The last one with this pid; NULL: none. */
const struct sighting *watch_find(const struct watch *w, const char *launch, pid_t pid);
void watch_release(struct watch *w);

/* ---- private.c: a network of its own for the training */

typedef int train_fn(const struct train_options *o, struct training_facts *ret, struct error *err);
/* Whether this machine lets this user have one; *why not (caller frees). */
bool private_network_possible(char **why);
/* run() in a child that is in such a network; the result is the same. */
int private_run(const struct train_options *o, train_fn *run, struct training_facts *ret,
	struct error *err);

/* ---- causes.c: why a process left no profile */

/* Fills command, signal, cause and detail of those. */
void causes_find(const struct session *s);

/* ---- collect.c */

void collect_sort(struct training_facts *facts);
/* As train_collect(), of the programs that the options name. */
int collect_launch(const struct train_options *o, const char *profiles, const char *launch,
	struct training_facts *facts, struct error *err);

/* ---- collect_gcov.c: what a process of gcc's program left */

#define GCOV_SUFFIX ".gcov" /* of its folder: PID.gcov */

/* Fills size, functions, executed, state and problem of r. done: it said that all was written.
 * Returns the index in o->gcov of the image that is whole, o->n_gcov when none is. */
size_t collect_gcov(
	const struct train_options *o, const char *folder, bool done, struct raw_file *r);

/* ---- session.c: the services of one training --------------------------------------------------
 */

struct running {
	struct session *session;
	const struct plan_service *plan;
	struct service *s;
	const char *launch; /* NULL: its processes leave no profiles */
	pid_t pid;
};

struct coverage; /* coverage.h */

struct session {
	const struct train_options *o;
	struct coverage *coverage; /* NULL: counters are not read between the phases */
	const char *profiles;      /* NULL: replay */
	struct training_facts *facts;
	struct strv vars;         /* placeholders */
	struct strv launches;     /* folders below profiles */
	struct running *services; /* in the order of the plan */
	size_t n_services;
	size_t combination;   /* of the settings, that the services have now */
	bool *left_out;       /* by the index in the plan: its `when:` said no */
	unsigned int *starts; /* by the index in the plan: how often it was started */
	struct watch watch;
	/* Main processes ended by a signal: for the evidence. */
	struct {
		pid_t pid;
		int signal;
	} *ends;
	size_t n_ends, cap_ends;
	struct {
		pid_t pid;
		const char *launch;
	} *snapshots; /* taken, see snapshots.c */
	size_t n_snapshots, cap_snapshots;
	bool snapshots_put;
};

int session_open(struct session *s, const struct train_options *o, const char *profiles,
	struct training_facts *facts, struct error *err);
/* Starts services in order, with the first combination of settings; until: the last one to start,
 * NULL: all. */
int session_start(struct session *s, const struct plan_service *until, struct error *err);
/* The services get this combination of settings: the first one that it changes, and all that were
 * started after that, are stopped and started afresh. */
int session_change(struct session *s, size_t combination, struct error *err);
/* A service that the phase asks and that was left out by its `when:`; NULL: none. */
const struct plan_service *session_lacks(const struct session *s, const struct plan_phase *p);
/* Stops them in reverse order. What went wrong while stopping is added to facts->failure. */
int session_stop(struct session *s, struct error *err);
struct running *session_subject(struct session *s); /* NULL when there is none */
/* A service that is not alive although it should be; NULL when all is well. */
struct running *session_dead(struct session *s);
/* Looks at all process trees for the watch, at most every 50 ms unless forced. */
void session_sample(struct session *s, bool force);
/* Before a launch of a command that runs the binary or is the subject, when the options have an
 * aim: *launch is its name, owned by s->launches. */
int session_aim(
	struct session *s, const char *name, bool service, const char **launch, struct error *err);
void session_ended(struct session *s, pid_t pid, int signal);
void session_fail(struct session *s, const char *text); /* adds to facts->failure */
/* Collects the evidence of all launches into facts. */
int session_collect(struct session *s, struct error *err);
void session_close(struct session *s); /* what still runs is killed */

/* ---- snapshots.c: processes that are killed before they write their profile -------------------
 */

#define SNAPSHOT_IMAGE "snapshot" /* LAUNCH/PID.snapshot.profraw: whet took it, of all images */

/* Takes those of processes of a service, a struct running, that are about to be killed. */
void snapshots_take(void *running, const pid_t *pids, size_t n);
/* Whether that of a process is taken and not yet put where profiles are. */
bool snapshots_wait(const struct session *s, const char *launch, pid_t pid);
/* Once all processes are gone: puts the snapshots of those without a profile beside the others. */
int snapshots_put(struct session *s, struct error *err);
/* Warns of each that stands in a profile's place. */
void snapshots_tell(const struct session *s);

/* ---- phase_http.c, phase_run.c ------------------------------------------------------------------
 */

/* Both fill status, done, times, problem and log of r. -1 only when nothing can be said. */
int phase_http(
	struct session *s, const struct plan_phase *p, struct phase_result *r, struct error *err);
int phase_run(
	struct session *s, const struct plan_phase *p, struct phase_result *r, struct error *err);
/* ---- sockets.c: for a phase that ran out of time; callers free */

/* The services' ends of their connections, a line each; "" when there are none. */
char *sockets_text(const struct session *s);
/* The last lines of the log of first (NULL: none is) and, with their names, of the others. */
char *logs_text(const struct session *s, const struct running *first);
uint64_t phase_timeout(const struct plan_phase *p); /* 300 s when the plan says 0 */
/* Whether the phase's `when:` says yes: 1 yes, 0 no, -1 error. */
int phase_wanted(struct session *s, const struct plan_phase *p, struct error *err);
/* One run of a phase's command, without looking at its exit code: for the proof. */
int phase_run_once(struct session *s, const struct plan_phase *p, uint64_t timeout_ns,
	struct proc_exit *ret, struct error *err);
