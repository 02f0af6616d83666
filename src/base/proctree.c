/* The process tree as /proc shows it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"

/* From the third field on, behind the name, which may hold anything; NULL: the process is gone. */
static const char *read_fields(pid_t pid, char *text, size_t size)
{
	auto_close int fd = -1;
	char path[64], *p;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, size - 1);
	if (n <= 0)
		return NULL;
	text[n] = '\0';
	p = strrchr(text, ')');
	return p && p[1] == ' ' ? p + 2 : NULL;
}

bool proc_stat(pid_t pid, struct proc_stat *ret)
{
	char text[1024];
	const char *p = read_fields(pid, text, sizeof(text));
	uint64_t field[23] = {0};

	if (!p)
		return false;
	ret->state = *p;
	for (int i = 3; i < 23 && p; i++) {
		field[i] = strtoull(p, NULL, 10);
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	ret->parent = (pid_t)field[4];
	ret->group = (pid_t)field[5];
	ret->reaped_ticks = field[16] + field[17];
	ret->start = field[22];
	return true;
}

uint64_t proc_start_time(pid_t pid)
{
	struct proc_stat s;

	return proc_stat(pid, &s) ? s.start : 0;
}

/* Of a process that is not our own: listings in a row that must show nothing below it. */
#define EMPTY_ROUNDS 4

/* One process as its stat showed it. */
struct one {
	pid_t pid, parent, group;
	uint64_t start; /* with the pid, its name for good */
	char state;
	bool below; /* the process that is looked at */
};

static bool read_one(pid_t pid, struct one *ret)
{
	struct proc_stat s;

	if (!proc_stat(pid, &s))
		return false;
	*ret = (struct one){.pid = pid,
		.parent = s.parent,
		.group = s.group,
		.start = s.start,
		.state = s.state};
	return true;
}

static bool is_dead(const struct one *p)
{
	return p->state == 'Z' || p->state == 'X';
}

static int by_pid(const void *a, const void *b)
{
	const struct one *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* All processes, by pid. */
static size_t all_processes(struct one **ret)
{
	struct one *v = NULL;
	size_t n = 0, cap = 0;
	DIR *d = opendir("/proc");
	struct dirent *e;

	while (d && (e = readdir(d))) {
		struct one p;
		char *end;
		long pid = strtol(e->d_name, &end, 10);

		if (*end || pid <= 0 || !read_one((pid_t)pid, &p))
			continue;
		array_reserve(v, n, cap);
		v[n++] = p;
	}
	if (d)
		closedir(d);
	if (n)
		qsort(v, n, sizeof(*v), by_pid);
	*ret = v;
	return n;
}

/* Children that this process had before the run began: a shell's `daemon & exec whet build`. */
static struct one *earlier;
static size_t n_earlier;

static bool is_earlier(const struct one *p)
{
	for (size_t i = 0; i < n_earlier; i++)
		if (earlier[i].pid == p->pid && earlier[i].start == p->start)
			return true;
	return false;
}

/* The same with the descendants of root marked. */
static size_t look_below(pid_t root, struct one **ret)
{
	size_t n = all_processes(ret);
	struct one *v = *ret;
	bool more = true;

	/* A parent may have a higher pid than its child: repeat until nothing is added. */
	while (more) {
		more = false;
		for (size_t i = 0; i < n; i++) {
			struct one key = {.pid = v[i].parent};
			const struct one *parent;

			if (v[i].below || v[i].pid == root || is_earlier(&v[i]))
				continue;
			parent = bsearch(&key, v, n, sizeof(*v), by_pid);
			v[i].below = v[i].parent == root || (parent && parent->below);
			more = more || v[i].below;
		}
	}
	return n;
}

void proc_disown_children(void)
{
	auto_free struct one *v = NULL;
	size_t n = look_below(getpid(), &v), cap = n_earlier;

	for (size_t i = 0; i < n; i++) {
		if (!v[i].below)
			continue;
		array_reserve(earlier, n_earlier, cap);
		earlier[n_earlier++] = v[i];
	}
}

size_t proc_descendants(pid_t pid, pid_t **ret)
{
	auto_free struct one *all = NULL;
	size_t total = look_below(pid, &all), n = 0, cap = 0;
	pid_t *v = NULL;

	for (size_t i = 0; i < total; i++) {
		if (!all[i].below)
			continue;
		array_reserve(v, n, cap);
		v[n++] = all[i].pid;
	}
	*ret = v;
	return n;
}

bool proc_signal(pid_t pid, uint64_t start, int sig)
{
	auto_close int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	/* The descriptor names whoever has the pid now; if that is still the one that was meant, it
	 * stays the one. */
	if (fd < 0 || proc_start_time(pid) != start)
		return false;
	return syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0) == 0;
}

/* Signals to a group reach also the child that a member is about to fork. Only groups that have no
 * other member. */
static void kill_groups(const struct one *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool ours = v[i].below && !is_dead(&v[i]) && v[i].group > 1;

		for (size_t k = 0; ours && k < n; k++)
			ours = v[k].group != v[i].group || v[k].below;
		if (ours)
			kill(-v[i].group, SIGKILL);
	}
}

/* Kills what is there. Returns how many processes were alive. */
static size_t kill_round(pid_t root, bool groups)
{
	auto_free struct one *v = NULL;
	size_t n = look_below(root, &v), alive = 0;

	for (size_t i = 0; i < n; i++) {
		if (!v[i].below || is_dead(&v[i]))
			continue;
		alive++;
		proc_signal(v[i].pid, v[i].start, SIGKILL);
	}
	if (groups)
		kill_groups(v, n);
	return alive;
}

void proc_reap(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

/* One that is listed among our own children, and that nobody else can reap: its pid is its own. */
static bool may_kill(pid_t root, pid_t pid, struct one *child)
{
	if (root == getpid() && !n_earlier)
		return true;
	return read_one(pid, child) && child->parent == root && !is_dead(child) &&
	       !is_earlier(child);
}

/* Kills the children of root as fast as they appear: a chain of processes each of which forks the
 * next and ends is always somewhere else when all of /proc has been read, but its orphans become
 * children of root at once. Nothing here may take longer than a fork. */
static void chase_children(pid_t root, uint64_t until)
{
	char path[64], text[4096];
	auto_close int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)root, (int)root);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (clock_mono_ns() < until) {
		if (root == getpid())
			proc_reap(); /* or the dead fill the list */
		n = fd < 0 ? 0 : pread(fd, text, sizeof(text) - 1, 0);
		text[n > 0 ? n : 0] = '\0';
		for (char *p = text, *end; *p; p = end) {
			struct one child = {0};
			pid_t pid = (pid_t)strtol(p, &end, 10);

			if (end == p)
				break;
			if (may_kill(root, pid, &child))
				kill(pid, SIGKILL);
		}
	}
}

/* A listing that shows nothing proves nothing: one that hops may be where it has been looked at
 * already. Of our own children the kernel knows: whoever lives below us descends from one of them,
 * and its orphans are handed to us before their parent can be reaped. */
static bool none_below(pid_t root, int empty)
{
	if (root == getpid() && !n_earlier) {
		proc_reap();
		return waitid(P_ALL, 0, NULL, WEXITED | WNOHANG | WNOWAIT) < 0 && errno == ECHILD;
	}
	return empty >= EMPTY_ROUNDS;
}

bool proc_kill_below(pid_t root, uint64_t limit_ns)
{
	uint64_t end = clock_mono_ns() + limit_ns;
	int empty = 0;

	for (int round = 0;; round++) {
		empty = kill_round(root, round > 2) ? 0 : empty + 1;
		if (none_below(root, empty))
			return true;
		if (clock_mono_ns() >= end)
			return false;
		chase_children(root, clock_mono_ns() + 2 * NS_PER_MS);
	}
}

void proc_signal_below(pid_t root, int sig)
{
	auto_free struct one *v = NULL;
	size_t n = look_below(root, &v);

	for (size_t i = 0; i < n; i++)
		if (v[i].below && !is_dead(&v[i]))
			proc_signal(v[i].pid, v[i].start, sig);
}

void proc_stop_below(pid_t root, uint64_t limit_ns)
{
	uint64_t end = clock_mono_ns() + limit_ns;
	size_t running;

	do {
		auto_free struct one *v = NULL;
		size_t n = look_below(root, &v);

		running = 0;
		for (size_t i = 0; i < n; i++) {
			if (!v[i].below || is_dead(&v[i]) || v[i].state == 'T' || v[i].state == 't')
				continue;
			running++;
			proc_signal(v[i].pid, v[i].start, SIGSTOP);
		}
		if (running)
			nanosleep(&(struct timespec){.tv_nsec = NS_PER_MS}, NULL);
	} while (running && clock_mono_ns() < end);
}

bool proc_kill_tree(pid_t pid, uint64_t start)
{
	auto_free struct one *v = NULL;
	size_t n;

	/* Stopped first: of one that is gone the children are nobody's. */
	if (!proc_signal(pid, start, SIGSTOP))
		return false;
	proc_stop_below(pid, NS_PER_S);
	n = look_below(pid, &v);
	for (size_t i = 0; i < n; i++)
		if (v[i].below)
			proc_signal(v[i].pid, v[i].start, SIGKILL);
	return proc_signal(pid, start, SIGKILL);
}

/* The command line in one line, or the name in brackets. */
static void add_command(pid_t pid, struct buf *b)
{
	auto_buf struct buf text = BUF_INIT;
	auto_free char *path = xasprintf("/proc/%d/cmdline", (int)pid);
	size_t n;

	if (file_read(path, 1 << 20, &text, NULL) < 0 || !text.n) {
		free(path);
		path = xasprintf("/proc/%d/comm", (int)pid);
		(void)file_read(path, 4096, &text, NULL);
	}
	n = text.n < 160 ? text.n : 160;
	for (size_t i = 0; i < n; i++)
		buf_addc(b, (unsigned char)text.p[i] < ' ' ? ' ' : text.p[i]);
	while (b->n && b->p[b->n - 1] == ' ')
		b->n--;
	if (text.n > n)
		buf_adds(b, "...");
}

#define TOLD 20

size_t proc_describe_below(pid_t root, struct buf *ret)
{
	auto_free struct one *v = NULL;
	size_t n = look_below(root, &v), told = 0;

	for (size_t i = 0; i < n; i++) {
		if (!v[i].below || is_dead(&v[i]) || told++ >= TOLD)
			continue;
		buf_addf(ret, "%s%d (state %c): ", ret->n ? "\n" : "", (int)v[i].pid, v[i].state);
		add_command(v[i].pid, ret);
	}
	if (told > TOLD)
		buf_addf(ret, "\nand %zu more", told - TOLD);
	return told;
}
