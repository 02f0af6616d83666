/* One connection: requests in, answers out, in order. */
#include "origin/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"

#define LINGER_MAX ((uint64_t)32 << 20)

struct client *client_new(struct origin *o, int fd)
{
	struct client *c = xcalloc(1, sizeof(*c));
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = c};

	c->fd = fd;
	c->events = EPOLLIN;
	c->moved_ns = c->head_ns = o->now;
	http_request_begin(&c->head);
	if (epoll_ctl(o->epfd, EPOLL_CTL_ADD, fd, &ev) < 0) {
		free(c);
		close(fd);
		return NULL;
	}
	c->next = o->clients;
	if (c->next)
		c->next->prev = c;
	o->clients = c;
	o->n_clients++;
	return c;
}

static void drop_kept(struct origin *o, struct client *c)
{
	if (c->echo)
		o->echo_bytes -= c->kept.n;
	c->echo = false;
	if (c->kept.cap > 65536)
		buf_release(&c->kept);
	else
		buf_clear(&c->kept);
}

void client_free(struct origin *o, struct client *c)
{
	timer_clear(&o->timers, c);
	drop_kept(o, c);
	close(c->fd);
	if (c->prev)
		c->prev->next = c->next;
	else
		o->clients = c->next;
	if (c->next)
		c->next->prev = c->prev;
	o->n_clients--;
	buf_release(&c->in);
	buf_release(&c->out);
	buf_release(&c->kept);
	free(c);
}

/* Returns false when the client is gone. */
static bool want(struct origin *o, struct client *c, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.ptr = c};

	if (c->events == events)
		return true;
	c->events = events;
	if (epoll_ctl(o->epfd, EPOLL_CTL_MOD, c->fd, &ev) == 0)
		return true;
	client_free(o, c);
	return false;
}

/* A close with unread bytes would become a reset that may overtake the answer: the own side is
 * shut first, and what still comes is read away for a while. */
static void linger(struct origin *o, struct client *c)
{
	if (shutdown(c->fd, SHUT_WR) < 0) {
		client_free(o, c);
		return;
	}
	c->state = CLIENT_LINGER;
	timer_set(&o->timers, c, o->now + ORIGIN_LINGER_NS);
	(void)want(o, c, EPOLLIN);
}

/* No answer at all. */
static void drop_connection(struct origin *o, struct client *c)
{
	struct linger now = {.l_onoff = 1, .l_linger = 0};

	if (c->answer.reset)
		(void)setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	client_free(o, c);
}

/* Sends on; true when the answer is complete and the connection takes the next request. */
static bool send_on(struct origin *o, struct client *c)
{
	int r = answer_send(o, c);

	if (r < 0) {
		client_free(o, c);
		return false;
	}
	if (r == 0) {
		(void)want(o, c, c->due_ns ? 0 : EPOLLOUT);
		return false;
	}
	if (c->answer.cut || o->stopping) {
		client_free(o, c);
		return false;
	}
	drop_kept(o, c);
	if (!c->keep) {
		linger(o, c);
		return false;
	}
	c->state = CLIENT_HEAD;
	c->head_ns = o->now;
	http_request_begin(&c->head);
	return want(o, c, EPOLLIN);
}

/* The request is complete. Returns true when the answer is too, and the connection goes on. */
static bool answer_start(struct origin *o, struct client *c)
{
	answer_finish(c);
	if (c->delay_ns) {
		c->state = CLIENT_DELAY;
		timer_set(&o->timers, c, o->now + c->delay_ns);
		(void)want(o, c, 0);
		return false;
	}
	if (c->answer.reset || c->answer.silent) {
		drop_connection(o, c);
		return false;
	}
	c->state = CLIENT_SEND;
	return send_on(o, c);
}

/* The client may be gone afterwards. */
static void refuse(struct origin *o, struct client *c, int status, const char *why)
{
	drop_kept(o, c);
	buf_clear(&c->out);
	c->out_off = 0;
	answer_error(c, status, why);
	c->state = CLIENT_SEND;
	(void)send_on(o, c);
}

/* Keeps a piece of the request's body where the route wants it. Returns a status, or 0. */
static int keep_piece(struct origin *o, struct client *c, struct http_piece piece)
{
	if (c->body.got > ORIGIN_BODY_MAX)
		return 413;
	if (!c->echo || piece.n == 0)
		return 0;
	if (o->echo_bytes + piece.n > ORIGIN_ECHO_MAX)
		return 503;
	buf_add(&c->kept, piece.p, piece.n);
	o->echo_bytes += piece.n;
	return 0;
}

/* A piece of the request's body. Returns HTTP_BAD when the client was refused (and may be gone). */
static enum http_progress take_body(
	struct origin *o, struct client *c, const char *p, size_t n, size_t *off)
{
	for (;;) {
		struct http_piece piece;
		size_t used;
		enum http_progress r = http_body_feed(&c->body, p + *off, n - *off, &used, &piece);
		int status = r == HTTP_BAD ? 400 : keep_piece(o, c, piece);

		*off += used;
		if (status) {
			refuse(o, c, status,
				r == HTTP_BAD ? c->body.problem : "there is no room for the body");
			return HTTP_BAD;
		}
		if (r == HTTP_DONE || *off == n)
			return r;
	}
}

/* "100 Continue" goes out at once; what does not fit into the socket goes out with the answer. */
static void send_interim(struct client *c)
{
	ssize_t r;

	buf_adds(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
	r = send(c->fd, c->out.p, c->out.n, MSG_NOSIGNAL);
	if (r > 0)
		c->out_off = (size_t)r;
	if (c->out_off == c->out.n) {
		buf_clear(&c->out);
		c->out_off = 0;
	}
}

/* The head of a request at p. */
static enum http_progress take_head(struct origin *o, struct client *c, const char *p, size_t n)
{
	enum http_progress r = http_head_parse(&c->head, p, n);
	struct route route;

	if (r == HTTP_BAD)
		refuse(o, c, c->head.problem_status, c->head.problem);
	if (r != HTTP_DONE)
		return r;
	if (c->head.has_length && c->head.length > ORIGIN_BODY_MAX) {
		refuse(o, c, 413, "the body is too large");
		return HTTP_BAD;
	}
	route = route_parse(p + c->head.target.off, c->head.target.n);
	c->keep = c->head.keep && !o->stopping;
	c->echo = route.kind == ROUTE_ECHO;
	c->delay_ns = route.delay_ms * NS_PER_MS;
	c->state = CLIENT_BODY;
	http_request_body(&c->body, &c->head);
	if (c->head.expect_continue && c->head.minor == 1 && c->body.kind != HTTP_BODY_NONE)
		send_interim(c);
	answer_begin(c, &route, p);
	return HTTP_DONE;
}

/* Keeps the bytes that are not used yet; they may lie in c->in already. */
static void keep_rest(struct client *c, const char *p, size_t n)
{
	if (n == 0)
		buf_clear(&c->in);
	else if (c->in.n == 0)
		buf_add(&c->in, p, n);
	else if (p != c->in.p)
		memmove(c->in.p, p, n);
	if (n)
		c->in.n = n;
}

/* Takes requests from the n bytes at p, as many as are there. p is the receive buffer, then c->in
 * is empty, or it is c->in. The client may be gone afterwards. */
static void take_requests(struct origin *o, struct client *c, const char *p, size_t n)
{
	do {
		enum http_progress r = HTTP_DONE;
		size_t off = 0;

		if (c->state == CLIENT_HEAD) {
			r = take_head(o, c, p, n);
			off = r == HTTP_DONE ? c->head.size : 0;
		}
		if (r == HTTP_DONE)
			r = take_body(o, c, p, n, &off);
		if (r == HTTP_BAD)
			return;
		keep_rest(c, p + off, n - off);
		if (r == HTTP_MORE || !answer_start(o, c))
			return;
		p = c->in.p;
		n = c->in.n;
	} while (n);
}

static void client_receive(struct origin *o, struct client *c)
{
	ssize_t r;

	do {
		r = recv(c->fd, o->rx, ORIGIN_RX_SIZE, 0);
	} while (r < 0 && errno == EINTR);
	if (r < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return;
	if (r <= 0) {
		client_free(o, c);
		return;
	}
	c->moved_ns = o->now;
	if (c->state == CLIENT_LINGER) {
		c->lingered += (uint64_t)r;
		if (c->lingered > LINGER_MAX)
			client_free(o, c);
		return;
	}
	if (c->in.n == 0) {
		take_requests(o, c, o->rx, (size_t)r);
		return;
	}
	buf_add(&c->in, o->rx, (size_t)r);
	take_requests(o, c, c->in.p, c->in.n);
}

static void resume(struct origin *o, struct client *c)
{
	if (send_on(o, c) && c->in.n)
		take_requests(o, c, c->in.p, c->in.n);
}

void client_event(struct origin *o, struct client *c, uint32_t events)
{
	if (events & (EPOLLERR | EPOLLHUP))
		client_free(o, c);
	else if (c->state == CLIENT_SEND)
		resume(o, c);
	else if (c->state != CLIENT_DELAY && (events & EPOLLIN))
		client_receive(o, c);
}

void client_due(struct origin *o, struct client *c)
{
	timer_clear(&o->timers, c);
	if (c->state == CLIENT_LINGER) {
		client_free(o, c);
		return;
	}
	if (c->state == CLIENT_DELAY && (c->answer.reset || c->answer.silent)) {
		drop_connection(o, c);
		return;
	}
	c->state = CLIENT_SEND;
	resume(o, c);
}
