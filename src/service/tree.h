/* A program and everything that it starts, under a reaper of its own.
 *
 * Between whet and the program stands one small process, the reaper: a child subreaper that does
 * nothing but wait. So every process of the tree stays below it, also one that daemonised or whose
 * parents are gone; the tree is empty exactly when the reaper has no child left and ends; and the
 * CPU time of what it reaped is known exactly. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/proc.h"

struct tree;

/* Starts o's program (o->new_group is implied) under a new reaper. The whole tree dies with the
 * thread that called this. Errors as for proc_start(). */
int tree_start(const struct proc_options *o, struct tree **ret, struct error *err);
/* The same as another user and with that user's groups; needs root. */
struct tree_user {
	uid_t uid;
	gid_t gid;
	char *name; /* NULL: a number without a name, which has no further groups */
};
int tree_start_as(const struct proc_options *o, const struct tree_user *user, struct tree **ret,
	struct error *err);
/* The same on a terminal: o->in_fd is its end for programs, which becomes the controlling one of a
 * session of the tree's own. */
int tree_start_terminal(const struct proc_options *o, struct tree **ret, struct error *err);
pid_t tree_pid(const struct tree *t); /* of the program itself */
/* Whether the program itself has ended, and how; ret may be NULL. */
bool tree_main_ended(const struct tree *t, struct proc_exit *ret);
bool tree_gone(struct tree *t); /* nothing of it is left */
/* Whether the program runs, or has put itself into the background: ended with 0 and left others. */
bool tree_alive(struct tree *t);

/* Waits at most timeout_ns for the program's end or for the whole tree's. 0 ended, 1 time is up. */
int tree_wait_main(struct tree *t, uint64_t timeout_ns);
int tree_wait_gone(struct tree *t, uint64_t timeout_ns);

/* Pids of the tree, parents before children, the program first while it lives. *ret is malloc'ed;
 * returns count. */
size_t tree_members(const struct tree *t, pid_t **ret);
/* Whom tree_signal() would signal: the program, or, when it is gone, those processes of the tree
 * that have no parent in it. *ret is malloc'ed; returns count. */
size_t tree_targets(const struct tree *t, pid_t **ret);
void tree_signal(const struct tree *t, int sig);
/* SIGKILL to everything until nothing is left. ERR_INTERNAL when something will not die in 10 s. */
int tree_kill(struct tree *t, struct error *err);

/* CPU time (user and system) of the tree so far: of live and of ended processes. Monotonic.
 *
 * Precision: live processes, and ended ones that the reaper waited for, count to the nanosecond and
 * microsecond. A process that starts, ends and is waited for by its parent inside the tree between
 * two calls is known from the parent's account alone, which the kernel gives in clock ticks: each
 * parent that waits for such children may be up to two ticks (20 ms) behind at any time; this does
 * not add up over calls. Children of a process that ignores SIGCHLD count as far as a call saw
 * them. */
int tree_cpu_ns(struct tree *t, uint64_t *ret, struct error *err);

void tree_free(struct tree *t); /* kills what is left; NULL is fine */
