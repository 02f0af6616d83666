/* OpenSSL's way to a socket, for tls.c alone: OpenSSL's own writes with write(), which raises
 * SIGPIPE when the peer is gone, and whet changes no signal of its user's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <openssl/types.h>

struct tls_socket {
	int fd;
	int error;   /* errno of the last operation that failed for good; 0: none */
	bool eof;    /* the peer has ended */
	bool forged; /* reads give a record that nobody has sealed */
	/* How often one call on the connection may still ask the socket. A peer that sends without
	 * end what is no data (tickets, new keys) would keep OpenSSL inside that call forever. */
	int turns;
	/* What was received before it was asked for; NULL: nothing ever is. */
	char *in;
	size_t in_off, in_n;
};

#define TLS_TURNS 64
#define TLS_TURNS_BUFFERED 4 /* each of them may bring a thousand records */

int tls_socket_attach(SSL *ssl, int fd);
struct tls_socket *tls_socket_of(const SSL *ssl); /* NULL: none */
void tls_socket_forge(SSL *ssl);
/* From now on one recv() may bring several records. OpenSSL's own reading ahead moves all that it
 * has for each of them. */
void tls_socket_buffer(SSL *ssl);
