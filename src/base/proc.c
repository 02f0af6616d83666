#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"

static void reset_signals(void)
{
	struct sigaction sa = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int s = 1; s < NSIG; s++)
		sigaction(s, &sa, NULL); /* SIGKILL and SIGSTOP refuse; nothing to do about it */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void set_stream(int fd, int to, int open_flags)
{
	if (fd < 0)
		fd = open("/dev/null", open_flags);
	if (fd == to)
		fcntl(fd, F_SETFD, 0);
	else
		dup2(fd, to);
}

/* Runs in the child; never returns. The reason for a failure goes through the pipe. */
_Noreturn static void child_exec(
	const struct proc_options *o, const char *program, int report, pid_t parent)
{
	extern char **environ;
	int e;

	reset_signals();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127); /* the parent died before the line above */
	if (o->new_group)
		setpgid(0, 0);
	if (o->cpu >= 0) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET((size_t)o->cpu, &set);
		(void)sched_setaffinity(0, sizeof(set), &set);
	}
	set_stream(o->in_fd, 0, O_RDONLY);
	set_stream(o->out_fd, 1, O_WRONLY);
	set_stream(o->err_fd, 2, O_WRONLY);
	if (!o->cwd || chdir(o->cwd) == 0)
		execve(program, o->argv->v, o->env ? o->env->v : environ);
	e = errno;
	if (write(report, &e, sizeof(e)) < 0)
		_exit(126);
	_exit(127);
}

static int start_failed(const struct proc_options *o, const char *program, int e, struct error *err)
{
	if (o->cwd && !path_is_dir(o->cwd))
		return error_set(err, ERR_ENVIRONMENT, "cannot start '%s' in '%s': %s", program,
			o->cwd, strerror(e));
	return error_set(err, ERR_ENVIRONMENT, "cannot start '%s': %s", program, strerror(e));
}

int proc_start(const struct proc_options *o, pid_t *ret, struct error *err)
{
	const char *path_list = o->env ? env_get(o->env, "PATH") : getenv("PATH");
	auto_free char *program = NULL;
	pid_t parent = getpid(), pid;
	int report[2], e = 0;
	ssize_t n;

	if (!o->argv->n)
		return error_set(err, ERR_INTERNAL, "no program to start");
	program = path_find_program(o->argv->v[0], path_list, NULL);
	if (!program)
		return error_set(err, ERR_ENVIRONMENT, "cannot find program '%s'", o->argv->v[0]);
	if (pipe2(report, O_CLOEXEC) < 0)
		return error_set(err, ERR_IO, "cannot make a pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0)
		child_exec(o, program, report[1], parent);
	close(report[1]);
	if (pid < 0) {
		close(report[0]);
		return error_set(err, ERR_IO, "cannot fork: %s", strerror(errno));
	}
	do
		n = read(report[0], &e, sizeof(e));
	while (n < 0 && errno == EINTR);
	close(report[0]);
	if (n == (ssize_t)sizeof(e)) {
		waitpid(pid, NULL, 0);
		return start_failed(o, program, e, err);
	}
	*ret = pid;
	return 0;
}

static void fill_exit(int status, const struct rusage *ru, struct proc_exit *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->code = -1;
	if (WIFEXITED(status))
		ret->code = WEXITSTATUS(status);
	else if (WIFSIGNALED(status))
		ret->signal = WTERMSIG(status);
	ret->cpu_ns = clock_rusage_ns(ru);
	ret->max_rss = (uint64_t)ru->ru_maxrss * 1024;
}

static int wait_readable(int pidfd, uint64_t timeout_ns)
{
	struct pollfd p = {.fd = pidfd, .events = POLLIN};
	uint64_t end = timeout_ns == UINT64_MAX ? UINT64_MAX : clock_mono_ns() + timeout_ns;

	for (;;) {
		uint64_t now = clock_mono_ns();
		int ms = -1, r;

		if (end != UINT64_MAX) {
			uint64_t left = now < end ? (end - now + NS_PER_MS - 1) / NS_PER_MS : 0;

			ms = left > 1000000 ? 1000000 : (int)left;
		}
		r = poll(&p, 1, ms);
		if (r > 0)
			return 0;
		if (r < 0 && errno != EINTR)
			return -1;
		if (end != UINT64_MAX && clock_mono_ns() >= end)
			return 1;
	}
}

int proc_wait(pid_t pid, uint64_t timeout_ns, struct proc_exit *ret, struct error *err)
{
	auto_close int pidfd = -1;
	struct rusage ru;
	int status, r;

	if (timeout_ns != UINT64_MAX) {
		pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
		r = pidfd < 0 ? 0 : wait_readable(pidfd, timeout_ns);
		if (r > 0)
			return 1;
	}
	do
		r = wait4(pid, &status, 0, &ru);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return error_set(err, ERR_INTERNAL, "cannot wait for process %d: %s", (int)pid,
			strerror(errno));
	fill_exit(status, &ru, ret);
	return 0;
}

int proc_run(
	const struct proc_options *o, uint64_t timeout_ns, struct proc_exit *ret, struct error *err)
{
	struct proc_options own = *o;
	struct proc_exit end;
	pid_t pid;
	int r;

	own.new_group = true;
	if (proc_start(&own, &pid, err) < 0)
		return -1;
	r = proc_wait(pid, timeout_ns, &end, err);
	if (r == 1) {
		proc_kill_tree(pid, proc_start_time(pid));
		kill(-pid, SIGKILL); /* those whose parents are gone */
		(void)proc_wait(pid, UINT64_MAX, &end, NULL);
		return error_set(err, ERR_TIMEOUT, "'%s' did not end within %.0f s", o->argv->v[0],
			(double)timeout_ns / NS_PER_S);
	}
	if (r == 0)
		*ret = end;
	return r;
}

static int temporary_file(struct error *err)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		fd = (int)syscall(SYS_memfd_create, "whet", 1U /* MFD_CLOEXEC */);
	if (fd < 0)
		error_set(err, ERR_IO, "cannot make a temporary file: %s", strerror(errno));
	return fd;
}

static void read_back(int fd, struct buf *b)
{
	char block[8192];
	ssize_t r;
	off_t at = 0;

	b->max = 16 << 20;
	while ((r = pread(fd, block, sizeof(block), at)) > 0) {
		buf_add(b, block, (size_t)r);
		at += r;
	}
}

static const char *last_lines(const struct buf *b)
{
	const char *s = buf_str(b);

	return b->n > 2000 ? s + b->n - 2000 : s;
}

int proc_capture(const struct proc_options *o, uint64_t timeout_ns, struct strv *ret_lines,
	struct error *err)
{
	auto_close int out = temporary_file(err);
	auto_close int errs = temporary_file(err);
	auto_buf struct buf text = BUF_INIT, errors = BUF_INIT;
	struct proc_options own = *o;
	struct proc_exit end;
	char *save = NULL;

	if (out < 0 || errs < 0)
		return -1;
	own.out_fd = out;
	own.err_fd = errs;
	if (proc_run(&own, timeout_ns, &end, err) < 0)
		return -1;
	if (end.code != 0) {
		auto_free char *how = proc_exit_text(&end);

		read_back(errs, &errors);
		return error_set(err, end.signal ? ERR_KILLED : ERR_CHILD, "'%s' ended with %s: %s",
			o->argv->v[0], how, last_lines(&errors));
	}
	read_back(out, &text);
	if (text.p)
		for (char *l = strtok_r(text.p, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
			strv_add(ret_lines, l);
	return 0;
}

char *proc_exit_text(const struct proc_exit *e)
{
	if (e->code >= 0)
		return xasprintf("exit code %d", e->code);
	return xasprintf("signal %d (%s)", e->signal, strsignal(e->signal));
}
