/* One connection: requests in, answers out, in order; HTTP/2 goes on in h2.c. */
#include "origin/server.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/ssl.h>

#include "base/clock.h"
#include "base/mem.h"
#include "http/tls.h"

#define LINGER_MAX ((uint64_t)32 << 20)
#define READS_MAX 16 /* in a row, before the others have their turn */

struct client *client_new(struct origin *o, int fd, SSL_CTX *tls)
{
	struct client *c = xcalloc(1, sizeof(*c));
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = c};

	c->fd = fd;
	c->x.client = c;
	c->events = EPOLLIN;
	c->moved_ns = c->head_ns = o->now;
	c->state = tls ? CLIENT_HANDSHAKE : CLIENT_HEAD;
	c->ssl = tls ? tls_accept_new(tls, fd, NULL) : NULL;
	http_request_begin(&c->head);
	if ((tls && !c->ssl) || epoll_ctl(o->epfd, EPOLL_CTL_ADD, fd, &ev) < 0) {
		SSL_free(c->ssl);
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

void client_free(struct origin *o, struct client *c)
{
	if (c->dead)
		return;
	c->dead = true;
	h2_free(o, c);
	socket_free(c);
	exchange_release(o, &c->x);
	tls_free(c->ssl);
	c->ssl = NULL;
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
	c->next = o->dead;
	o->dead = c;
}

void clients_reap(struct origin *o)
{
	while (o->dead) {
		struct client *c = o->dead;

		o->dead = c->next;
		free(c);
	}
}

bool client_want(struct origin *o, struct client *c, uint32_t events)
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
void client_linger(struct origin *o, struct client *c)
{
	transport_end(c);
	if (shutdown(c->fd, SHUT_WR) < 0) {
		client_free(o, c);
		return;
	}
	c->state = CLIENT_LINGER;
	timer_set(&o->timers, &c->x, o->now + ORIGIN_LINGER_NS);
	(void)client_want(o, c, EPOLLIN);
}

void client_reset(struct origin *o, struct client *c)
{
	struct linger now = {.l_onoff = 1, .l_linger = 0};

	(void)setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	client_free(o, c);
}

/* The answer ends otherwise than answers do. */
void client_end_badly(struct origin *o, struct client *c)
{
	switch (c->x.answer.after) {
	case AFTER_STALL:
		/* Only to learn that the client has enough of it. */
		c->state = CLIENT_STALL;
		timer_set(&o->timers, &c->x, o->now + ORIGIN_STALL_NS);
		(void)client_want(o, c, EPOLLRDHUP);
		return;
	case AFTER_ALERT:
		if (c->ssl) {
			transport_alert(c);
			client_free(o, c);
			return;
		}
		client_reset(o, c);
		return;
	case AFTER_RESET:
		client_reset(o, c);
		return;
	case AFTER_SOCKET:
		socket_begin(o, c);
		return;
	default:
		client_free(o, c);
		return;
	}
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
		(void)client_want(o, c, c->x.due_ns ? 0 : EPOLLOUT);
		return false;
	}
	if (c->x.answer.after != AFTER_DONE) {
		client_end_badly(o, c);
		return false;
	}
	c->served++;
	if (o->stopping) {
		transport_end(c);
		client_free(o, c);
		return false;
	}
	exchange_clear(o, &c->x);
	if (!c->keep) {
		client_linger(o, c);
		return false;
	}
	c->state = CLIENT_HEAD;
	c->head_ns = o->now;
	http_request_begin(&c->head);
	return client_want(o, c, EPOLLIN);
}

/* The time for the answer has come. */
static bool answer_go(struct origin *o, struct client *c)
{
	if (c->x.answer.nothing) {
		client_end_badly(o, c);
		return false;
	}
	c->state = CLIENT_SEND;
	head_write(c);
	return send_on(o, c);
}

/* The request is complete. Returns true when the answer is too, and the connection goes on. */
static bool answer_start(struct origin *o, struct client *c)
{
	answer_finish(&c->x);
	if (c->x.answer.chunked && c->head.minor == 0) { /* 1.0 has no chunks */
		c->x.answer.chunked = false;
		c->keep = false;
	}
	if (c->x.delay_ns == 0)
		return answer_go(o, c);
	c->state = CLIENT_DELAY;
	timer_set(&o->timers, &c->x, o->now + c->x.delay_ns);
	(void)client_want(o, c, 0);
	return false;
}

/* The client may be gone afterwards. What waits to be sent is a "100 Continue", of which a part may
 * be out already: it stays in front. */
static void refuse(struct origin *o, struct client *c, int status, const char *why)
{
	exchange_clear(o, &c->x);
	c->keep = false;
	answer_error(&c->x, status, why);
	c->state = CLIENT_SEND;
	head_write(c);
	(void)send_on(o, c);
}

/* A piece of the request's body. Returns HTTP_BAD when the client was refused (and may be gone). */
static enum http_progress take_body(
	struct origin *o, struct client *c, const char *p, size_t n, size_t *off)
{
	for (;;) {
		struct http_piece piece;
		size_t used;
		enum http_progress r = http_body_feed(&c->body, p + *off, n - *off, &used, &piece);
		int status = r == HTTP_BAD ? 400
					   : exchange_keep(o, &c->x, piece.p, piece.n, c->body.got);

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
static void send_interim(struct origin *o, struct client *c)
{
	struct iovec v[2] = {{NULL, 0}, {NULL, 0}};
	ssize_t r;

	buf_adds(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
	v[0].iov_base = c->out.p + c->out_off;
	v[0].iov_len = c->out.n - c->out_off;
	r = transport_write(o, c, v);
	if (r > 0)
		c->out_off += (size_t)r;
	if (c->out_off == c->out.n) {
		buf_clear(&c->out);
		c->out_off = 0;
	}
}

static void decide(struct origin *o, struct client *c, const char *p)
{
	struct route route;
	struct ask ask = {
		.method = {p + c->head.method.off, c->head.method.n}, .head = &c->head, .bytes = p};

	route_parse(p + c->head.target.off, c->head.target.n, &route);
	c->keep = c->head.keep && !o->stopping && !(route.keep && c->served + 1 >= route.keep);
	answer_begin(o, &c->x, &route, &ask);
}

/* The head of a request at p. */
static enum http_progress take_head(struct origin *o, struct client *c, const char *p, size_t n)
{
	enum http_progress r = http_head_parse(&c->head, p, n);

	if (r == HTTP_BAD)
		refuse(o, c, c->head.problem_status, c->head.problem);
	if (r != HTTP_DONE)
		return r;
	if (c->head.has_length && c->head.length > ORIGIN_BODY_MAX) {
		refuse(o, c, 413, "the body is too large");
		return HTTP_BAD;
	}
	c->state = CLIENT_BODY;
	http_request_body(&c->body, &c->head);
	if (c->head.expect_continue && c->head.minor == 1 && c->body.kind != HTTP_BODY_NONE)
		send_interim(o, c);
	decide(o, c, p);
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

/* A client that knows beforehand that HTTP/2 is spoken begins like this (RFC 9113 section 3.4). No
 * HTTP/1.1 method is called so. */
static bool is_preface(const struct client *c, const char *p, size_t n)
{
	return c->served == 0 && c->state == CLIENT_HEAD && n >= 4 && memcmp(p, "PRI ", 4) == 0;
}

/* The n bytes at p, as in take_requests(). */
static void take(struct origin *o, struct client *c, const char *p, size_t n)
{
	auto_buf struct buf first = BUF_INIT;

	if (!is_preface(c, p, n)) {
		take_requests(o, c, p, n);
		return;
	}
	if (p == c->in.p) {
		first = c->in;
		c->in = (struct buf)BUF_INIT;
	}
	if (h2_begin(o, c))
		h2_receive(o, c, p, n);
}

/* n bytes are there that are no request of HTTP/1.1. */
static void receive_other(struct origin *o, struct client *c, size_t n)
{
	if (c->state == CLIENT_H2) {
		h2_receive(o, c, o->rx, n);
		return;
	}
	if (c->state == CLIENT_SOCKET) {
		socket_receive(o, c, o->rx, n);
		return;
	}
	c->lingered += n;
	if (c->lingered > LINGER_MAX)
		client_free(o, c);
}

/* Returns false when there is nothing more to read for now. */
static bool receive_once(struct origin *o, struct client *c)
{
	ssize_t r = transport_read(o, c, o->rx, ORIGIN_RX_SIZE);

	if (r == TRANSPORT_AGAIN || c->dead)
		return false;
	if (r <= 0) {
		client_free(o, c);
		return false;
	}
	c->moved_ns = o->now;
	if (c->state >= CLIENT_H2) {
		receive_other(o, c, (size_t)r);
	} else if (c->in.n == 0) {
		take(o, c, o->rx, (size_t)r);
	} else {
		buf_add(&c->in, o->rx, (size_t)r);
		take(o, c, c->in.p, c->in.n);
	}
	return transport_pending(c);
}

static bool reads(const struct client *c)
{
	return !c->dead && (c->events & EPOLLIN);
}

/* OpenSSL may hold more than it gave, of which the socket knows nothing. Whatever is left over
 * after some turns brings the connection back by a timer. */
static void client_receive(struct origin *o, struct client *c)
{
	int i = 0;

	if (c->read_wants_out) {
		c->read_wants_out = false;
		if (!client_want(o, c, EPOLLIN))
			return;
	}
	while (receive_once(o, c) && reads(c) && ++i < READS_MAX)
		;
	if (i == READS_MAX && reads(c))
		timer_set(&o->timers, &c->x, o->now + 1);
}

static void resume(struct origin *o, struct client *c)
{
	if (!send_on(o, c))
		return;
	if (c->in.n)
		take_requests(o, c, c->in.p, c->in.n);
}

/* Bytes that came in while the connection did not read may lie inside OpenSSL: the socket will not
 * tell of them. */
static void catch_up(struct origin *o, struct client *c)
{
	if (reads(c) && transport_pending(c) && c->x.due_ns == 0)
		client_receive(o, c);
}

static void shake(struct origin *o, struct client *c)
{
	int r = tls_handshake(c->ssl);

	c->moved_ns = o->now;
	if (r == TLS_WANT_READ || r == TLS_WANT_WRITE) {
		(void)client_want(o, c, r == TLS_WANT_READ ? EPOLLIN : EPOLLOUT);
		return;
	}
	if (r != 1) {
		client_free(o, c);
		return;
	}
	c->state = CLIENT_HEAD;
	c->head_ns = o->now;
	if (tls_alpn_of(c->ssl) == TLS_ALPN_H2 && !h2_begin(o, c))
		return;
	if (c->state == CLIENT_HEAD && !client_want(o, c, EPOLLIN))
		return;
	client_receive(o, c);
}

/* The socket takes bytes again. */
static void other_event(struct origin *o, struct client *c)
{
	if (c->dead)
		return; /* reading found its end */
	if (c->state == CLIENT_H2)
		h2_event(o, c);
	else if (c->state == CLIENT_SOCKET)
		socket_event(o, c);
}

static void event(struct origin *o, struct client *c, uint32_t events)
{
	switch (c->state) {
	case CLIENT_HANDSHAKE:
		shake(o, c);
		break;
	case CLIENT_SEND:
		resume(o, c);
		break;
	case CLIENT_DELAY:
	case CLIENT_STALL:
		break;
	case CLIENT_H2:
	case CLIENT_SOCKET:
		if (events & EPOLLIN || c->read_wants_out)
			client_receive(o, c);
		if (events & EPOLLOUT)
			other_event(o, c);
		break;
	default:
		client_receive(o, c);
		break;
	}
}

void client_event(struct origin *o, struct client *c, uint32_t events)
{
	if (c->dead)
		return;
	if (events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) {
		client_free(o, c);
		return;
	}
	event(o, c, events);
	catch_up(o, c);
}

static void client_due(struct origin *o, struct client *c)
{
	switch (c->state) {
	case CLIENT_LINGER:
	case CLIENT_STALL:
		client_free(o, c);
		return;
	case CLIENT_DELAY:
		if (answer_go(o, c) && c->in.n)
			take_requests(o, c, c->in.p, c->in.n);
		return;
	case CLIENT_SEND:
		resume(o, c);
		return;
	default:
		client_receive(o, c);
		return;
	}
}

void exchange_due(struct origin *o, struct exchange *x)
{
	struct client *c = x->client;

	timer_clear(&o->timers, x);
	if (x == &c->x)
		client_due(o, c);
	else
		h2_due(o, x);
	catch_up(o, c);
}
