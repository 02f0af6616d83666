/* One connection: open, send, receive, hand on to the next request. */
#include "load/driver.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"

static void request_begin(struct load *l, struct conn *c);

void conn_close(struct conn *c)
{
	if (c->fd >= 0)
		close(c->fd); /* leaves the epoll set by itself */
	c->fd = -1;
	c->state = CONN_CLOSED;
	c->want_out = false;
	c->served = c->bytes_in = c->bytes_out = 0;
	buf_clear(&c->part);
}

static void fatal(struct load *l, const char *what)
{
	if (!l->failed)
		error_set(l->fatal, ERR_ENVIRONMENT, "load on %s: %s: %s%s", l->addr.text, what,
			strerror(errno),
			errno == EMFILE ? "; raise the limit of open files (ulimit -n)" : "");
	l->failed = true;
}

static void interest(struct load *l, struct conn *c, bool out, int op)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = c};

	if (op == EPOLL_CTL_MOD && c->want_out == out)
		return;
	if (out)
		ev.events |= EPOLLOUT;
	c->want_out = out;
	if (epoll_ctl(l->epfd, op, c->fd, &ev) < 0)
		fatal(l, "cannot watch a socket");
}

/* The connection ended under a request. Sent once more when the server cannot have begun with it
 * as far as HTTP can tell: a kept connection, no byte of an answer, an idempotent method. */
static void lost(struct load *l, struct conn *c, int e)
{
	const char *how = e ? strerror(e) : "the server closed the connection";

	if (c->state == CONN_IDLE) {
		conn_close(c);
		return;
	}
	if (c->state == CONN_CONNECTING) {
		load_problem(l, c, "cannot connect to %s: %s%s", l->addr.text, how,
			e == EADDRNOTAVAIL ? "; new connections used up all local ports" : "");
		return;
	}
	if (c->state == CONN_HEAD && c->answer_n == 0) {
		if (c->served > 0 && !c->retried && l->classes[c->class].idempotent) {
			conn_close(c);
			c->retried = true;
			l->retries++;
			request_begin(l, c);
			return;
		}
		load_problem(l, c, "expected an answer, got none: %s (after %llu answers on it)",
			how, (unsigned long long)c->served);
		return;
	}
	if (c->state == CONN_HEAD) {
		load_problem(l, c, "expected a whole answer, got %llu bytes of its head: %s",
			(unsigned long long)c->answer_n, how);
		return;
	}
	if (c->body.kind == HTTP_BODY_LENGTH)
		load_problem(l, c, "expected a body of %llu bytes, got %llu: %s",
			(unsigned long long)c->head.length, (unsigned long long)c->body.got, how);
	else
		load_problem(l, c, "expected a whole body, got %llu bytes: %s",
			(unsigned long long)c->body.got, how);
}

static void conn_send(struct load *l, struct conn *c)
{
	const struct request_bytes *q = conn_request(l, c);

	while (c->out_off < q->n) {
		ssize_t r = send(c->fd, q->p + c->out_off, q->n - c->out_off, MSG_NOSIGNAL);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
			interest(l, c, true, EPOLL_CTL_MOD);
			return;
		}
		if (r < 0) {
			/* An early answer (413, say) may still be there to read: it decides. */
			interest(l, c, false, EPOLL_CTL_MOD);
			return;
		}
		c->out_off += (size_t)r;
		c->bytes_out += (uint64_t)r;
		c->moved_ns = l->now;
	}
	if (c->want_out)
		interest(l, c, false, EPOLL_CTL_MOD);
}

static void conn_open(struct load *l, struct conn *c)
{
	int one = 1;

	c->fd = socket(l->addr.sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd < 0) {
		fatal(l, "cannot make a socket");
		return;
	}
	(void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	c->state = CONN_CONNECTING;
	l->connects++;
	if (connect(c->fd, &l->addr.sa, l->addr.n) == 0) {
		c->state = CONN_HEAD;
		interest(l, c, false, EPOLL_CTL_ADD);
	} else if (errno == EINPROGRESS) {
		interest(l, c, true, EPOLL_CTL_ADD);
	} else {
		lost(l, c, errno);
	}
}

/* Sends the request c->class, on a new connection when there is none. */
static void request_begin(struct load *l, struct conn *c)
{
	c->last = l->plan.reuse && c->served + 1 >= l->plan.reuse;
	c->out_off = 0;
	c->answer_n = 0;
	c->interim = 0;
	c->moved_ns = l->now;
	http_response_begin(&c->head);
	if (c->fd < 0)
		conn_open(l, c);
	else
		c->state = CONN_HEAD;
	if (c->state == CONN_HEAD && !l->failed)
		conn_send(l, c);
}

void conn_next(struct load *l, struct conn *c)
{
	if (l->order.total_left == 0 || l->problem || l->failed)
		return;
	c->class = (uint32_t)order_next(&l->order);
	c->seq = l->slice_requests - l->order.total_left;
	c->retried = false;
	c->started_ns = l->now;
	l->under_way++;
	request_begin(l, c);
}

static void answer_done(struct load *l, struct conn *c)
{
	bool keep = c->head.keep && c->body.kind != HTTP_BODY_UNTIL_CLOSE && !c->last &&
		    c->out_off == conn_request(l, c)->n;

	if (!answer_end_ok(l, c))
		return;
	l->now = clock_mono_ns();
	histogram_add(&l->latency, l->now - c->started_ns);
	l->by_class[c->class]++;
	l->answered++;
	l->under_way--;
	c->served++;
	c->state = CONN_IDLE;
	if (!keep)
		conn_close(c);
	conn_next(l, c);
}

/* The head of an answer; gives the bytes used, or 0 when the answer is not to be read on. */
static size_t feed_head(struct load *l, struct conn *c, const char *p, size_t n)
{
	enum http_progress r = http_head_parse(&c->head, p, n);

	if (r == HTTP_BAD) {
		auto_buf struct buf b = BUF_INIT;
		size_t at = c->head.problem_at < n ? c->head.problem_at : n;

		load_quote(&b, p + at, n - at, 80);
		load_problem(l, c, "expected an HTTP/1.1 answer, but %s: %s", c->head.problem,
			buf_str(&b));
		return 0;
	}
	if (r == HTTP_MORE)
		return 0;
	if (c->head.status < 200) {
		size_t size = c->head.size;

		if (c->head.status == 101 || ++c->interim > LOAD_INTERIM_MAX) {
			load_problem(l, c, "expected status %d, got %s",
				l->classes[c->class].status,
				c->head.status == 101 ? "101" : "too many interim answers");
			return 0;
		}
		http_response_begin(&c->head);
		return size;
	}
	if (!answer_head_ok(l, c, p, n))
		return 0;
	http_response_body(&c->body, &c->head, l->classes[c->class].head);
	c->state = CONN_BODY;
	return c->head.size;
}

/* Bytes of the body; true when the answer is complete, *off is moved over what was used. */
static bool feed_body(struct load *l, struct conn *c, const char *p, size_t n, size_t *off)
{
	for (;;) {
		struct http_piece piece;
		size_t used;
		enum http_progress r = http_body_feed(&c->body, p + *off, n - *off, &used, &piece);

		*off += used;
		if (piece.n && !answer_piece_ok(l, c, piece))
			return false;
		if (r == HTTP_BAD) {
			load_problem(l, c,
				"expected a body in chunks, but %s (after %llu bytes of it)",
				c->body.problem, (unsigned long long)c->body.got);
			return false;
		}
		if (r == HTTP_DONE)
			return true;
		if (*off == n)
			return false;
	}
}

static void surplus(struct load *l, const struct conn *c, const char *p, size_t n)
{
	auto_buf struct buf b = BUF_INIT;

	load_quote(&b, p, n, 80);
	load_problem(l, c, "expected the answer to end after its body, got %zu more bytes: %s", n,
		buf_str(&b));
}

static void feed_answer(struct load *l, struct conn *c, const char *p, size_t n)
{
	size_t off = 0;

	while (c->state == CONN_HEAD && off < n) {
		size_t used = feed_head(l, c, p + off, n - off);

		if (used == 0) {
			/* More is needed: what there is moves to the connection's own buffer. */
			if (!l->problem && p != c->part.p)
				buf_add(&c->part, p + off, n - off);
			else if (!l->problem && off) {
				memmove(c->part.p, p + off, n - off);
				c->part.n = n - off;
			}
			return;
		}
		off += used;
	}
	if (c->state == CONN_BODY && feed_body(l, c, p, n, &off)) {
		if (off < n) {
			surplus(l, c, p + off, n - off);
			return;
		}
		buf_clear(&c->part);
		answer_done(l, c);
		return;
	}
	buf_clear(&c->part);
}

static void received(struct load *l, struct conn *c, const char *p, size_t n)
{
	c->bytes_in += n;
	c->moved_ns = l->now;
	if (c->state == CONN_IDLE) {
		surplus(l, c, p, n);
		return;
	}
	c->answer_n += n;
	if (c->part.n) {
		buf_add(&c->part, p, n);
		feed_answer(l, c, c->part.p, c->part.n);
	} else {
		feed_answer(l, c, p, n);
	}
}

static void conn_eof(struct load *l, struct conn *c)
{
	if (c->state == CONN_BODY && c->body.kind == HTTP_BODY_UNTIL_CLOSE)
		answer_done(l, c);
	else
		lost(l, c, 0);
}

static void conn_receive(struct load *l, struct conn *c)
{
	ssize_t r;

	do {
		r = recv(c->fd, l->rx, LOAD_RX_SIZE, 0);
	} while (r < 0 && errno == EINTR);
	if (r > 0)
		received(l, c, l->rx, (size_t)r);
	else if (r == 0)
		conn_eof(l, c);
	else if (errno != EAGAIN && errno != EWOULDBLOCK)
		lost(l, c, errno);
}

void conn_event(struct load *l, struct conn *c, uint32_t events)
{
	if (c->fd < 0)
		return; /* closed by an earlier event of the same batch */
	if (c->state == CONN_CONNECTING) {
		int e = 0;
		socklen_t n = sizeof(e);

		if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &e, &n) < 0)
			e = errno;
		if (e) {
			lost(l, c, e);
			return;
		}
		if (!(events & (EPOLLOUT | EPOLLIN)))
			return;
		c->state = CONN_HEAD;
		conn_send(l, c);
		return;
	}
	if (events & (EPOLLIN | EPOLLERR | EPOLLHUP)) {
		conn_receive(l, c);
		return; /* level-triggered: a wish to send comes again */
	}
	if (events & EPOLLOUT)
		conn_send(l, c);
}
