#include "origin/origin.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <netinet/tcp.h>
#include <openssl/ssl.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "http/loopback.h"
#include "http/tls.h"
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

static void listener_pause(struct origin *o, struct listener *l)
{
	if (l->watched)
		(void)epoll_ctl(o->epfd, EPOLL_CTL_DEL, l->fd, NULL);
	l->watched = false;
}

static void listener_resume(struct origin *o, struct listener *l)
{
	if (l->fd >= 0 && !l->watched && !o->stopping)
		l->watched = watch(o, l->fd, l) == 0;
}

static void accept_some(struct origin *o, struct listener *l)
{
	for (int i = 0; i < ACCEPTS; i++) {
		int one = 1;
		int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (fd < 0) {
			/* No descriptors or no memory: the sweep tries again. */
			listener_pause(o, l);
			return;
		}
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		(void)client_new(o, fd, l->tls);
	}
}

static bool is_stale(const struct origin *o, const struct client *c)
{
	bool waiting = c->state == CLIENT_HEAD || c->state == CLIENT_HANDSHAKE;

	if (c->x.due_ns || h2_waits(c))
		return false; /* their timers end them */
	if (o->stopping && waiting && c->in.n == 0)
		return true;
	if (waiting && (c->in.n || c->state == CLIENT_HANDSHAKE) &&
		o->now - c->head_ns > ORIGIN_HEAD_NS)
		return true;
	return o->now - c->moved_ns > ORIGIN_IDLE_NS;
}

/* An HTTP/2 connection is told that it ends; it does when its last stream has. So is a WebSocket.
 */
static void tell_stop(struct origin *o, struct client *c)
{
	if (c->state == CLIENT_SOCKET)
		socket_stop(o, c);
	if (!c->h2 || c->state != CLIENT_H2)
		return;
	h2_stop(c);
	h2_event(o, c);
}

static void sweep(struct origin *o)
{
	struct client *next;

	for (struct client *c = o->clients; c; c = next) {
		next = c->next;
		if (o->stopping)
			tell_stop(o, c);
		if (!c->dead && is_stale(o, c))
			client_free(o, c);
	}
	for (int i = 0; i < LISTENERS; i++)
		listener_resume(o, &o->listeners[i]);
}

static void stop_begin(struct origin *o)
{
	struct signalfd_siginfo si;

	(void)!read(o->signal_fd, &si, sizeof(si));
	if (o->stopping)
		return;
	for (int i = 0; i < LISTENERS; i++)
		listener_pause(o, &o->listeners[i]);
	o->stopping = true;
	o->stop_at = o->now + STOP_NS;
	sweep(o);
}

static int wait_ms(const struct origin *o, uint64_t next_sweep)
{
	const struct exchange *x = timer_first(&o->timers);
	uint64_t until = next_sweep;

	if (x && x->due_ns < until)
		until = x->due_ns;
	if (o->stopping && o->stop_at < until)
		until = o->stop_at;
	if (until <= o->now)
		return 0;
	return (int)((until - o->now + NS_PER_MS - 1) / NS_PER_MS);
}

static void dispatch(struct origin *o, const struct epoll_event *ev)
{
	for (int i = 0; i < LISTENERS; i++) {
		if (ev->data.ptr != &o->listeners[i])
			continue;
		accept_some(o, &o->listeners[i]);
		return;
	}
	client_event(o, ev->data.ptr, ev->events);
}

static int serve_loop(struct origin *o, struct error *err)
{
	uint64_t next_sweep;

	o->now = clock_mono_ns();
	next_sweep = o->now + SWEEP_NS;
	while (!o->stopping || (o->n_clients && o->now < o->stop_at)) {
		struct epoll_event ev[EVENTS];
		bool signalled = false;
		int n = epoll_wait(o->epfd, ev, EVENTS, wait_ms(o, next_sweep));

		if (n < 0 && errno != EINTR)
			return error_set(
				err, ERR_INTERNAL, "origin: epoll_wait: %s", strerror(errno));
		o->now = clock_mono_ns();
		for (int i = 0; i < n; i++) {
			if (ev[i].data.ptr == &o->signal_fd)
				signalled = true;
			else
				dispatch(o, &ev[i]);
		}
		if (signalled)
			stop_begin(o);
		for (struct exchange *x; (x = timer_first(&o->timers)) && x->due_ns <= o->now;)
			exchange_due(o, x);
		if (o->now >= next_sweep) {
			sweep(o);
			next_sweep = o->now + SWEEP_NS;
		}
		clients_reap(o);
	}
	return 0;
}

/* A socket at the port (0: any), of which *port is then the number. */
static int bound_socket(const char *host, int *port, bool reuse, struct error *err)
{
	struct loopback a;
	int one = 1, fd;

	if (loopback_set(&a, host, (uint16_t)*port, err) < 0)
		return error_context(err, "origin");
	fd = socket(a.sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error_set(
			err, ERR_ENVIRONMENT, "origin: cannot make a socket: %s", strerror(errno));
	if (reuse)
		(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, &a.sa, a.n) < 0 || getsockname(fd, &a.sa, &a.n) < 0) {
		error_set(err, ERR_ENVIRONMENT, "origin: cannot have the address %s: %s", a.text,
			strerror(errno));
		close(fd);
		return -1;
	}
	*port = loopback_port(&a);
	return fd;
}

static int listen_on(
	struct origin *o, struct listener *l, const char *host, int *port, struct error *err)
{
	l->fd = bound_socket(host, port, true, err);
	if (l->fd < 0)
		return -1;
	if (listen(l->fd, BACKLOG) < 0)
		return error_set(err, ERR_ENVIRONMENT, "origin: cannot listen on port %d: %s",
			*port, strerror(errno));
	if (watch(o, l->fd, l) < 0)
		return error_set(err, ERR_INTERNAL, "origin: epoll_ctl: %s", strerror(errno));
	l->watched = true;
	return 0;
}

/* Certificates of the folder, or new ones. */
static SSL_CTX *tls_context(const struct origin_options *opt, struct error *err)
{
	const char *kind = opt->key ? opt->key : "ecdsa";
	struct tls_server_options t = {.alpn = TLS_ALPN_BOTH, .resume = !opt->no_resume};
	auto_free char *crt = NULL, *key = NULL;
	struct certs made = {NULL, NULL, NULL};
	SSL_CTX *ctx;

	if (opt->certs) {
		crt = xasprintf("%s/%s.crt", opt->certs, kind);
		key = xasprintf("%s/%s.key", opt->certs, kind);
		t.cert_file = crt;
		t.key_file = key;
		if (certs_write(opt->certs, kind, err) < 0)
			return NULL;
		return tls_server_context(&t, err);
	}
	if (certs_make(kind, &made, err) < 0)
		return NULL;
	t.certs = &made;
	ctx = tls_server_context(&t, err);
	certs_release(&made);
	return ctx;
}

static int announce(
	const struct origin_options *opt, const struct origin_ports *p, struct error *err)
{
	auto_free char *line = xasprintf("ports %d %d %d\n", p->http, p->tls, p->dead);

	if (opt->ready_fd >= 0 && file_write_all(opt->ready_fd, line, strlen(line)) < 0)
		return error_set(
			err, ERR_IO, "origin: cannot announce the port: %s", strerror(errno));
	if (opt->ready)
		opt->ready(opt->ready_ctx, p);
	return 0;
}

static int open_ports(struct origin *o, const struct origin_options *opt, struct error *err)
{
	struct origin_ports p = opt->ports;

	if (listen_on(o, &o->listeners[0], opt->host, &p.http, err) < 0)
		return -1;
	if (p.tls != ORIGIN_NO_PORT) {
		o->listeners[1].tls = tls_context(opt, err);
		if (!o->listeners[1].tls)
			return error_context(err, "origin");
		if (listen_on(o, &o->listeners[1], opt->host, &p.tls, err) < 0)
			return -1;
	}
	if (p.dead != ORIGIN_NO_PORT) {
		/* Bound, so that nobody else gets it, and not listening, so that the kernel
		 * refuses. With SO_REUSEADDR another program could bind it, too. */
		o->dead_fd = bound_socket(opt->host, &p.dead, false, err);
		if (o->dead_fd < 0)
			return -1;
	}
	return announce(opt, &p, err);
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

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static void release(struct origin *o)
{
	while (o->clients)
		client_free(o, o->clients);
	clients_reap(o);
	for (int i = 0; i < LISTENERS; i++) {
		close_fd(o->listeners[i].fd);
		SSL_CTX_free(o->listeners[i].tls);
	}
	close_fd(o->dead_fd);
	close_fd(o->signal_fd);
	close_fd(o->epfd);
	free(o->timers.v);
	free(o->rx);
	free(o->table);
	free(o->scratch);
	buf_release(&o->frames);
}

int origin_serve(const struct origin_options *opt, struct error *err)
{
	struct origin o = {.signal_fd = -1, .dead_fd = -1, .listeners = {{.fd = -1}, {.fd = -1}}};
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
		rc = open_ports(&o, opt, err);
	if (rc == 0)
		rc = serve_loop(&o, err);
	release(&o);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc;
}
