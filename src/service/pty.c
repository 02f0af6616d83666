#include "service/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"

/* So long must it be silent before a line is typed: a program that prints in pieces is not done
 * with its prompt yet. The first line waits longer, since many drop what was typed before they were
 * ready. */
#define SILENT_NS (15 * NS_PER_MS)
#define FIRST_NS NS_PER_S
#define STEP_MS 5
#define END_OF_INPUT 4 /* Ctrl-D */

struct pty {
	int master, slave, in, out;
	pthread_t thread;
	bool running;
	atomic_bool stop;
	struct buf typed; /* all that is to be typed */
	size_t at;
	bool ended;     /* Ctrl-D was typed, too */
	bool spoke;     /* the program has printed something */
	uint64_t moved; /* when something was printed or typed last */
};

static int make_quiet(int fd)
{
	struct winsize size = {.ws_row = 24, .ws_col = 80};
	struct termios t;

	if (tcgetattr(fd, &t) < 0)
		return -1;
	t.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK | ECHONL | ECHOCTL | ECHOKE);
	t.c_oflag &= ~(tcflag_t)(ONLCR | OPOST);
	if (tcsetattr(fd, TCSANOW, &t) < 0)
		return -1;
	return ioctl(fd, TIOCSWINSZ, &size);
}

int pty_open(struct pty **ret, struct error *err)
{
	struct pty *p = xcalloc(1, sizeof(*p));
	char name[64];

	p->slave = -1;
	p->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (p->master >= 0 && grantpt(p->master) == 0 && unlockpt(p->master) == 0 &&
		ptsname_r(p->master, name, sizeof(name)) == 0)
		p->slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (p->slave < 0 || make_quiet(p->slave) < 0 || fcntl(p->master, F_SETFL, O_NONBLOCK) < 0) {
		error_set(err, ERR_ENVIRONMENT,
			"cannot make a terminal (/dev/ptmx, needed for 'pty: true'): %s",
			strerror(errno));
		pty_free(p);
		return -1;
	}
	*ret = p;
	return 0;
}

int pty_slave(const struct pty *p)
{
	return p->slave;
}

/* False at the end of all output: nobody has the program's end open any more. */
static bool take_output(struct pty *p)
{
	char block[4096];

	for (;;) {
		ssize_t n = read(p->master, block, sizeof(block));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n <= 0)
			return false;
		p->spoke = true;
		p->moved = clock_mono_ns();
		(void)file_write_all(p->out, block, (size_t)n);
	}
}

/* Whether the program has read all that was typed so far, and waits in silence. */
static bool is_waiting(const struct pty *p)
{
	uint64_t silent = clock_mono_ns() - p->moved;
	int unread = 0;

	if (silent < (p->spoke || p->at ? SILENT_NS : FIRST_NS))
		return false;
	return ioctl(p->slave, FIONREAD, &unread) == 0 && unread == 0;
}

static void type_line(struct pty *p)
{
	static const char end[] = {END_OF_INPUT};
	const char *line = buf_str(&p->typed) + p->at, *last;
	size_t n = p->typed.n - p->at;
	ssize_t done;

	if (!n) {
		p->ended = write(p->master, end, 1) == 1;
		p->moved = clock_mono_ns();
		return;
	}
	last = memchr(line, '\r', n);
	done = write(p->master, line, last ? (size_t)(last - line) + 1 : n);
	if (done > 0)
		p->at += (size_t)done;
	p->moved = clock_mono_ns();
}

static void *talk(void *ctx)
{
	struct pty *p = ctx;

	while (!atomic_load(&p->stop)) {
		struct pollfd fd = {.fd = p->master, .events = POLLIN};

		(void)poll(&fd, 1, STEP_MS);
		(void)take_output(p);
		if (!p->ended && is_waiting(p))
			type_line(p);
	}
	return NULL;
}

/* The key at the end of a line sends CR; the terminal makes LF of it unless the program reads keys
 * itself. */
static int read_typed(int fd, struct buf *ret)
{
	char block[4096];
	ssize_t n;

	while ((n = read(fd, block, sizeof(block))) > 0)
		buf_add(ret, block, (size_t)n);
	for (size_t i = 0; i < ret->n; i++)
		if (ret->p[i] == '\n')
			ret->p[i] = '\r';
	return n < 0 || buf_failed(ret) ? -1 : 0;
}

int pty_begin(struct pty *p, int in_fd, int out_fd, struct error *err)
{
	sigset_t all, before;
	int e;

	p->out = out_fd;
	p->typed.max = (size_t)64 << 20;
	if (in_fd >= 0 && read_typed(in_fd, &p->typed) < 0)
		return error_set(err, ERR_IO, "cannot read what is to be typed: %s",
			buf_failed(&p->typed) ? "more than 64 MiB" : strerror(errno));
	p->moved = clock_mono_ns();
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	e = pthread_create(&p->thread, NULL, talk, p);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (e)
		return error_set(err, ERR_IO, "cannot start a thread: %s", strerror(e));
	p->running = true;
	return 0;
}

void pty_finish(struct pty *p)
{
	if (p->running) {
		atomic_store(&p->stop, true);
		pthread_join(p->thread, NULL);
		p->running = false;
	}
	/* Without an open end of the program's the kernel gives all that is left, then an error. */
	if (p->slave >= 0)
		close(p->slave);
	p->slave = -1;
	for (int i = 0; i < 200 && take_output(p); i++)
		(void)poll(&(struct pollfd){.fd = p->master, .events = POLLIN}, 1, STEP_MS);
}

void pty_free(struct pty *p)
{
	if (!p)
		return;
	if (p->running)
		pty_finish(p);
	if (p->slave >= 0)
		close(p->slave);
	if (p->master >= 0)
		close(p->master);
	buf_release(&p->typed);
	free(p);
}
