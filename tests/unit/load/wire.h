/* A scripted server's end of a connection, in clear or with TLS, blocking. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "http/tls.h"

struct wire {
	int fd;
	SSL *ssl; /* NULL: in clear */
};

/* false: the handshake failed, or ctx (which may be NULL) did not make an end. */
bool wire_open(struct wire *w, int fd, SSL_CTX *ctx);
ssize_t wire_read(struct wire *w, void *to, size_t n); /* at most 0: over */
bool wire_write(struct wire *w, const void *p, size_t n);
/* bye: in order, where TLS has an order. */
void wire_close(struct wire *w, bool bye, bool reset);

/* A context for servers, with a fresh certificate. chain: so many copies of the authority more. */
SSL_CTX *wire_context(enum tls_alpn alpn, bool resume, int chain);
