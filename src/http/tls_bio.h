/* OpenSSL's way to a socket, for tls.c alone: OpenSSL's own writes with write(), which raises
 * SIGPIPE when the peer is gone, and whet changes no signal of its user's. */
#pragma once

#include <stdbool.h>

#include <openssl/types.h>

struct tls_socket {
	int fd;
	int error;   /* errno of the last operation that failed for good; 0: none */
	bool eof;    /* the peer has ended */
	bool forged; /* reads give a record that nobody has sealed */
};

int tls_socket_attach(SSL *ssl, int fd);
struct tls_socket *tls_socket_of(const SSL *ssl); /* NULL: none */
void tls_socket_forge(SSL *ssl);
