#include "wire.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>
#include <openssl/ssl.h>

bool wire_open(struct wire *w, int fd, SSL_CTX *ctx)
{
	*w = (struct wire){.fd = fd};
	if (!ctx)
		return true;
	w->ssl = tls_accept_new(ctx, fd, NULL);
	return w->ssl && tls_handshake(w->ssl) == 1;
}

ssize_t wire_read(struct wire *w, void *to, size_t n)
{
	return w->ssl ? tls_read(w->ssl, to, n) : recv(w->fd, to, n, 0);
}

bool wire_write(struct wire *w, const void *p, size_t n)
{
	for (size_t off = 0; off < n;) {
		const char *from = (const char *)p + off;
		ssize_t r = w->ssl ? tls_write(w->ssl, from, n - off)
				   : send(w->fd, from, n - off, MSG_NOSIGNAL);

		if (r <= 0)
			return false;
		off += (size_t)r;
	}
	return true;
}

/* Closing with something unread would be a reset. */
static void linger(int fd)
{
	struct timeval limit = {.tv_sec = 1};
	char away[4096];

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	shutdown(fd, SHUT_WR);
	while (recv(fd, away, sizeof(away), 0) > 0)
		;
}

void wire_close(struct wire *w, bool bye, bool reset)
{
	struct linger now = {.l_onoff = 1, .l_linger = 0};

	if (reset)
		setsockopt(w->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	if (w->ssl && bye)
		tls_bye(w->ssl);
	SSL_free(w->ssl);
	w->ssl = NULL;
	if (!reset)
		linger(w->fd);
	close(w->fd);
}

SSL_CTX *wire_context(enum tls_alpn alpn, bool resume, int chain)
{
	struct certs c = {0};
	struct tls_server_options o = {.alpn = alpn, .resume = resume, .certs = &c};
	SSL_CTX *ctx;

	assert_int_equal(certs_make("ecdsa", &c, NULL), 0);
	ctx = tls_server_context(&o, NULL);
	assert_non_null(ctx);
	for (int i = 0; i < chain; i++)
		assert_int_equal(SSL_CTX_add1_chain_cert(ctx, c.authority), 1);
	certs_release(&c);
	return ctx;
}
