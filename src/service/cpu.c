/* The CPU clock of a process tree.
 *
 * Each process counts with its own clock plus what its ended children used. The latter is known
 * twice: as the last reading of those that were seen (exact up to that reading), and as the
 * kernel's account of children waited for (complete, but in clock ticks). The larger one is right:
 * the first misses what was never seen, the second is rounded down and misses children nobody
 * waited for. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/proc.h"
#include "service/internal.h"

struct member {
	pid_t pid, parent;
	uint64_t start; /* clock ticks since boot: with the pid, its name for good */
	clockid_t clock;
	uint64_t own;    /* last reading of its own clock */
	uint64_t seen;   /* of ended children, as last read */
	uint64_t reaped; /* of ended children, as the kernel accounts them */
	bool gone;
};

struct account {
	struct member *v; /* parents before children */
	size_t n, cap;
	uint64_t seen;  /* of ended processes whose parent was the reaper or is gone too */
	uint64_t total; /* as last returned */
	int loadavg;    /* open file */
	long last_pid;  /* that the machine gave to a process when v was made; -1: unknown */
};

void account_free(struct account *a)
{
	if (!a)
		return;
	if (a->loadavg >= 0)
		close(a->loadavg);
	free(a->v);
	free(a);
}

/* ---- The tree ------------------------------------------------------------------------------- */

static void add_link(struct link **v, size_t *n, size_t *cap, pid_t pid, pid_t parent)
{
	for (size_t i = 0; i < *n; i++)
		if ((*v)[i].pid == pid)
			return; /* moved to another parent while the tree was read */
	array_reserve(*v, *n, *cap);
	(*v)[(*n)++] = (struct link){pid, parent};
}

static void add_children_of_thread(
	int dir, const char *tid, pid_t parent, struct link **v, size_t *n, size_t *cap)
{
	char path[300], text[4096];
	auto_close int fd = -1;
	long pid = 0;
	ssize_t got;

	snprintf(path, sizeof(path), "%s/children", tid);
	fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && (got = read(fd, text, sizeof(text))) > 0) {
		for (ssize_t i = 0; i < got; i++) {
			if (text[i] >= '0' && text[i] <= '9') {
				pid = pid * 10 + (text[i] - '0');
				continue;
			}
			if (pid)
				add_link(v, n, cap, (pid_t)pid, parent);
			pid = 0;
		}
	}
	if (pid)
		add_link(v, n, cap, (pid_t)pid, parent);
}

static void add_children(pid_t parent, struct link **v, size_t *n, size_t *cap)
{
	char path[64];
	DIR *d;
	struct dirent *e;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)parent);
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			add_children_of_thread(dirfd(d), e->d_name, parent, v, n, cap);
	if (d)
		closedir(d);
}

static bool read_member(pid_t pid, struct member *m)
{
	struct proc_stat s;

	if (!proc_stat(pid, &s))
		return false;
	m->pid = pid;
	m->parent = s.parent;
	m->reaped = s.reaped_ticks * (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
	m->start = s.start;
	return true;
}

/* Kernels without CONFIG_PROC_CHILDREN: every process of the machine is looked at. */
static size_t links_by_scan(pid_t root, struct link **ret)
{
	auto_free pid_t *pids = NULL;
	size_t total = proc_descendants(root, &pids), n = 0, cap = 0;

	for (size_t i = 0; i < total; i++) {
		struct member m;

		if (read_member(pids[i], &m))
			add_link(ret, &n, &cap, m.pid, m.parent);
	}
	return n;
}

size_t tree_links(pid_t root, struct link **ret)
{
	size_t n = 0, cap = 0;

	*ret = NULL;
	if (access("/proc/thread-self/children", F_OK) != 0)
		return links_by_scan(root, ret);
	add_children(root, ret, &n, &cap);
	for (size_t i = 0; i < n; i++)
		add_children((*ret)[i].pid, ret, &n, &cap);
	return n;
}

/* ---- The account ---------------------------------------------------------------------------- */

/* The pid that was given to a process last: while it stays, nothing new can have started. */
static long last_pid(struct account *a)
{
	char text[128], *p;
	ssize_t n = a->loadavg < 0 ? -1 : pread(a->loadavg, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return -1;
	text[n] = '\0';
	p = strrchr(text, ' ');
	return p ? strtol(p + 1, NULL, 10) : -1;
}

static struct member *find(struct member *v, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].pid == pid && !v[i].gone)
			return &v[i];
	return NULL;
}

static uint64_t ended_children(const struct member *m)
{
	return m->seen > m->reaped ? m->seen : m->reaped;
}

/* Moves what ended processes used to their parents. Children come after parents in v, so from the
 * back each one is complete when it is moved. */
static void settle(struct account *a)
{
	size_t kept = 0;

	for (size_t i = a->n; i-- > 0;) {
		struct member *m = &a->v[i], *parent;

		if (!m->gone)
			continue;
		parent = NULL;
		for (size_t k = 0; k < i && !parent; k++)
			if (a->v[k].pid == m->parent)
				parent = &a->v[k];
		*(parent ? &parent->seen : &a->seen) += m->own + ended_children(m);
	}
	for (size_t i = 0; i < a->n; i++)
		if (!a->v[i].gone)
			a->v[kept++] = a->v[i];
	a->n = kept;
}

static bool read_clock(struct member *m)
{
	struct timespec t;

	if (clock_gettime(m->clock, &t) < 0)
		return false;
	m->own = (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
	return true;
}

/* Looks at the whole tree again (reaper 0: nothing of it is left). A parent's account is read
 * before its children's clocks: one that ends in between is missed for this once, never counted
 * twice. */
static void refresh(struct account *a, pid_t reaper)
{
	auto_free struct link *links = NULL;
	size_t n = reaper ? tree_links(reaper, &links) : 0, now_n = 0;
	auto_free struct member *now = xcalloc(n + 1, sizeof(*now));

	for (size_t i = 0; i < n; i++) {
		struct member m = {0}, *old;

		if (!read_member(links[i].pid, &m))
			continue;
		if (clock_getcpuclockid(m.pid, &m.clock) != 0 || !read_clock(&m))
			continue;
		old = find(a->v, a->n, m.pid);
		if (old && old->start == m.start) {
			m.seen = old->seen;
			if (m.own < old->own)
				m.own = old->own;
		}
		now[now_n++] = m;
	}
	for (size_t i = 0; i < a->n; i++) {
		struct member *m = find(now, now_n, a->v[i].pid);

		a->v[i].gone = !m || m->start != a->v[i].start;
		if (m && !a->v[i].gone)
			a->v[i] = *m;
	}
	settle(a);
	/* In the new order, with what settling added to the old ones. */
	for (size_t i = 0; i < now_n; i++) {
		struct member *old = find(a->v, a->n, now[i].pid);

		if (old)
			now[i].seen = old->seen;
	}
	free(a->v);
	a->v = take_ptr(now);
	a->n = now_n;
	a->cap = n + 1;
}

static struct account *account_new(void)
{
	struct account *a = xcalloc(1, sizeof(*a));

	a->loadavg = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	a->last_pid = -1;
	return a;
}

int tree_cpu_ns(struct tree *t, uint64_t *ret, struct error *err)
{
	struct account *a = t->account ? t->account : (t->account = account_new());
	uint64_t sum = 0, rest, reaped;
	long last = last_pid(a);
	bool same = last >= 0 && last == a->last_pid;

	for (size_t i = 0; same && i < a->n; i++)
		same = read_clock(&a->v[i]);
	if (!same)
		refresh(a, tree_gone(t) ? 0 : t->reaper);
	a->last_pid = last;
	for (size_t i = 0; i < a->n; i++)
		sum += a->v[i].own + ended_children(&a->v[i]);
	reaped = atomic_load(&t->shared->reaped_ns);
	rest = a->seen > reaped ? a->seen : reaped;
	if (sum + rest > a->total)
		a->total = sum + rest;
	*ret = a->total;
	return 0;
}
