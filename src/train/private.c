/* A training in a network namespace of its own: services and driver meet on a loopback whose
 * packets are as small as those of a network (MTU 1500; a machine's own loopback has 65536). It
 * runs in a child, since who enters a user namespace cannot come back. Progress and errors come
 * through a pipe, the facts by a file. */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/proc.h"
#include "train/internal.h"

#define MTU 1500
#define TEXT_MAX ((size_t)1 << 20)

/* What goes through the pipe, followed by the texts. */
enum message_kind { MESSAGE_EVENT, MESSAGE_ERROR };

struct message {
	enum message_kind kind;
	int code; /* event kind or error code */
	size_t name_n, text_n;
	uint64_t done, total;
};

static void send_message(int fd, struct message m, const char *name, const char *text)
{
	auto_buf struct buf b = BUF_INIT;

	m.name_n = name ? strnlen(name, TEXT_MAX) : 0;
	m.text_n = text ? strnlen(text, TEXT_MAX) : 0;
	buf_add(&b, &m, sizeof(m));
	buf_add(&b, name ? name : "", m.name_n);
	buf_add(&b, text ? text : "", m.text_n);
	(void)file_write_all(fd, b.p, b.n);
}

static void pass_event(void *ctx, const struct event *e)
{
	send_message(*(const int *)ctx,
		(struct message){.kind = MESSAGE_EVENT,
			.code = (int)e->kind,
			.done = e->done,
			.total = e->total},
		e->name, e->text);
}

/* ---- The namespace ----------------------------------------------------------------------------
 */

static int write_text(const char *path, const char *text)
{
	auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);

	return fd < 0 ? -1 : file_write_all(fd, text, strlen(text));
}

/* Without root: as the same user, in a user namespace in which that one may set up a network. */
static int enter_as_user(void)
{
	auto_free char *uid = xasprintf("%u %u 1", geteuid(), geteuid());
	auto_free char *gid = xasprintf("%u %u 1", getegid(), getegid());

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
		return -1;
	if (write_text("/proc/self/setgroups", "deny") < 0 ||
		write_text("/proc/self/uid_map", uid) < 0)
		return -1;
	return write_text("/proc/self/gid_map", gid);
}

static int loopback_up(void)
{
	auto_close int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq r = {.ifr_name = "lo"};

	r.ifr_mtu = MTU;
	if (fd < 0 || ioctl(fd, SIOCSIFMTU, &r) < 0)
		return -1;
	r.ifr_flags = IFF_UP | IFF_LOOPBACK | IFF_RUNNING;
	return ioctl(fd, SIOCSIFFLAGS, &r);
}

static int enter(void)
{
	bool root = geteuid() == 0;

	return (root ? unshare(CLONE_NEWNET) : enter_as_user()) < 0 || loopback_up() < 0 ? -1 : 0;
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

/* 0, or why a child of this process cannot enter one (errno). */
static int try_enter(void)
{
	int report[2], e = 0;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC) < 0)
		return errno;
	pid = fork();
	if (pid < 0)
		e = errno;
	if (pid == 0) {
		e = enter() < 0 ? errno : 0;
		_exit(file_write_all(report[1], &e, sizeof(e)) < 0);
	}
	close(report[1]);
	if (pid > 0 && !read_full(report[0], &e, sizeof(e)))
		e = EIO;
	close(report[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return e;
}

bool private_network_possible(char **why)
{
	int e = try_enter();

	*why = e ? xstrdup(strerror(e)) : NULL;
	return e == 0;
}

/* What the phases executed goes beside the facts. */
static char *coverage_path(const char *facts)
{
	return xasprintf("%s.coverage", facts);
}

static int write_coverage(const struct train_options *o, const char *facts, struct error *err)
{
	auto_free char *path = coverage_path(facts);

	return o->coverage ? coverage_facts_write(o->coverage, path, err) : 0;
}

static int take_coverage(const struct train_options *o, const char *facts, struct error *err)
{
	auto_free char *path = coverage_path(facts);

	if (!o->coverage)
		return 0;
	if (coverage_facts_read(path, o->coverage, err) < 0)
		return -1;
	(void)unlink(path);
	return 0;
}

/* ---- The child --------------------------------------------------------------------------------
 */

_Noreturn static void run_child(
	const struct train_options *o, train_fn *run, const char *path, int pipe, pid_t parent)
{
	struct events events = {.emit = pass_event, .ctx = &pipe};
	struct train_options own = *o;
	struct training_facts facts = {0};
	struct error err = ERROR_INIT;
	int r = enter();

	/* Behind enter(), which takes it back. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	own.events = o->events ? &events : NULL;
	if (r < 0)
		error_set(&err, ERR_ENVIRONMENT, "cannot make a private network: %s",
			strerror(errno));
	else
		r = run(&own, &facts, &err);
	if (r == 0)
		r = training_facts_write(&facts, path, &err);
	if (r == 0)
		r = write_coverage(o, path, &err);
	if (r < 0)
		send_message(pipe, (struct message){.kind = MESSAGE_ERROR, .code = (int)err.code},
			NULL, err.msg);
	_exit(r < 0);
}

/* ---- The parent -------------------------------------------------------------------------------
 */

static void take_message(const struct train_options *o, const struct message *m, const char *name,
	const char *text, struct error *err)
{
	struct event e = {.kind = (enum event_kind)m->code,
		.name = m->name_n ? name : NULL,
		.text = m->text_n ? text : NULL,
		.done = m->done,
		.total = m->total};

	if (m->kind == MESSAGE_ERROR)
		error_set(err, (enum error_code)m->code, "%s", text);
	else
		events_emit(o->events, &e);
}

/* Until the child has closed its end. */
static void listen_to(int fd, const struct train_options *o, struct error *err)
{
	struct message m;

	while (read_full(fd, &m, sizeof(m)) && m.name_n <= TEXT_MAX && m.text_n <= TEXT_MAX) {
		auto_free char *name = xcalloc(1, m.name_n + 1), *text = xcalloc(1, m.text_n + 1);

		if (!read_full(fd, name, m.name_n) || !read_full(fd, text, m.text_n))
			return;
		take_message(o, &m, name, text, err);
	}
}

static int take_result(pid_t pid, const struct train_options *o, const char *path,
	struct error *own, struct training_facts *ret, struct error *err)
{
	struct training_facts facts;
	struct proc_exit end;

	if (proc_wait(pid, UINT64_MAX, &end, err) < 0)
		return -1;
	if (own->code)
		return error_move(err, own);
	if (end.code != 0) {
		auto_free char *how = proc_exit_text(&end);

		return error_set(
			err, ERR_INTERNAL, "the training in a private network ended: %s", how);
	}
	if (training_facts_read(path, &facts, err) < 0)
		return -1;
	(void)unlink(path);
	if (take_coverage(o, path, err) < 0) {
		training_facts_release(&facts);
		return -1;
	}
	*ret = facts;
	return 0;
}

int private_run(
	const struct train_options *o, train_fn *run, struct training_facts *ret, struct error *err)
{
	auto_free char *path = path_join(o->folder, "private-facts.json");
	struct error own = ERROR_INIT;
	pid_t parent = getpid(), pid;
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set(err, ERR_IO, "cannot make a pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		run_child(o, run, path, ends[1], parent);
	}
	if (pid < 0)
		r = error_set(err, ERR_IO, "cannot fork: %s", strerror(errno));
	close(ends[1]);
	if (pid > 0)
		listen_to(ends[0], o, &own);
	close(ends[0]);
	if (pid > 0)
		r = take_result(pid, o, path, &own, ret, err);
	error_release(&own);
	return r;
}
