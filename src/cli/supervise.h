/* Runs a verb's work in a process whose whole tree ends with it, however it or this process ends.
 *
 * Three processes: the keeper (this one, which the user started and signals), the guard, and the
 * worker. The guard outlives the other two: when one of them ends it kills the worker first, so
 * that nothing is concluded from the death of what the worker had started, then everything below,
 * and removes the scratch folder. When the guard itself is killed, the kernel kills the worker, and
 * the keeper does the rest. */
#pragma once

/* The worker runs fn(ctx) and exits with what it returns; this process waits, passes the end on,
 * and leaves no descendant alive: not after SIGINT, SIGTERM, SIGHUP or SIGQUIT (then 130; those
 * that were ignored when whet was started stay ignored), not after SIGKILL of any one of the three.
 * SIGTSTP stops everything, SIGCONT lets it go on; time limits do not run meanwhile. next: what the
 * user may expect after an interruption, or NULL. */
int supervise(int (*fn)(void *ctx), void *ctx, const char *next);
