/* Services: a program that is started, awaited until ready, watched and stopped, with its whole
 * process tree and that tree's CPU clock. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/strv.h"
#include "config/plan.h"

struct service; /* one running service */

/* Told of processes right before they are killed: at a stop's deadline the whole tree, and before
 * the stop signal those whom it ends outright, since they neither handle nor ignore nor block it.
 */
struct service_last_words {
	void (*call)(void *ctx, const pid_t *pids, size_t n); /* NULL: nobody is told */
	void *ctx;
};

struct service_options {
	const struct plan_service *plan;
	const struct strv *vars; /* placeholders: binary, work, port, port.NAME, url, source, … and
				  * those of services started before: NAME.port, NAME.url */
	const char *work;        /* its working folder, created */
	const char *log;         /* its output goes there */
	const struct strv *env;  /* whole environment, LLVM_PROFILE_FILE included when due; the
				  * plan's  own env: is set over it */
	const char *self;        /* path of whet, for builtin services */
	uint64_t seed;           /* of the generated files */
	uint16_t port;
	int cpu; /* -1: not pinned */
	struct service_last_words last_words;
};

/* Starts it and waits until it is ready: files and templates, setup command, program, readiness.
 * Setup and readiness commands leave no profile. On failure the message holds the log's last lines
 * and the process is gone. */
int service_start(const struct service_options *o, struct service **ret, struct error *err);
/* Stop signal, wait, SIGKILL at the deadline (then *killed is set). The whole tree is gone
 * afterwards. Exit status of the main process in ret. */
struct service_end {
	int code, signal; /* of the main process */
	bool killed;      /* it had to be killed */
	bool died_early;  /* it had ended before the stop */
};
int service_stop(struct service *s, struct service_end *ret, struct error *err);
bool service_alive(const struct service *s);
pid_t service_pid(const struct service *s);
/* CPU time of its whole process tree so far, reaped processes included; monotonic. */
int service_cpu_ns(struct service *s, uint64_t *ret, struct error *err);
/* The same in two parts, approximately: most kernels tell user and kernel time apart by what runs
 * at each tick of their clock, so only the difference over many ticks says anything. */
struct cpu_split {
	uint64_t user_ns, kernel_ns;
};
void service_cpu_split(const struct service *s, struct cpu_split *ret);
/* Pids of its tree, main process first. malloc'ed; returns count. */
size_t service_tree(const struct service *s, pid_t **ret);
/* Remembers the processes of its tree, in addition to those of earlier calls; at most 256. */
void service_watch(struct service *s);
/* Whether one of those remembered was ended by a signal that no program uses in good order
 * (SIGKILL, SIGSEGV, …): by the kernel for want of memory, by its own fault, or by somebody. Such a
 * service may well go on, with fewer workers or with new ones. A kernel before 6.15 tells only that
 * one is gone: LOSS_UNKNOWN. *text says which and how (caller frees), NULL for LOSS_NONE. */
enum service_loss { LOSS_NONE, LOSS_UNKNOWN, LOSS_SIGNAL };
enum service_loss service_lost(const struct service *s, char **text);
/* How a process ended for which a pidfd was opened while it lived, as wait() tells it. False: it
 * runs, or this kernel does not tell. */
bool process_end(int pidfd, int *status);
char *service_log_tail(const struct service *s, size_t lines); /* caller frees */
void service_free(struct service *s); /* stops it hard when it still runs */

/* What the whole training shares, its files and certificates, is in folder: sets files, cert:KIND,
 * key:KIND and ca in vars as far as the plan has them. service_content() makes them. */
void service_content_names(const struct plan_train *t, const char *folder, struct strv *vars);
int service_content(const struct plan_train *t, const char *folder, struct error *err);

/* Whether the shell command of a `when:` says yes: 1 yes, 0 no, -1 error, also when it was killed,
 * which says neither. */
int service_condition(const char *command, const struct strv *vars, const struct strv *env,
	const char *cwd, uint64_t timeout_ns, struct error *err);
/* Whether the service is to be started by its `when:`, as service_condition(). */
int service_wanted(const struct plan_service *plan, const struct strv *vars, const struct strv *env,
	const char *cwd, struct error *err);

/* Whether it is to run as another user and can; what to tell when it cannot (caller frees), else
 * NULL. */
bool service_changes_user(const struct plan_service *p);
char *service_user_note(const struct plan_service *p);
/* Gives a folder with all that is in it to the user of the service, when it changes its user. */
int service_give(const struct plan_service *p, const char *folder, struct error *err);

/* A free loopback port (bound and released; the caller starts the service at once). */
int service_free_port(uint16_t *ret, struct error *err);

/* Chooses the ports of a service (its own and the named ones) and sets in vars port, port.NAME, url
 * and work, and the same as SERVICE.port, SERVICE.port.NAME, SERVICE.url, SERVICE.work for those
 * that come after it. port gets its own one. */
int service_place(const struct plan_service *plan, const char *work, struct strv *vars,
	uint16_t *port, struct error *err);
/* Once it is ready: sets SERVICE.host, the address that answered, and corrects url and SERVICE.url
 * of a service that is on ::1 alone. */
void service_placed(const struct service *s, struct strv *vars);
