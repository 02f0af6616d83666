#include "cli/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/proc.h"
#include "cli/opt.h"

/* In the child: the pipe's other end closes when the keeper dies, even by SIGKILL. */
static void *watch_keeper(void *arg)
{
	int fd = *(int *)arg;
	char c;
	ssize_t n;

	do
		n = read(fd, &c, 1);
	while (n < 0 && errno == EINTR);
	proc_kill_descendants(0);
	_exit(130);
}

_Noreturn static void work(int (*fn)(void *ctx), void *ctx, int alive)
{
	static int fd;
	pthread_t thread;
	sigset_t none;
	int code;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* The keeper decides what an interrupt from the terminal does. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	fd = alive;
	if (pthread_create(&thread, NULL, watch_keeper, &fd) != 0) {
		fprintf(stderr, "whet: cannot start a thread\n");
		exit(5);
	}
	code = fn(ctx);
	code = cli_finish(code);
	proc_kill_descendants(0);
	exit(code);
}

static int child_code(int status)
{
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	fprintf(stderr, "whet: the build process was ended by signal %d (%s)\n", WTERMSIG(status),
		strsignal(WTERMSIG(status)));
	return 5;
}

/* Waits for the child or a signal. */
static int keep(pid_t child, int signals)
{
	int pidfd = (int)syscall(SYS_pidfd_open, child, 0), status = 0;
	struct pollfd p[2] = {{.fd = pidfd, .events = POLLIN}, {.fd = signals, .events = POLLIN}};

	while (poll(p, 2, -1) < 0 && errno == EINTR)
		;
	if (p[1].revents && !p[0].revents) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		proc_kill_descendants(0);
		fprintf(stderr, "\nwhet: interrupted; the next `whet build` goes on where this one "
				"was\n");
		return 130;
	}
	waitpid(child, &status, 0);
	proc_kill_descendants(0);
	return child_code(status);
}

int supervise(int (*fn)(void *ctx), void *ctx)
{
	sigset_t set;
	int alive[2], signals;
	pid_t child;

	fflush(NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
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
		work(fn, ctx, alive[0]);
	}
	close(alive[0]);
	return keep(child, signals);
}
