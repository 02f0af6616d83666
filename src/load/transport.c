#include "load/transport.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <openssl/ssl.h>

/* ---- In clear ------------------------------------------------------------------------------- */

static ssize_t plain_end(ssize_t r, char why[TRANSPORT_WHY])
{
	if (r == 0)
		return TRANSPORT_EOF;
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		return TRANSPORT_AGAIN;
	snprintf(why, TRANSPORT_WHY, "%s", strerror(errno));
	return TRANSPORT_LOST;
}

ssize_t transport_plain_read(struct transport *t, char *p, size_t n, char why[TRANSPORT_WHY])
{
	ssize_t r;

	do {
		r = recv(t->fd, p, n, 0);
	} while (r < 0 && errno == EINTR);
	return r > 0 ? r : plain_end(r, why);
}

ssize_t transport_plain_write(struct transport *t, const char *p, size_t n, char why[TRANSPORT_WHY])
{
	ssize_t r;

	do {
		r = send(t->fd, p, n, MSG_NOSIGNAL);
	} while (r < 0 && errno == EINTR);
	t->want_out = r < 0;
	return r > 0 ? r : plain_end(r, why);
}

int transport_connect(struct transport *t, const struct loopback *a)
{
	int one = 1;

	t->fd = socket(a->sa.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (t->fd < 0)
		return -1;
	(void)setsockopt(t->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(t->fd, &a->sa, a->n) == 0)
		return 0;
	return errno == EINPROGRESS ? 1 : -1;
}

int transport_connected(const struct transport *t)
{
	int e = 0;
	socklen_t n = sizeof(e);

	return getsockopt(t->fd, SOL_SOCKET, SO_ERROR, &e, &n) < 0 ? errno : e;
}

/* ---- TLS ------------------------------------------------------------------------------------ */

static ssize_t tls_end(struct transport *t, int r, char why[TRANSPORT_WHY])
{
	char *problem;

	if (r == TLS_WANT_READ || r == TLS_WANT_WRITE) {
		t->want_out = r == TLS_WANT_WRITE;
		return TRANSPORT_AGAIN;
	}
	if (r == TLS_CLOSED)
		return TRANSPORT_EOF;
	problem = tls_problem(t->ssl);
	snprintf(why, TRANSPORT_WHY, "%s", problem);
	free(problem);
	return TRANSPORT_LOST;
}

ssize_t transport_tls_read(struct transport *t, char *p, size_t n, char why[TRANSPORT_WHY])
{
	int r = tls_read(t->ssl, p, n);

	return r > 0 ? r : tls_end(t, r, why);
}

ssize_t transport_tls_write(struct transport *t, const char *p, size_t n, char why[TRANSPORT_WHY])
{
	int r = tls_write(t->ssl, p, n);

	t->want_out = false;
	return r > 0 ? r : tls_end(t, r, why);
}

bool transport_holds(const struct transport *t)
{
	return t->ssl && tls_holds(t->ssl);
}

int transport_tls_begin(struct transport *t, SSL_CTX *ctx, struct error *err)
{
	t->ssl = tls_connect_new(ctx, t->fd, err);
	return t->ssl ? 0 : -1;
}

static const char *alpn_name(enum tls_alpn a)
{
	return a == TLS_ALPN_H2 ? "h2" : a == TLS_ALPN_H1 ? "http/1.1" : "no protocol";
}

int transport_tls_step(struct transport *t, enum tls_alpn alpn, char why[TRANSPORT_WHY])
{
	int r = tls_handshake(t->ssl);
	enum tls_alpn got;
	ssize_t end;

	t->want_out = false;
	if (r != 1) {
		end = tls_end(t, r, why);
		if (end == TRANSPORT_EOF)
			snprintf(why, TRANSPORT_WHY, "the server closed the connection");
		return end == TRANSPORT_AGAIN ? 0 : -1;
	}
	got = tls_alpn_of(t->ssl);
	if (got == alpn || (got == TLS_ALPN_NONE && alpn == TLS_ALPN_H1))
		return 1;
	snprintf(why, TRANSPORT_WHY, "expected the server to agree to %s (ALPN), got %s",
		alpn_name(alpn), alpn_name(got));
	return -1;
}

bool transport_resumed(const struct transport *t)
{
	return t->ssl && SSL_session_reused(t->ssl);
}

void transport_close(struct transport *t, bool gentle)
{
	if (t->ssl) {
		if (gentle)
			tls_bye(t->ssl);
		SSL_free(t->ssl);
	}
	if (t->fd >= 0)
		close(t->fd); /* leaves the epoll set by itself */
	t->ssl = NULL;
	t->fd = -1;
	t->want_out = false;
}
