#include "cli/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/proc.h"
#include "base/scratch.h"
#include "cli/opt.h"

#define KILL_LIMIT_NS (20 * NS_PER_S) /* for everything to be gone after SIGKILL */
#define STOP_LIMIT_NS NS_PER_S
#define INTERRUPTED 130

static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static bool is_ending(int sig)
{
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		if (ending[i] == sig)
			return true;
	return false;
}

static void kill_all_below(void)
{
	auto_buf struct buf left = BUF_INIT;

	if (proc_kill_below(getpid(), KILL_LIMIT_NS))
		return;
	proc_describe_below(getpid(), &left);
	fprintf(stderr, "whet: these processes do not end after SIGKILL:\n%s\n", buf_str(&left));
}

/* ---- Worker --------------------------------------------------------------------------------- */

/* What the terminal's keys do is for the keeper to decide. Output goes on also where the terminal
 * stops groups in the background that write. */
static void worker_signals(void)
{
	sigset_t none;

	signal(SIGTTOU, SIG_IGN);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

_Noreturn static void work(int (*fn)(void *ctx), void *ctx, pid_t guard)
{
	int code;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != guard)
		_exit(INTERRUPTED);
	worker_signals();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	code = fn(ctx);
	exit(cli_finish(code));
}

/* ---- Guard ---------------------------------------------------------------------------------- */

static int worker_code(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (is_ending(WTERMSIG(status)))
		return INTERRUPTED;
	fprintf(stderr, "whet: the build process was ended by signal %d (%s)\n", WTERMSIG(status),
		strsignal(WTERMSIG(status)));
	return 5;
}

/* Waits for the worker's end, or for that of the keeper: then the other end of `alive` closes. */
static int guard_wait(pid_t worker, int alive)
{
	int pidfd = (int)syscall(SYS_pidfd_open, worker, 0), status = 0;
	struct pollfd p[2] = {{.fd = pidfd, .events = POLLIN}, {.fd = alive, .events = POLLIN}};

	while (poll(p, 2, -1) < 0 && errno == EINTR)
		;
	if (p[0].revents) {
		waitpid(worker, &status, 0);
		return worker_code(status);
	}
	kill(worker, SIGKILL);
	waitpid(worker, NULL, 0);
	return INTERRUPTED;
}

/* All signals stay blocked: the keeper decides. Guard and worker have a group of their own: what is
 * sent to the terminal's group, SIGKILL or SIGCONT, is for the keeper alone. */
_Noreturn static void guard(int (*fn)(void *ctx), void *ctx, int alive)
{
	sigset_t all;
	pid_t self = getpid(), worker;
	int code;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setpgid(0, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	worker = fork();
	if (worker == 0) {
		close(alive);
		work(fn, ctx, self);
	}
	prctl(PR_SET_NAME, "whet-guard");
	if (worker < 0) {
		fprintf(stderr, "whet: cannot fork: %s\n", strerror(errno));
		_exit(5);
	}
	code = guard_wait(worker, alive);
	kill_all_below();
	scratch_remove();
	_exit(code);
}

/* ---- Keeper --------------------------------------------------------------------------------- */

/* What was ignored when whet was started stays so: nohup, and the background jobs of scripts. */
static void watched_signals(sigset_t *ret)
{
	struct sigaction sa;

	sigemptyset(ret);
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		if (sigaction(ending[i], NULL, &sa) == 0 && sa.sa_handler != SIG_IGN)
			sigaddset(ret, ending[i]);
	if (sigaction(SIGTSTP, NULL, &sa) == 0 && sa.sa_handler != SIG_IGN)
		sigaddset(ret, SIGTSTP);
}

/* The build's processes lead groups of their own, which the terminal does not stop. */
static void stand_still(pid_t guard_pid)
{
	sigset_t tstp;
	uint64_t begin;

	proc_stop_below(guard_pid, STOP_LIMIT_NS);
	begin = clock_mono_ns();
	sigemptyset(&tstp);
	sigaddset(&tstp, SIGTSTP);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &tstp, NULL); /* stops here until SIGCONT */
	sigprocmask(SIG_BLOCK, &tstp, NULL);
	clock_add_pause(clock_mono_ns() - begin);
	proc_signal_below(guard_pid, SIGCONT);
}

static int interrupted(const char *next)
{
	fprintf(stderr, "\nwhet: interrupted%s%s\n", next ? "; " : "", next ? next : "");
	return INTERRUPTED;
}

/* Reads one signal; true when it is one that ends whet. */
static bool ends(int signals, pid_t guard_pid)
{
	struct signalfd_siginfo info;

	if (read(signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return false;
	if (info.ssi_signo == SIGTSTP) {
		stand_still(guard_pid);
		return false;
	}
	return is_ending((int)info.ssi_signo);
}

/* Waits for the guard's end; the first signal that ends whet makes the guard do so. */
static int keep(pid_t guard_pid, int signals, int alive, const char *next)
{
	int pidfd = (int)syscall(SYS_pidfd_open, guard_pid, 0), status = 0;
	bool asked = false;

	for (;;) {
		struct pollfd p[2] = {{.fd = pidfd, .events = POLLIN},
			{.fd = asked ? -1 : signals, .events = POLLIN}};
		int limit = asked ? (int)(2 * KILL_LIMIT_NS / NS_PER_MS) : -1;
		int r = poll(p, 2, limit);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0 || p[0].revents)
			break;
		if (!ends(signals, guard_pid))
			continue;
		asked = true;
		close(alive);
		kill(guard_pid, SIGCONT);
	}
	/* The guard is gone, or does not do its work. */
	kill(guard_pid, SIGKILL);
	waitpid(guard_pid, &status, 0);
	if (!WIFEXITED(status)) {
		kill_all_below();
		scratch_remove();
	}
	if (asked || (WIFEXITED(status) && WEXITSTATUS(status) == INTERRUPTED))
		return interrupted(next);
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	fprintf(stderr, "whet: the build's guard was ended by signal %d (%s)\n", WTERMSIG(status),
		strsignal(WTERMSIG(status)));
	return 5;
}

int supervise(int (*fn)(void *ctx), void *ctx, const char *next)
{
	sigset_t set;
	int alive[2], signals;
	pid_t child;

	fflush(NULL);
	signal(SIGCHLD, SIG_DFL); /* ignored, it would lose how children ended */
	proc_disown_children();
	scratch_share();
	clock_share_pause();
	watched_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals = signalfd(-1, &set, SFD_CLOEXEC);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (signals < 0 || pipe2(alive, O_CLOEXEC) < 0) {
		fprintf(stderr, "whet: cannot supervise: %s\n", strerror(errno));
		return 5;
	}
	child = fork();
	if (child < 0) {
		fprintf(stderr, "whet: cannot fork: %s\n", strerror(errno));
		return 5;
	}
	if (child == 0) {
		close(alive[1]);
		close(signals);
		guard(fn, ctx, alive[0]);
	}
	close(alive[0]);
	return keep(child, signals, alive[1], next);
}
