/* Moves bytes between the driver and a server, in clear or through TLS. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "http/loopback.h"
#include "http/tls.h"

#define TRANSPORT_WHY 200

struct transport {
	int fd;        /* -1: closed */
	SSL *ssl;      /* NULL: cleartext */
	bool want_out; /* what waits, waits for room to send */
};

enum transport_end {
	TRANSPORT_AGAIN = -1, /* would block */
	TRANSPORT_EOF = -2,   /* the peer closed its side */
	TRANSPORT_LOST = -3,  /* look at why */
};

/* Bytes moved (at least one), or a transport_end. why is written on TRANSPORT_LOST only. */
ssize_t transport_tls_read(struct transport *t, char *p, size_t n, char why[TRANSPORT_WHY]);
ssize_t transport_tls_write(struct transport *t, const char *p, size_t n, char why[TRANSPORT_WHY]);
ssize_t transport_plain_read(struct transport *t, char *p, size_t n, char why[TRANSPORT_WHY]);
ssize_t transport_plain_write(
	struct transport *t, const char *p, size_t n, char why[TRANSPORT_WHY]);

static inline ssize_t transport_read(
	struct transport *t, char *p, size_t n, char why[TRANSPORT_WHY])
{
	return t->ssl ? transport_tls_read(t, p, n, why) : transport_plain_read(t, p, n, why);
}

static inline ssize_t transport_write(
	struct transport *t, const char *p, size_t n, char why[TRANSPORT_WHY])
{
	return t->ssl ? transport_tls_write(t, p, n, why) : transport_plain_write(t, p, n, why);
}

/* Whether bytes that were received wait inside: no event will tell of them. */
bool transport_holds(const struct transport *t);

/* Makes a socket and connects. 0: connected; 1: under way; -1: errno says why, and fd says whether
 * there is a socket at all. */
int transport_connect(struct transport *t, const struct loopback *a);
/* How an attempt under way went: an errno value, 0 when connected. */
int transport_connected(const struct transport *t);
/* Begins TLS on a connected socket. */
int transport_tls_begin(struct transport *t, SSL_CTX *ctx, struct error *err);
/* 1: done, and the protocol agreed on is alpn (a server without ALPN speaks HTTP/1.1); 0: under
 * way; -1: look at why. */
int transport_tls_step(struct transport *t, enum tls_alpn alpn, char why[TRANSPORT_WHY]);
bool transport_resumed(const struct transport *t);
/* gentle: says good-bye to the peer, where TLS does. */
void transport_close(struct transport *t, bool gentle);
