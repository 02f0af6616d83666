/* TLS for the driver and the origin, by OpenSSL: contexts that are the same on every machine
 * (OpenSSL's configuration file does not decide versions or ciphers), sessions, and errors in
 * words.
 *
 * Sockets are non-blocking and watched by the caller. A write never raises SIGPIPE. Records are
 * read ahead, so one recv() may bring several: read until the call wants more (or look at
 * SSL_has_pending()) before waiting for the socket. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <openssl/types.h>

#include "base/error.h"
#include "http/certs.h"

enum tls_alpn {
	TLS_ALPN_NONE = 0, /* not negotiated; in options: not offered, not looked at */
	TLS_ALPN_H1 = 1,
	TLS_ALPN_H2 = 2,
	TLS_ALPN_BOTH = 3, /* h2 before http/1.1 */
};

enum tls_version { TLS_ANY, TLS_1_2, TLS_1_3 }; /* never below 1.2 */

struct tls_server_options {
	enum tls_alpn alpn; /* a client that offers others alone gets the alert of RFC 7301 */
	enum tls_version version;
	bool resume; /* session cache and tickets; false: every handshake is a full one */
	/* Either certificates in memory (they are referenced, not taken), or files in PEM. */
	const struct certs *certs;
	const char *cert_file, *key_file;
};

struct tls_client_options {
	enum tls_alpn alpn;
	enum tls_version version;
	bool resume;         /* new connections offer the newest session of this context */
	const char *ca_file; /* must have signed the server's chain; NULL: any is taken */
};

/* Release with SSL_CTX_free(). NULL: err is set. */
SSL_CTX *tls_server_context(const struct tls_server_options *o, struct error *err);
SSL_CTX *tls_client_context(const struct tls_client_options *o, struct error *err);

/* One end of a connection over the socket fd, which stays the caller's. Release with tls_free().
 * The client sends the name "localhost" and, with ca_file, checks that the leaf is for it. */
SSL *tls_accept_new(SSL_CTX *ctx, int fd, struct error *err);
SSL *tls_connect_new(SSL_CTX *ctx, int fd, struct error *err);
/* Sends nothing. Unlike SSL_free() it leaves the session fit for resumption even when no
 * close_notify went either way, as long as nothing has failed. NULL is fine. */
void tls_free(SSL *ssl);

/* After the handshake: one of TLS_ALPN_NONE, _H1, _H2. */
enum tls_alpn tls_alpn_of(const SSL *ssl);

/* Calls on a connection give what is below, or a count above 0. Before each one the error queue is
 * emptied, so tls_problem() tells about that call alone. */
enum tls_result {
	TLS_CLOSED = 0,      /* the peer ended it in order (close_notify) */
	TLS_WANT_READ = -1,  /* wait until the socket can be read */
	TLS_WANT_WRITE = -2, /* wait until the socket can be written */
	TLS_FAILED = -3,     /* tls_problem() */
	TLS_EOF = -4,        /* the peer ended it without close_notify, at a record's end or not */
};
int tls_handshake(SSL *ssl); /* 1: done */
int tls_read(SSL *ssl, void *to, size_t n);
int tls_write(SSL *ssl, const void *from, size_t n); /* may take less than n */
/* close_notify, as far as the socket takes it. The session stays usable for resumption. */
void tls_bye(SSL *ssl);

/* A real fatal alert to the peer, in the midst of everything: the next read meets a forged record,
 * to which OpenSSL answers with bad_record_mac. The connection is unusable afterwards. */
void tls_send_alert(SSL *ssl);

/* Why the last call on this connection gave TLS_FAILED or TLS_EOF, in words: the peer's alert, a
 * certificate that does not verify, a socket error. Caller frees. */
char *tls_problem(const SSL *ssl);

/* "cannot <what>: <the words of OpenSSL's queue>", and empties the queue. Returns -1. */
int tls_error_set(struct error *err, enum error_code code, const char *what);
