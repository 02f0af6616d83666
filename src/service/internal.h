/* Shared by the files of this folder. */
#pragma once

#include <stdatomic.h>

#include "service/service.h"
#include "service/tree.h"

/* Memory that the reaper writes and whet reads. */
struct tree_shared {
	_Atomic uint64_t reaped_ns; /* CPU time of all processes that the reaper waited for */
	_Atomic int main_ended;     /* set last */
	int status;                 /* as wait4 gave it */
	uint64_t main_cpu_ns, main_rss;
};

struct account;

struct tree {
	pid_t reaper, main;
	bool gone;
	int pidfd;  /* of the program; -1: it ended at once */
	int report; /* readable when the program ends, end of file when the reaper does */
	struct tree_shared *shared;
	struct account *account;
};

/* One process and its parent. */
struct link {
	pid_t pid, parent;
};
/* All live descendants of root, parents before children. *ret is malloc'ed; returns count. */
size_t tree_links(pid_t root, struct link **ret);
void account_free(struct account *a);

/* One process of a service, watched by service_watch(). */
struct watched {
	pid_t pid;
	int pidfd;
	bool ended; /* as of the last service_watch(): another process may have its pid now */
};

struct service {
	char *name, *log;
	char *pid_file; /* NULL: it has none */
	struct tree *tree;
	int stop_signal;
	uint64_t stop_timeout_ns, ready_timeout_ns;
	uint64_t started; /* CLOCK_MONOTONIC */
	off_t log_from;   /* its own output begins here; before it stands the setup's */
	bool v6;          /* it answers on ::1 and not on 127.0.0.1 */
	struct service_last_words last_words;
	struct watched *watched;
	size_t n_watched, cap_watched;
};

/* Whether the signal would end the process at once, without any of its code. */
bool signal_is_fatal(pid_t pid, int sig);
void service_watch_release(struct service *s);

/* One line about how the program ended. Caller frees. */
char *service_end_text(const struct service *s);
int service_await_ready(struct service *s, const struct service_options *o, const struct strv *env,
	const char *cwd, struct error *err);
/* The user of the plan; ret->name is the caller's. */
int service_user(const struct plan_service *p, struct tree_user *ret, struct error *err);
/* Makes the files and templates of the service in its folder. */
int service_documents(const struct service_options *o, struct error *err);
/* Runs a shell command with the service's folder and log, not counted as training: 0, 1 when it
 * ended with another code than 0 (how, caller frees, says so), -1 error. */
int service_command(const char *command, const struct service_options *o, const struct strv *env,
	const char *cwd, uint64_t timeout_ns, char **how, struct error *err);
