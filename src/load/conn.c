/* One connection: open it, hand on what is received, find out why it ended. */
#include "load/driver.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/clock.h"

static void fatal(struct load *l, const char *what)
{
	if (!l->failed)
		error_set(l->fatal, ERR_ENVIRONMENT, "load on %s: %s: %s%s", l->addr.text, what,
			strerror(errno),
			errno == EMFILE ? "; raise the limit of open files (ulimit -n)" : "");
	l->failed = true;
}

static void watch(struct load *l, struct conn *c, int op, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.ptr = c};

	c->events = events;
	if (epoll_ctl(l->epfd, op, c->t.fd, &ev) < 0)
		fatal(l, "cannot watch a socket");
}

void conn_interest(struct load *l, struct conn *c, bool out)
{
	uint32_t events = out ? EPOLLIN | EPOLLOUT : EPOLLIN;

	if (c->events != events)
		watch(l, c, EPOLL_CTL_MOD, events);
}

void conn_close(struct load *l, struct conn *c, bool gentle)
{
	if (c->h2)
		load_h2_close(l, c, gentle);
	if (c->ws)
		load_ws_close(c);
	transport_close(&c->t, gentle);
	c->state = CONN_CLOSED;
	c->last = c->left = false;
	c->active = 0;
	c->taken = c->served = c->bytes_in = c->bytes_out = 0;
	buf_clear(&c->part);
}

/* The oldest request that waits for a connection: a server that takes few of each comes to all. */
static struct exchange *waiting(const struct load *l, const struct conn *c)
{
	struct exchange *first = NULL;

	for (uint32_t i = 0; i < l->streams; i++) {
		struct exchange *x = &c->x[i];

		if (x->state == EXCHANGE_WAITING && (!first || x->seq < first->seq))
			first = x;
	}
	return first;
}

/* ---- Opening -------------------------------------------------------------------------------- */

static void begin(struct load *l, struct exchange *x)
{
	struct conn *c = x->c;

	c->active++;
	c->taken++;
	c->last = l->plan.reuse && c->taken >= l->plan.reuse;
	x->state = EXCHANGE_HEAD;
	if (l->h2)
		load_h2_begin(l, x);
	else
		load_h1_begin(l, x);
}

static void opened(struct load *l, struct conn *c)
{
	struct exchange *x;

	c->state = CONN_OPEN;
	c->moved_ns = l->now;
	l->resumed += transport_resumed(&c->t);
	if (l->h2 && load_h2_open(l, c) < 0) {
		fatal(l, "cannot begin with HTTP/2");
		return;
	}
	while (!c->last && (x = waiting(l, c)))
		begin(l, x);
	conn_flush(l, c);
}

static void cannot_open(struct load *l, struct conn *c, const char *what, const char *why)
{
	struct exchange *x = waiting(l, c);

	if (x)
		load_problem(l, x, "cannot %s %s: %s", what, l->addr.text, why);
	else
		conn_close(l, c, false);
}

static void cannot_connect(struct load *l, struct conn *c, int e)
{
	auto_buf struct buf b = BUF_INIT;

	buf_addf(&b, "%s%s", strerror(e),
		e == EADDRNOTAVAIL ? "; new connections used up all local ports" : "");
	cannot_open(l, c, "connect to", buf_str(&b));
}

static void receive(struct load *l, struct conn *c);

static void handshake(struct load *l, struct conn *c)
{
	char why[TRANSPORT_WHY];
	int r = transport_tls_step(&c->t, l->h2 ? TLS_ALPN_H2 : TLS_ALPN_H1, why);

	c->moved_ns = l->now;
	if (r < 0) {
		cannot_open(l, c, "begin with TLS on", why);
		return;
	}
	conn_interest(l, c, c->t.want_out);
	if (r == 0)
		return;
	opened(l, c);
	/* What came together with the end of the handshake raises no event. */
	if (c->state == CONN_OPEN && !l->problem && transport_holds(&c->t))
		receive(l, c);
}

static void connected(struct load *l, struct conn *c)
{
	if (!l->tls) {
		opened(l, c);
		return;
	}
	c->state = CONN_HANDSHAKE;
	if (transport_tls_begin(&c->t, l->tls, l->failed ? NULL : l->fatal) < 0)
		l->failed = true;
	else
		handshake(l, c);
}

static void conn_open(struct load *l, struct conn *c)
{
	int r = transport_connect(&c->t, &l->addr);

	if (c->t.fd < 0) {
		fatal(l, "cannot make a socket");
		return;
	}
	c->state = CONN_CONNECTING;
	c->moved_ns = l->now;
	l->connects++;
	if (r < 0) {
		cannot_connect(l, c, errno);
		return;
	}
	watch(l, c, EPOLL_CTL_ADD, r ? EPOLLIN | EPOLLOUT : EPOLLIN);
	if (r == 0 && !l->failed)
		connected(l, c);
}

void conn_request(struct load *l, struct exchange *x)
{
	struct conn *c = x->c;

	x->state = EXCHANGE_WAITING;
	x->out_off = 0;
	x->answer_n = x->got = 0;
	x->interim = 0;
	if (c->state == CONN_CLOSED)
		conn_open(l, c);
	else if (c->state == CONN_OPEN && !c->last)
		begin(l, x);
}

/* ---- Ending --------------------------------------------------------------------------------- */

/* What a connection carries no more goes to its successor. */
static void reopen(struct load *l, struct conn *c, bool gentle)
{
	conn_close(l, c, gentle);
	if (!l->problem && !l->failed && waiting(l, c))
		conn_open(l, c);
}

static void settle(struct load *l, struct conn *c)
{
	if (c->state == CONN_OPEN && c->last && c->active == 0 && !l->problem)
		reopen(l, c, true);
}

static void lost_exchange(struct load *l, struct exchange *x, const char *how)
{
	if (exchange_again(l, x, false))
		return;
	if (x->state == EXCHANGE_SOCKET)
		load_ws_lost(l, x, how);
	else if (x->state == EXCHANGE_HEAD && x->answer_n == 0)
		load_problem(l, x, "expected an answer, got none: %s (after %llu answers on it)",
			how, (unsigned long long)x->c->served);
	else if (x->state == EXCHANGE_HEAD)
		load_problem(l, x, "expected a whole answer, got %llu bytes of its head: %s",
			(unsigned long long)x->answer_n, how);
	else if (x->has_length)
		load_problem(l, x, "expected a body of %llu bytes, got %llu: %s",
			(unsigned long long)x->length, (unsigned long long)x->got, how);
	else
		load_problem(l, x, "expected a whole body, got %llu bytes: %s",
			(unsigned long long)x->got, how);
}

void conn_lost(struct load *l, struct conn *c, const char *how)
{
	/* A TLS session of a connection that ended without a good-bye is not resumed. */
	bool idle = c->active == 0;

	c->last = true; /* nothing more goes to it */
	if (c->state == CONN_CONNECTING) {
		cannot_open(l, c, "connect to", how);
		return;
	}
	for (uint32_t i = 0; i < l->streams && !l->problem; i++) {
		if (c->x[i].state >= EXCHANGE_HEAD)
			lost_exchange(l, &c->x[i], how);
	}
	if (!l->problem)
		reopen(l, c, idle);
}

/* ---- Events --------------------------------------------------------------------------------- */

void conn_flush(struct load *l, struct conn *c)
{
	if (c->busy)
		return; /* whoever made it busy flushes it */
	if (c->state == CONN_OPEN && c->h2 && !l->problem)
		load_h2_send(l, c);
	settle(l, c);
}

/* What the server said in its GOAWAY tells more than how the connection ended then. */
static void lost(struct load *l, struct conn *c, const char *how)
{
	const char *farewell = c->h2 ? load_h2_farewell(c) : "";

	if (c->ws && load_ws_over(l, c)) {
		settle(l, c);
		return;
	}
	conn_lost(l, c, *farewell ? farewell : how);
}

static void ended(struct load *l, struct conn *c)
{
	if (c->h2 || !load_h1_eof(l, c))
		lost(l, c, "the server closed the connection");
	else
		settle(l, c);
}

static void receive(struct load *l, struct conn *c)
{
	char why[TRANSPORT_WHY];
	ssize_t r;

	do {
		r = transport_read(&c->t, l->rx, LOAD_RX_SIZE, why);
		if (r > 0) {
			c->bytes_in += (uint64_t)r;
			c->moved_ns = l->now;
			if (c->h2)
				load_h2_received(l, c, l->rx, (size_t)r);
			else
				load_h1_received(l, c, l->rx, (size_t)r);
		} else if (r == TRANSPORT_EOF) {
			ended(l, c);
			return;
		} else if (r == TRANSPORT_LOST) {
			lost(l, c, why);
			return;
		}
	} while (r > 0 && !l->problem && c->state == CONN_OPEN && transport_holds(&c->t) &&
		 !c->left);
	if (c->state == CONN_OPEN)
		conn_flush(l, c);
}

void conn_event(struct load *l, struct conn *c, uint32_t events)
{
	if (c->state == CONN_CLOSED)
		return; /* closed by an earlier event of the same batch */
	if (c->state == CONN_CONNECTING) {
		int e = transport_connected(&c->t);

		if (e)
			cannot_connect(l, c, e);
		else if (events & (EPOLLOUT | EPOLLIN)) {
			conn_interest(l, c, false);
			connected(l, c);
		}
		return;
	}
	if (c->state == CONN_HANDSHAKE) {
		handshake(l, c);
		return;
	}
	if (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) {
		receive(l, c);
		return; /* level-triggered: a wish to send comes again */
	}
	if (!(events & EPOLLOUT))
		return;
	if (c->h2)
		conn_flush(l, c);
	else if (c->ws)
		load_ws_send(l, c);
	else
		load_h1_send(l, c);
}
