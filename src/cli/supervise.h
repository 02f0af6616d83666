/* Runs a verb's work in a child whose whole process tree ends with it, however it or this process
 * ends. */
#pragma once

/* Forks: the child runs fn(ctx) and exits with what it returns; this process waits, passes the end
 * on, and leaves no descendant alive: not after SIGINT or SIGTERM (then 130), not after SIGKILL of
 * the child. When this process itself is killed, the child kills the tree and ends. */
int supervise(int (*fn)(void *ctx), void *ctx);
