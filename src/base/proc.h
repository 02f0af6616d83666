/* Starting, watching and ending processes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/strv.h"

struct proc_options {
	const struct strv *argv; /* argv->v[0] is looked up in PATH of env */
	const struct strv *env;  /* NULL: the own environment */
	const char *cwd;         /* NULL: the own */
	int out_fd, err_fd;      /* -1: the null device; may be equal */
	int in_fd;               /* -1: the null device */
	bool new_group; /* leads a process group of its own, so that it can be signalled whole */
	int cpu;        /* pinned to this processor; -1: not pinned */
};

#define PROC_OPTIONS_INIT {.out_fd = -1, .err_fd = -1, .in_fd = -1, .cpu = -1}

/* Starts a program. It gets SIGKILL when the starting thread's process dies (PR_SET_PDEATHSIG),
 * default signal dispositions and an empty signal mask. A program that cannot be executed is
 * ERR_ENVIRONMENT naming it. Returns its pid in ret. */
int proc_start(const struct proc_options *o, pid_t *ret, struct error *err);

/* How a process ended: exit code, or the signal that ended it (then code is -1). */
struct proc_exit {
	int code, signal;
	uint64_t cpu_ns;  /* user and system time of it and of the children it waited for */
	uint64_t max_rss; /* bytes */
};

/* Waits at most timeout_ns (UINT64_MAX: for ever). 0 ended, 1 still running, -1 error. */
int proc_wait(pid_t pid, uint64_t timeout_ns, struct proc_exit *ret, struct error *err);

/* Runs a program to its end with its output (both streams) appended to log_fd (-1: dropped).
 * A time-out kills its whole group: ERR_TIMEOUT. A non-zero exit is not an error here. */
int proc_run(const struct proc_options *o, uint64_t timeout_ns, struct proc_exit *ret,
	struct error *err);

/* Runs a program and gives its standard output (at most 16 MiB); non-zero exit is ERR_CHILD, an
 * end by a signal ERR_KILLED, with the last lines of its standard error. */
int proc_capture(const struct proc_options *o, uint64_t timeout_ns, struct strv *ret_lines,
	struct error *err);

/* "exit code 3" or "signal 9 (Killed)"; caller frees. */
char *proc_exit_text(const struct proc_exit *e);

/* What descends from this process now, before the run begins, is the user's: the functions below
 * leave it and its children alone. */
void proc_disown_children(void);
/* Kills all descendants of root (SIGKILL) until none is left, for at most limit_ns; false when some
 * are. root should be a child subreaper, so that orphans stay its descendants; when it is this
 * process, it waits for all of its children. */
bool proc_kill_below(pid_t root, uint64_t limit_ns);
/* Takes the ends of all children that have ended, unknown ones (orphans) too. */
void proc_reap(void);
/* Signals every descendant of root once. */
void proc_signal_below(pid_t root, int sig);
/* Stops all descendants of root until every one stands still or time is up;
 * SIGCONT lets them go on. */
void proc_stop_below(pid_t root, uint64_t limit_ns);
/* Kills the process that has this pid and start time, and all of its descendants; false when it is
 * gone. */
bool proc_kill_tree(pid_t pid, uint64_t start);
/* Adds a line "PID (state S): COMMAND" for each live descendant of root, at most 20; returns how
 * many there are. */
size_t proc_describe_below(pid_t root, struct buf *ret);
/* Signals the process that has this pid and start time and no other; false when it is gone. */
bool proc_signal(pid_t pid, uint64_t start, int sig);

/* The pids of all live descendants of pid (not pid itself). *ret is malloc'ed; returns count. */
size_t proc_descendants(pid_t pid, pid_t **ret);

/* One process as its /proc/PID/stat shows it (proc(5)). */
struct proc_stat {
	char state; /* 'R', 'S', 'Z', … */
	pid_t parent, group;
	uint64_t reaped_ticks; /* user and system time of the children that it waited for */
	uint64_t start;        /* in clock ticks since boot */
};
/* False when the process is gone. */
bool proc_stat(pid_t pid, struct proc_stat *ret);
/* Start time of a process in clock ticks since boot (field 22 of its stat), 0 when it is gone: a
 * pid with its start time names a process for good. */
uint64_t proc_start_time(pid_t pid);
