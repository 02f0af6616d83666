#include "bench/counting.h"

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"
#define SPARE 128 /* file descriptors left to the load for its connections */
#define TRIES 8   /* until a tree's threads are the same before and after */

#define CACHE(level)                                                                               \
	(PERF_COUNT_HW_CACHE_##level | PERF_COUNT_HW_CACHE_OP_READ << 8 |                          \
		PERF_COUNT_HW_CACHE_RESULT_MISS << 16)
const struct counting_event counting_hardware[COUNTERS_READ] = {
	[COUNTER_INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	[COUNTER_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	[COUNTER_L1I_MISSES] = {PERF_TYPE_HW_CACHE, CACHE(L1I)},
	[COUNTER_ITLB_MISSES] = {PERF_TYPE_HW_CACHE, CACHE(ITLB)},
	[COUNTER_BRANCH_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
};

/* One open event. */
struct opened {
	int fd;
	enum counter counter;
};

struct counting {
	struct opened *v;
	size_t n, cap;
};

/* What the kernel gives for PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING. */
struct count {
	uint64_t value, enabled, running;
};

/* With inherit, PERF_FORMAT_GROUP is not to be had in most kernels: each event stands alone. */
static int open_event(
	const struct counting_event *e, enum counter_mode mode, pid_t task, bool from_exec)
{
	struct perf_event_attr a = {
		.type = e->type,
		.size = sizeof(a),
		.config = e->config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.inherit = 1,
		.disabled = from_exec,
		.enable_on_exec = from_exec,
		.exclude_user = mode == COUNTER_KERNEL,
		.exclude_kernel = mode == COUNTER_USER,
		.exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &a, task, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* ---- What there is --------------------------------------------------------------------------- */

/* False: it cannot be read. */
static bool paranoid(int *ret)
{
	auto_buf struct buf text = BUF_INIT;

	return file_read(PARANOID, 64, &text, NULL) == 0 && sscanf(buf_str(&text), "%d", ret) == 1;
}

static bool is_denial(int e)
{
	return e == EACCES || e == EPERM;
}

/* Level 2 lets everybody count in their own programs; above it, and below by a filter of system
 * calls, nobody without privileges may. */
static void say_denied(struct counters *note, int e)
{
	int level;
	bool known = paranoid(&level);
	auto_free char *shown = known ? xasprintf(" (%d)", level) : xstrdup("");

	if (known && level > 2)
		counters_note(note,
			"hardware counters are denied: kernel.perf_event_paranoid is %d; 'sysctl "
			"kernel.perf_event_paranoid=2' allows those of user mode, 1 the kernel's "
			"too",
			level);
	else
		counters_note(note,
			"hardware counters are denied (%s), and not by kernel.perf_event_paranoid"
			"%s: a container's filter of system calls does that; allow "
			"perf_event_open there, or give the capability CAP_PERFMON",
			strerror(e), shown);
}

static void say_absent(struct counters *note, int e)
{
	if (e == ENOSYS)
		counters_note(note, "hardware counters are absent: this kernel has no "
				    "perf_event_open (CONFIG_PERF_EVENTS)");
	else
		counters_note(note,
			"hardware counters are absent: this machine has none, as most virtual "
			"machines; 'counters: callgrind' simulates some");
}

static void say_missing(const struct counting_source *s, struct counters *note)
{
	auto_buf struct buf list = BUF_INIT;

	for (size_t k = 0; k < COUNTERS_READ; k++)
		if (!s->can[COUNTER_USER][k] && !s->can[COUNTER_KERNEL][k])
			buf_addf(&list, "%s%s", list.n ? ", " : "", counter_name((enum counter)k));
	if (list.n)
		counters_note(note, "this processor does not count: %s", buf_str(&list));
}

static void say_kernel_denied(struct counters *note)
{
	int level;
	auto_free char *shown = paranoid(&level)
					? xasprintf("kernel.perf_event_paranoid is %d, and ", level)
					: xstrdup("");

	counters_note(note,
		"the kernel's part is denied: %swhat follows is of user mode alone; 'sysctl "
		"kernel.perf_event_paranoid=1' allows it",
		shown);
}

/* Tries all events of one mode; how many there are. *why: what the first was refused with. */
static size_t try_mode(struct counting_source *s, enum counter_mode mode, int *why)
{
	size_t n = 0;

	*why = 0;
	for (size_t k = 0; k < COUNTERS_READ; k++) {
		int fd = open_event(&s->events[k], mode, 0, true);

		if (fd < 0 && (!*why || is_denial(errno)))
			*why = errno;
		s->can[mode][k] = fd >= 0;
		n += fd >= 0;
		if (fd >= 0)
			close(fd);
	}
	return n;
}

void counting_try(
	struct counting_source *ret, const struct counting_event *events, struct counters *note)
{
	struct counting_source s = {.events = events, .state = COUNTERS_COUNTED};
	int user_why, kernel_why;
	size_t user = try_mode(&s, COUNTER_USER, &user_why);
	size_t kernel = try_mode(&s, COUNTER_KERNEL, &kernel_why);

	if (!user && !kernel) {
		s.state = is_denial(user_why) ? COUNTERS_DENIED : COUNTERS_ABSENT;
		if (is_denial(user_why))
			say_denied(note, user_why);
		else
			say_absent(note, user_why);
	} else {
		say_missing(&s, note);
		if (!kernel && is_denial(kernel_why))
			say_kernel_denied(note);
	}
	note->state = s.state;
	*ret = s;
}

/* ---- Counting -------------------------------------------------------------------------------- */

/* Of many threads each has its events: what is measured must not fail for them. */
static bool leaves_spare(int fd)
{
	struct rlimit most;

	return getrlimit(RLIMIT_NOFILE, &most) < 0 || (rlim_t)fd + SPARE < most.rlim_cur;
}

/* All events of the mode on one task (0: this thread); those of one that is gone are left out. */
static int open_all(struct counting *c, const struct counting_source *s, enum counter_mode mode,
	pid_t task, bool from_exec)
{
	for (size_t k = 0; k < COUNTERS_READ; k++) {
		int fd = s->can[mode][k] ? open_event(&s->events[k], mode, task, from_exec) : -1;

		if (!s->can[mode][k])
			continue;
		if (fd < 0)
			return errno == ESRCH ? 0 : -1;
		array_reserve(c->v, c->n, c->cap);
		c->v[c->n++] = (struct opened){fd, (enum counter)k};
		if (!leaves_spare(fd)) {
			errno = EMFILE;
			return -1;
		}
	}
	return 0;
}

static int cannot(enum counter_mode mode, struct error *err)
{
	int e = errno;

	return error_set(err, ERR_ENVIRONMENT, "cannot count in %s mode: %s%s",
		counter_mode_name(mode), strerror(e),
		e == EMFILE    ? " (ulimit -n)"
		: is_denial(e) ? " (a process of another user?)"
			       : "");
}

struct tasks {
	pid_t *v;
	size_t n, cap;
};

static void add_threads(pid_t pid, struct tasks *t)
{
	char path[64];
	struct dirent *e;
	DIR *d;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.') {
			array_reserve(t->v, t->n, t->cap);
			t->v[t->n++] = (pid_t)strtol(e->d_name, NULL, 10);
		}
	if (d)
		closedir(d);
}

static void list_tasks(counting_list *list, const void *ctx, struct tasks *ret)
{
	auto_free pid_t *pids = NULL;
	size_t n = list(ctx, &pids);

	ret->n = 0;
	for (size_t i = 0; i < n; i++)
		add_threads(pids[i], ret);
}

static bool has(const struct tasks *t, pid_t task)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->v[i] == task)
			return true;
	return false;
}

/* One that is there now and was not before: either it was started by a task whose events were open
 * already, and is counted with it, or by one whose were not, and is not counted at all. */
static bool has_new(const struct tasks *before, const struct tasks *now)
{
	for (size_t i = 0; i < now->n; i++)
		if (!has(before, now->v[i]))
			return true;
	return false;
}

static void close_all(struct counting *c)
{
	for (size_t i = 0; i < c->n; i++)
		close(c->v[i].fd);
	c->n = 0;
}

/* 0 all are open, 1 the tree changed meanwhile, -1 it cannot be. */
static int open_tree(struct counting *c, const struct counting_source *s, enum counter_mode mode,
	counting_list *list, const void *ctx)
{
	struct tasks before = {0}, now = {0};
	int r = 0;

	list_tasks(list, ctx, &before);
	for (size_t i = 0; i < before.n && r == 0; i++)
		r = open_all(c, s, mode, before.v[i], false);
	if (r == 0) {
		list_tasks(list, ctx, &now);
		r = has_new(&before, &now);
	}
	free(before.v);
	free(now.v);
	return r;
}

int counting_tree(const struct counting_source *s, enum counter_mode mode, counting_list *list,
	const void *ctx, struct counting **ret, struct error *err)
{
	struct counting *c = xcalloc(1, sizeof(*c));

	for (size_t i = 0; i < TRIES; i++) {
		int r = open_tree(c, s, mode, list, ctx);

		if (r == 0) {
			*ret = c;
			return 0;
		}
		if (r < 0)
			(void)cannot(mode, err);
		close_all(c);
		if (r < 0)
			break;
		if (i + 1 == TRIES)
			(void)error_set(err, ERR_ENVIRONMENT,
				"cannot count in %s mode: it starts threads or processes all the "
				"time",
				counter_mode_name(mode));
	}
	counting_free(c);
	return -1;
}

/* The events are this thread's and never enabled in it: what it starts inherits them switched off,
 * and execve(2) switches on the copy. */
int counting_programs(const struct counting_source *s, enum counter_mode mode,
	struct counting **ret, struct error *err)
{
	struct counting *c = xcalloc(1, sizeof(*c));

	if (open_all(c, s, mode, 0, true) < 0) {
		(void)cannot(mode, err);
		counting_free(c);
		return -1;
	}
	*ret = c;
	return 0;
}

void counting_read(const struct counting *c, struct counting_sum *ret)
{
	double enabled[COUNTERS_READ] = {0}, running[COUNTERS_READ] = {0};
	struct counting_sum sum = {.running = 1};
	bool is_open[COUNTERS_READ] = {false}, failed[COUNTERS_READ] = {false};

	for (size_t i = 0; i < c->n; i++) {
		enum counter k = c->v[i].counter;
		struct count one = {0};

		is_open[k] = true;
		/* A sum without the part of a task is no sum. */
		if (read(c->v[i].fd, &one, sizeof(one)) != (ssize_t)sizeof(one)) {
			failed[k] = true;
			continue;
		}
		sum.v[k] += (double)one.value;
		enabled[k] += (double)one.enabled;
		running[k] += (double)one.running;
	}
	for (size_t k = 0; k < COUNTERS_READ; k++) {
		double share = enabled[k] > 0 ? running[k] / enabled[k] : 1;

		if (!is_open[k] || failed[k] || share <= 0) {
			sum.v[k] = NAN;
			continue;
		}
		sum.v[k] /= share;
		sum.running = fmin(sum.running, share);
	}
	*ret = sum;
}

void counting_free(struct counting *c)
{
	if (!c)
		return;
	close_all(c);
	free(c->v);
	free(c);
}
