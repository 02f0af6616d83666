/* Bytes in and out, with TLS or without. */
#include "origin/server.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <openssl/ssl.h>

#include "http/tls.h"

static ssize_t plain_read(struct client *c, void *to, size_t n)
{
	ssize_t r;

	do {
		r = recv(c->fd, to, n, 0);
	} while (r < 0 && errno == EINTR);
	if (r >= 0)
		return r;
	return errno == EAGAIN || errno == EWOULDBLOCK ? TRANSPORT_AGAIN : TRANSPORT_GONE;
}

ssize_t transport_read(struct origin *o, struct client *c, void *to, size_t n)
{
	int r;

	/* In the end everything is read away, whatever it says. */
	if (!c->ssl || c->state == CLIENT_LINGER)
		return plain_read(c, to, n);
	r = tls_read(c->ssl, to, n);
	if (r > 0)
		return r;
	if (r == TLS_WANT_WRITE) {
		c->read_wants_out = true;
		return client_want(o, c, EPOLLOUT) ? TRANSPORT_AGAIN : TRANSPORT_GONE;
	}
	if (r == TLS_WANT_READ)
		return TRANSPORT_AGAIN;
	return r == TLS_CLOSED || r == TLS_EOF ? 0 : TRANSPORT_GONE;
}

static ssize_t plain_write(struct client *c, const struct iovec v[2])
{
	struct msghdr m = {.msg_iov = (struct iovec *)v, .msg_iovlen = 2};
	ssize_t r;

	do {
		r = sendmsg(c->fd, &m, MSG_NOSIGNAL);
	} while (r < 0 && errno == EINTR);
	if (r >= 0)
		return r;
	return errno == EAGAIN || errno == EWOULDBLOCK ? TRANSPORT_AGAIN : TRANSPORT_GONE;
}

/* Head and body in one record where they fit. After a write that the socket did not take, OpenSSL
 * wants the same bytes again: callers go on from where they stood, so it gets them. */
static ssize_t tls_pieces(struct client *c, const struct iovec v[2])
{
	char record[ORIGIN_RECORD_SIZE];
	size_t n = v[0].iov_len, k;
	int r;

	if (n >= sizeof(record) || v[1].iov_len == 0) {
		r = tls_write(c->ssl, v[0].iov_base, n);
	} else if (n == 0) {
		r = tls_write(c->ssl, v[1].iov_base, v[1].iov_len);
	} else {
		k = v[1].iov_len < sizeof(record) - n ? v[1].iov_len : sizeof(record) - n;
		memcpy(record, v[0].iov_base, n);
		memcpy(record + n, v[1].iov_base, k);
		r = tls_write(c->ssl, record, n + k);
	}
	if (r > 0)
		return r;
	return r == TLS_WANT_WRITE || r == TLS_WANT_READ ? TRANSPORT_AGAIN : TRANSPORT_GONE;
}

ssize_t transport_write(struct origin *o, struct client *c, const struct iovec v[2])
{
	ssize_t r = c->ssl ? tls_pieces(c, v) : plain_write(c, v);

	if (r > 0)
		c->moved_ns = o->now;
	return r;
}

bool transport_pending(const struct client *c)
{
	return c->ssl && c->state != CLIENT_LINGER && SSL_has_pending(c->ssl);
}

void transport_alert(struct client *c)
{
	if (c->ssl)
		tls_send_alert(c->ssl);
}

void transport_end(struct client *c)
{
	if (c->ssl)
		tls_bye(c->ssl);
}
