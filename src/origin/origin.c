#include "origin/origin.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "http/loopback.h"
#include "origin/server.h"

#define EVENTS 128
#define BACKLOG 4096
#define ACCEPTS 64 /* new connections taken at once */
#define SWEEP_NS NS_PER_S
#define STOP_NS (2 * NS_PER_S)

static int watch(struct origin *o, int fd, void *tag)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = tag};

	return epoll_ctl(o->epfd, EPOLL_CTL_ADD, fd, &ev);
}

static void listener_pause(struct origin *o)
{
	if (o->listening)
		(void)epoll_ctl(o->epfd, EPOLL_CTL_DEL, o->listen_fd, NULL);
	o->listening = false;
}

static void listener_resume(struct origin *o)
{
	if (!o->listening && !o->stopping)
		o->listening = watch(o, o->listen_fd, &o->listen_fd) == 0;
}

static void accept_some(struct origin *o)
{
	for (int i = 0; i < ACCEPTS; i++) {
		int one = 1;
		int fd = accept4(o->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (fd < 0) {
			/* No descriptors or no memory: the sweep tries again. */
			listener_pause(o);
			return;
		}
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		(void)client_new(o, fd);
	}
}

static bool is_stale(const struct origin *o, const struct client *c)
{
	if (c->state == CLIENT_DELAY || c->state == CLIENT_LINGER)
		return false; /* their timers end them */
	if (o->stopping && c->state == CLIENT_HEAD && c->in.n == 0)
		return true;
	if (c->state == CLIENT_HEAD && c->in.n && o->now - c->head_ns > ORIGIN_HEAD_NS)
		return true;
	return o->now - c->moved_ns > ORIGIN_IDLE_NS;
}

static void sweep(struct origin *o)
{
	struct client *next;

	for (struct client *c = o->clients; c; c = next) {
		next = c->next;
		if (is_stale(o, c))
			client_free(o, c);
	}
	listener_resume(o);
}

static void stop_begin(struct origin *o)
{
	struct signalfd_siginfo si;

	(void)!read(o->signal_fd, &si, sizeof(si));
	if (o->stopping)
		return;
	listener_pause(o);
	o->stopping = true;
	o->stop_at = o->now + STOP_NS;
	sweep(o);
}

static int wait_ms(const struct origin *o, uint64_t next_sweep)
{
	const struct client *c = timer_first(&o->timers);
	uint64_t until = next_sweep;

	if (c && c->due_ns < until)
		until = c->due_ns;
	if (o->stopping && o->stop_at < until)
		until = o->stop_at;
	if (until <= o->now)
		return 0;
	return (int)((until - o->now + NS_PER_MS - 1) / NS_PER_MS);
}

static void dispatch(struct origin *o, const struct epoll_event *ev)
{
	if (ev->data.ptr == &o->listen_fd)
		accept_some(o);
	else if (ev->data.ptr == &o->signal_fd)
		stop_begin(o);
	else
		client_event(o, ev->data.ptr, ev->events);
}

static int serve_loop(struct origin *o, struct error *err)
{
	uint64_t next_sweep;

	o->now = clock_mono_ns();
	next_sweep = o->now + SWEEP_NS;
	while (!o->stopping || (o->n_clients && o->now < o->stop_at)) {
		struct epoll_event ev[EVENTS];
		int signalled = -1;
		int n = epoll_wait(o->epfd, ev, EVENTS, wait_ms(o, next_sweep));

		if (n < 0 && errno != EINTR)
			return error_set(
				err, ERR_INTERNAL, "origin: epoll_wait: %s", strerror(errno));
		o->now = clock_mono_ns();
		for (int i = 0; i < n; i++) {
			/* Stopping frees clients: it must come after the events of this batch. */
			if (ev[i].data.ptr == &o->signal_fd)
				signalled = i;
			else
				dispatch(o, &ev[i]);
		}
		if (signalled >= 0)
			dispatch(o, &ev[signalled]);
		for (struct client *c; (c = timer_first(&o->timers)) && c->due_ns <= o->now;)
			client_due(o, c);
		if (o->now >= next_sweep) {
			sweep(o);
			next_sweep = o->now + SWEEP_NS;
		}
	}
	return 0;
}

static int listen_on(struct origin *o, const struct origin_options *opt, struct error *err)
{
	struct loopback a;
	int one = 1;
	char line[32];

	if (loopback_set(&a, opt->host, opt->port, err) < 0)
		return error_context(err, "origin");
	o->listen_fd = socket(a.sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (o->listen_fd < 0)
		return error_set(
			err, ERR_ENVIRONMENT, "origin: cannot make a socket: %s", strerror(errno));
	(void)setsockopt(o->listen_fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(o->listen_fd, &a.sa, a.n) < 0 || listen(o->listen_fd, BACKLOG) < 0 ||
		getsockname(o->listen_fd, &a.sa, &a.n) < 0)
		return error_set(err, ERR_ENVIRONMENT, "origin: cannot listen on %s: %s", a.text,
			strerror(errno));
	if (watch(o, o->listen_fd, &o->listen_fd) < 0)
		return error_set(err, ERR_INTERNAL, "origin: epoll_ctl: %s", strerror(errno));
	o->listening = true;
	snprintf(line, sizeof(line), "port %u\n", loopback_port(&a));
	if (opt->ready_fd >= 0 && file_write_all(opt->ready_fd, line, strlen(line)) < 0)
		return error_set(
			err, ERR_IO, "origin: cannot announce the port: %s", strerror(errno));
	if (opt->ready)
		opt->ready(opt->ready_ctx, loopback_port(&a));
	return 0;
}

static int signals_open(struct origin *o, sigset_t *old, struct error *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	pthread_sigmask(SIG_BLOCK, &set, old);
	o->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (o->signal_fd < 0 || watch(o, o->signal_fd, &o->signal_fd) < 0)
		return error_set(err, ERR_ENVIRONMENT, "origin: signalfd: %s", strerror(errno));
	return 0;
}

static void release(struct origin *o)
{
	while (o->clients)
		client_free(o, o->clients);
	if (o->listen_fd >= 0)
		close(o->listen_fd);
	if (o->signal_fd >= 0)
		close(o->signal_fd);
	if (o->epfd >= 0)
		close(o->epfd);
	free(o->timers.v);
	free(o->rx);
	free(o->table);
	free(o->scratch);
}

int origin_serve(const struct origin_options *opt, struct error *err)
{
	struct origin o = {.listen_fd = -1, .signal_fd = -1};
	sigset_t old;
	int rc;

	o.epfd = epoll_create1(EPOLL_CLOEXEC);
	if (o.epfd < 0)
		return error_set(err, ERR_ENVIRONMENT, "origin: epoll: %s", strerror(errno));
	o.rx = xmalloc(ORIGIN_RX_SIZE);
	o.scratch = xmalloc(ORIGIN_RX_SIZE);
	o.table = xmalloc(ORIGIN_TABLE_SIZE);
	origin_pattern(0, o.table, ORIGIN_TABLE_SIZE);
	rc = signals_open(&o, &old, err);
	if (rc == 0)
		rc = listen_on(&o, opt, err);
	if (rc == 0)
		rc = serve_loop(&o, err);
	release(&o);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}
