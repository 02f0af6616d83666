#include "service/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "service/internal.h"

#define REAPER_SIGNAL SIGUSR2
#define TREE_KILL_LIMIT_NS (10 * NS_PER_S)

/* What the reaper says first; on failure the text of the error follows. */
struct hello {
	pid_t pid; /* 0: could not be started */
	int code;  /* enum error_code */
	size_t n;
};

/* It must not keep whet's files, pipes and locks open. */
static void reaper_detach(int report)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	if (report > 3)
		syscall(SYS_close_range, 3U, (unsigned int)report - 1, 0U);
	syscall(SYS_close_range, (unsigned int)report + 1, ~0U, 0U);
}

/* whet is gone, however it ended: nothing of the tree may outlive it. The code that is interrupted
 * only waits, so allocating here is safe. */
static void on_whet_death(int sig)
{
	while (!proc_kill_below(getpid(), TREE_KILL_LIMIT_NS))
		;
	_exit(1);
}

/* All signals stay blocked but the one that tells of whet's death: Ctrl-C and the like are meant
 * for whet, which then stops services in its own way. */
static void reaper_signals(pid_t parent, int terminal)
{
	struct sigaction sa = {.sa_handler = on_whet_death};
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	sigaction(REAPER_SIGNAL, &sa, NULL);
	signal(SIGCHLD, SIG_DFL); /* ignored, it would lose how children ended */
	/* On a terminal the program shares the reaper's process group, which is in the foreground;
	 * what Ctrl-C sends to it the reaper does not get. */
	if (terminal >= 0 && setsid() > 0)
		(void)ioctl(terminal, TIOCSCTTY, 0);
	else
		setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, REAPER_SIGNAL);
	if (getppid() != parent)
		_exit(1);
}

static void reap(pid_t main, int report, struct tree_shared *shared)
{
	for (;;) {
		struct rusage ru;
		int status;
		pid_t pid = wait4(-1, &status, 0, &ru);

		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			return;
		atomic_fetch_add(&shared->reaped_ns, clock_rusage_ns(&ru));
		if (pid != main)
			continue;
		shared->status = status;
		shared->main_cpu_ns = clock_rusage_ns(&ru);
		shared->main_rss = (uint64_t)ru.ru_maxrss * 1024;
		atomic_store(&shared->main_ended, 1);
		(void)file_write_all(report, "", 1);
	}
}

/* The program is started with the user's rights alone: an exec makes the saved id the effective
 * one. The reaper, which has to end whatever the tree becomes, takes its own back. */
static int start_program(
	const struct proc_options *o, const struct tree_user *user, pid_t *ret, struct error *err)
{
	int r;

	if (!user)
		return proc_start(o, ret, err);
	if ((user->name ? initgroups(user->name, user->gid) : setgroups(0, NULL)) < 0 ||
		setresgid(user->gid, user->gid, 0) < 0 || setresuid(user->uid, user->uid, 0) < 0)
		return error_set(err, ERR_ENVIRONMENT, "cannot become user %u: %s",
			(unsigned int)user->uid, strerror(errno));
	r = proc_start(o, ret, err);
	if (setresuid(0, 0, 0) < 0 || setresgid(0, 0, 0) < 0)
		return error_set(
			err, ERR_INTERNAL, "cannot become root again: %s", strerror(errno));
	return r;
}

struct start {
	const struct proc_options *o;
	const struct tree_user *user; /* NULL: the own */
	pid_t parent;
	int report;
};

_Noreturn static void reaper_run(const struct start *st, struct tree_shared *shared)
{
	struct error err = ERROR_INIT;
	struct hello h = {0};
	sigset_t death;
	pid_t pid;

	reaper_signals(st->parent, st->o->new_group ? -1 : st->o->in_fd);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_NAME, "whet-reaper");
	if (start_program(st->o, st->user, &pid, &err) < 0) {
		h.code = (int)err.code;
		h.n = strlen(err.msg);
		if (file_write_all(st->report, &h, sizeof(h)) == 0)
			(void)file_write_all(st->report, err.msg, h.n);
		_exit(1);
	}
	/* A change of user clears it. */
	prctl(PR_SET_PDEATHSIG, REAPER_SIGNAL);
	if (getppid() != st->parent)
		_exit(1);
	reaper_detach(st->report);
	sigemptyset(&death);
	sigaddset(&death, REAPER_SIGNAL);
	sigprocmask(SIG_UNBLOCK, &death, NULL);
	h.pid = pid;
	if (file_write_all(st->report, &h, sizeof(h)) == 0)
		reap(pid, st->report, shared);
	_exit(0);
}

static bool read_full(int fd, void *to, size_t n)
{
	char *p = to;

	while (n) {
		ssize_t r = read(fd, p, n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return false;
		p += r;
		n -= (size_t)r;
	}
	return true;
}

static int start_result(int report, pid_t reaper, pid_t *ret, struct error *err)
{
	struct hello h;
	char text[4096] = "";

	if (!read_full(report, &h, sizeof(h))) {
		waitpid(reaper, NULL, 0);
		return error_set(err, ERR_INTERNAL, "the process that watches a program ended");
	}
	if (h.pid) {
		*ret = h.pid;
		return 0;
	}
	(void)read_full(report, text, h.n < sizeof(text) ? h.n : sizeof(text) - 1);
	waitpid(reaper, NULL, 0);
	return error_set(err, (enum error_code)h.code, "%s", text);
}

/* o->new_group: not on a terminal. */
static int start(const struct proc_options *o, const struct tree_user *user, struct tree **ret,
	struct error *err)
{
	struct tree_shared *shared = mmap(
		NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct start st = {.o = o, .user = user, .parent = getpid()};
	pid_t reaper, main = 0;
	int report[2];

	if (shared == MAP_FAILED)
		return error_set(err, ERR_IO, "cannot map memory: %s", strerror(errno));
	if (pipe2(report, O_CLOEXEC) < 0) {
		munmap(shared, sizeof(*shared));
		return error_set(err, ERR_IO, "cannot make a pipe: %s", strerror(errno));
	}
	reaper = fork();
	if (reaper == 0) {
		close(report[0]);
		st.report = report[1];
		reaper_run(&st, shared);
	}
	close(report[1]);
	if (reaper < 0)
		error_set(err, ERR_IO, "cannot fork: %s", strerror(errno));
	if (reaper < 0 || start_result(report[0], reaper, &main, err) < 0) {
		close(report[0]);
		munmap(shared, sizeof(*shared));
		return -1;
	}
	*ret = xcalloc(1, sizeof(**ret));
	**ret = (struct tree){
		.reaper = reaper, .main = main, .report = report[0], .shared = shared};
	/* Fails only when the program has ended already; then there is nothing to signal either. */
	(*ret)->pidfd = (int)syscall(SYS_pidfd_open, main, 0);
	return 0;
}

int tree_start(const struct proc_options *o, struct tree **ret, struct error *err)
{
	struct proc_options own = *o;

	own.new_group = true;
	return start(&own, NULL, ret, err);
}

int tree_start_as(const struct proc_options *o, const struct tree_user *user, struct tree **ret,
	struct error *err)
{
	struct proc_options own = *o;

	own.new_group = true;
	return start(&own, user, ret, err);
}

int tree_start_terminal(const struct proc_options *o, struct tree **ret, struct error *err)
{
	struct proc_options own = *o;

	own.new_group = false;
	return start(&own, NULL, ret, err);
}

pid_t tree_pid(const struct tree *t)
{
	return t->main;
}

bool tree_main_ended(const struct tree *t, struct proc_exit *ret)
{
	const struct tree_shared *s = t->shared;
	bool ended = atomic_load(&s->main_ended) != 0;

	/* A reaper that was killed takes the program with it and cannot say so. */
	if (!ended && t->gone) {
		if (ret)
			*ret = (struct proc_exit){.code = -1, .signal = SIGKILL};
		return true;
	}
	if (!ended || !ret)
		return ended;
	*ret = (struct proc_exit){.code = -1, .cpu_ns = s->main_cpu_ns, .max_rss = s->main_rss};
	if (WIFEXITED(s->status))
		ret->code = WEXITSTATUS(s->status);
	else if (WIFSIGNALED(s->status))
		ret->signal = WTERMSIG(s->status);
	return true;
}

bool tree_gone(struct tree *t)
{
	if (!t->gone && waitpid(t->reaper, NULL, WNOHANG) != 0)
		t->gone = true;
	return t->gone;
}

bool tree_alive(struct tree *t)
{
	struct proc_exit end;

	if (tree_gone(t))
		return false;
	return !tree_main_ended(t, &end) || end.code == 0;
}

/* Waits until the report pipe has something new; consumes it. */
static void wait_report(struct tree *t, uint64_t end)
{
	struct pollfd p = {.fd = t->report, .events = POLLIN};
	uint64_t now = clock_mono_ns(), left = end > now ? end - now : 0;
	struct timespec ts = {
		.tv_sec = (time_t)(left / NS_PER_S), .tv_nsec = (long)(left % NS_PER_S)};
	char c;

	if (ts.tv_sec > 3600)
		ts.tv_sec = 3600;
	if (ppoll(&p, 1, &ts, NULL) > 0 && read(t->report, &c, 1) == 0)
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL); /* the reaper is ending */
}

static int wait_until(struct tree *t, uint64_t timeout_ns, bool gone)
{
	uint64_t now = clock_mono_ns();
	uint64_t end = timeout_ns > UINT64_MAX - now ? UINT64_MAX : now + timeout_ns;

	for (;;) {
		bool all = tree_gone(t);

		if (all || (!gone && tree_main_ended(t, NULL)))
			return 0;
		if (clock_mono_ns() >= end)
			return 1;
		wait_report(t, end);
	}
}

int tree_wait_main(struct tree *t, uint64_t timeout_ns)
{
	return wait_until(t, timeout_ns, false);
}

int tree_wait_gone(struct tree *t, uint64_t timeout_ns)
{
	return wait_until(t, timeout_ns, true);
}

size_t tree_members(const struct tree *t, pid_t **ret)
{
	auto_free struct link *v = NULL;
	size_t n = t->gone ? 0 : tree_links(t->reaper, &v);

	*ret = xcalloc(n + 1, sizeof(**ret));
	for (size_t i = 0; i < n; i++) {
		(*ret)[i] = v[i].pid;
		if (v[i].pid == t->main && i) {
			memmove(*ret + 1, *ret, i * sizeof(**ret));
			(*ret)[0] = t->main;
		}
	}
	return n;
}

size_t tree_targets(const struct tree *t, pid_t **ret)
{
	auto_free struct link *v = NULL;
	bool main_runs = !t->gone && !tree_main_ended(t, NULL);
	size_t n = t->gone || main_runs ? 0 : tree_links(t->reaper, &v), targets = 0;

	*ret = xcalloc(n + 1, sizeof(**ret));
	if (main_runs)
		(*ret)[targets++] = t->main;
	for (size_t i = 0; i < n; i++)
		if (v[i].parent == t->reaper)
			(*ret)[targets++] = v[i].pid;
	return targets;
}

void tree_signal(const struct tree *t, int sig)
{
	auto_free pid_t *pids = NULL;
	size_t n = tree_targets(t, &pids);

	for (size_t i = 0; i < n; i++) {
		if (pids[i] != t->main)
			kill(pids[i], sig);
		else if (t->pidfd >= 0) /* not kill(): its pid could be another process's by now */
			syscall(SYS_pidfd_send_signal, t->pidfd, sig, NULL, 0);
	}
}

int tree_kill(struct tree *t, struct error *err)
{
	uint64_t end = clock_mono_ns() + TREE_KILL_LIMIT_NS;
	auto_buf struct buf left = BUF_INIT;

	while (!tree_gone(t)) {
		(void)proc_kill_below(t->reaper, TREE_KILL_LIMIT_NS);
		if (tree_wait_gone(t, 2 * NS_PER_MS) == 0)
			break;
		if (clock_mono_ns() < end)
			continue;
		proc_describe_below(t->reaper, &left);
		return error_set(err, ERR_INTERNAL, "these processes do not end after SIGKILL:\n%s",
			buf_str(&left));
	}
	return 0;
}

void tree_free(struct tree *t)
{
	if (!t)
		return;
	(void)tree_kill(t, NULL);
	account_free(t->account);
	close(t->report);
	if (t->pidfd >= 0)
		close(t->pidfd);
	munmap(t->shared, sizeof(*t->shared));
	free(t);
}
