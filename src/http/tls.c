#include "http/tls.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>

#include "base/buf.h"
#include "base/mem.h"
#include "http/tls_bio.h"

#define CHAIN_MAX ((long)64 << 10) /* bytes of a peer's certificates */
#define CIPHERS "DEFAULT:@SECLEVEL=1"
#define QUEUE_MAX 4 /* entries of OpenSSL's queue that are told */

static const uint8_t alpn_both[] = "\x02h2\x08http/1.1";

struct alpn_list {
	const uint8_t *p;
	unsigned int n;
};

static struct alpn_list alpn_list(enum tls_alpn alpn)
{
	switch (alpn) {
	case TLS_ALPN_H2:
		return (struct alpn_list){alpn_both, 3};
	case TLS_ALPN_H1:
		return (struct alpn_list){alpn_both + 3, sizeof(alpn_both) - 4};
	case TLS_ALPN_BOTH:
		return (struct alpn_list){alpn_both, sizeof(alpn_both) - 1};
	case TLS_ALPN_NONE:
	default:
		return (struct alpn_list){NULL, 0};
	}
}

/* ---- Words ---------------------------------------------------------------------------------- */

/* "sslv3 alert bad record mac" is told whatever the version was, and does not say who found it. */
static void add_reason(struct buf *b, unsigned long e, const char *reason)
{
	const char *alert = strstr(reason, "alert ");

	if (alert && ERR_GET_LIB(e) == ERR_LIB_SSL && ERR_GET_REASON(e) >= SSL_AD_REASON_OFFSET)
		buf_addf(b, "the peer sent the TLS %s", alert);
	else if (ERR_GET_LIB(e) == ERR_LIB_SSL && ERR_GET_REASON(e) == SSL_R_WRONG_VERSION_NUMBER)
		buf_addf(b, "what the peer sent is not TLS (%s)", reason);
	else
		buf_adds(b, reason);
}

static void add_queue(struct buf *b)
{
	unsigned long e;

	for (int i = 0; i < QUEUE_MAX && (e = ERR_get_error()); i++) {
		const char *reason = ERR_reason_error_string(e);

		if (i)
			buf_adds(b, ": ");
		if (reason)
			add_reason(b, e, reason);
		else if (ERR_SYSTEM_ERROR(e))
			buf_adds(b, strerror(ERR_GET_REASON(e)));
		else
			buf_addf(b, "error %lx of OpenSSL", e);
	}
	ERR_clear_error();
}

int tls_error_set(struct error *err, enum error_code code, const char *what)
{
	auto_buf struct buf b = BUF_INIT;

	add_queue(&b);
	return error_set(err, code, "cannot %s: %s", what, b.n ? buf_str(&b) : "no reason given");
}

char *tls_problem(const SSL *ssl)
{
	struct buf b = BUF_INIT;
	const struct tls_socket *s = tls_socket_of(ssl);
	long verified = SSL_get_verify_result(ssl);

	if (SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE && verified != X509_V_OK) {
		buf_addf(&b, "the certificate is not accepted: %s",
			X509_verify_cert_error_string(verified));
		ERR_clear_error();
	} else if (ERR_peek_error()) {
		add_queue(&b);
	} else if (s && s->error) {
		buf_adds(&b, strerror(s->error));
	} else {
		buf_adds(&b, "the connection ended without TLS's close_notify");
	}
	return buf_detach(&b);
}

/* ---- Contexts ------------------------------------------------------------------------------- */

static int versions(SSL_CTX *ctx, enum tls_version v)
{
	int min = v == TLS_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION;
	int max = v == TLS_1_2 ? TLS1_2_VERSION : TLS1_3_VERSION;

	return SSL_CTX_set_min_proto_version(ctx, min) == 1 &&
	       SSL_CTX_set_max_proto_version(ctx, max) == 1;
}

/* Level 1 and OpenSSL's own lists, whatever the machine's configuration says: servers under
 * training may have small keys, and all machines must train the same handshake. */
static SSL_CTX *new_context(const SSL_METHOD *method, enum tls_version version, struct error *err)
{
	SSL_CTX *ctx = SSL_CTX_new(method);

	if (!ctx || !versions(ctx, version) || SSL_CTX_set_cipher_list(ctx, CIPHERS) != 1 ||
		SSL_CTX_set_ciphersuites(ctx, TLS_DEFAULT_CIPHERSUITES) != 1) {
		tls_error_set(err, ERR_INTERNAL, "make a TLS context");
		SSL_CTX_free(ctx);
		return NULL;
	}
	SSL_CTX_set_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_read_ahead(ctx, 1);
	SSL_CTX_set_max_cert_list(ctx, CHAIN_MAX);
	SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
	return ctx;
}

static bool offered(const uint8_t *in, unsigned int n, const uint8_t *name)
{
	for (unsigned int i = 0; i < n; i += 1 + in[i]) {
		if (in[i] == name[0] && i + 1 + in[i] <= n &&
			memcmp(in + i + 1, name + 1, name[0]) == 0)
			return true;
	}
	return false;
}

/* The server's order decides. */
static int select_alpn(
	SSL *ssl, const uint8_t **out, uint8_t *out_n, const uint8_t *in, unsigned int n, void *arg)
{
	struct alpn_list own = alpn_list((enum tls_alpn)(uintptr_t)arg);

	for (unsigned int i = 0; i < own.n; i += 1 + own.p[i]) {
		if (!offered(in, n, own.p + i))
			continue;
		*out = own.p + i + 1;
		*out_n = own.p[i];
		return SSL_TLSEXT_ERR_OK;
	}
	return SSL_TLSEXT_ERR_ALERT_FATAL;
}

static int use_files(SSL_CTX *ctx, const struct tls_server_options *o, struct error *err)
{
	if (SSL_CTX_use_certificate_chain_file(ctx, o->cert_file) != 1) {
		tls_error_set(err, ERR_USAGE, "read its certificates");
		return error_context(err, "'%s'", o->cert_file);
	}
	if (SSL_CTX_use_PrivateKey_file(ctx, o->key_file, SSL_FILETYPE_PEM) != 1 ||
		SSL_CTX_check_private_key(ctx) != 1) {
		tls_error_set(err, ERR_USAGE, "read the key, or it is not the certificate's");
		return error_context(err, "'%s'", o->key_file);
	}
	return 0;
}

static int use_certificates(SSL_CTX *ctx, const struct tls_server_options *o, struct error *err)
{
	if (!o->certs)
		return use_files(ctx, o, err);
	if (SSL_CTX_use_certificate(ctx, o->certs->leaf) == 1 &&
		SSL_CTX_add1_chain_cert(ctx, o->certs->authority) == 1 &&
		SSL_CTX_use_PrivateKey(ctx, o->certs->key) == 1)
		return 0;
	return tls_error_set(err, ERR_INTERNAL, "use a certificate");
}

/* What a server remembers; tickets are remembered by clients. */
#define SESSIONS_MAX 1024

SSL_CTX *tls_server_context(const struct tls_server_options *o, struct error *err)
{
	static const uint8_t id[] = "whet";
	SSL_CTX *ctx = new_context(TLS_server_method(), o->version, err);

	if (!ctx)
		return NULL;
	if (use_certificates(ctx, o, err) < 0) {
		SSL_CTX_free(ctx);
		return NULL;
	}
	if (o->alpn != TLS_ALPN_NONE)
		SSL_CTX_set_alpn_select_cb(ctx, select_alpn, (void *)(uintptr_t)o->alpn);
	if (o->resume) {
		SSL_CTX_set_session_id_context(ctx, id, sizeof(id) - 1);
		SSL_CTX_sess_set_cache_size(ctx, SESSIONS_MAX);
	} else {
		SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
		SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
		SSL_CTX_set_num_tickets(ctx, 0);
	}
	return ctx;
}

/* ---- The client's session ------------------------------------------------------------------- */

static void free_session(
	void *parent, void *ptr, CRYPTO_EX_DATA *ad, int idx, long argl, void *argp)
{
	SSL_SESSION_free(ptr);
}

/* Where a client context keeps its newest session. */
static int session_slot(void)
{
	static int slot = -1;

	if (slot < 0)
		slot = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, free_session);
	return slot;
}

static int keep_session(SSL *ssl, SSL_SESSION *session)
{
	SSL_CTX *ctx = SSL_get_SSL_CTX(ssl);

	SSL_SESSION_free(SSL_CTX_get_ex_data(ctx, session_slot()));
	return SSL_CTX_set_ex_data(ctx, session_slot(), session);
}

static int trust(SSL_CTX *ctx, const char *file, struct error *err)
{
	if (SSL_CTX_load_verify_file(ctx, file) != 1) {
		tls_error_set(err, ERR_USAGE, "read its certificates");
		return error_context(err, "'%s'", file);
	}
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	return 0;
}

SSL_CTX *tls_client_context(const struct tls_client_options *o, struct error *err)
{
	SSL_CTX *ctx = new_context(TLS_client_method(), o->version, err);
	struct alpn_list list = alpn_list(o->alpn);

	if (!ctx)
		return NULL;
	if (o->ca_file && trust(ctx, o->ca_file, err) < 0) {
		SSL_CTX_free(ctx);
		return NULL;
	}
	/* AES-128 first, as browsers ask. */
	if (SSL_CTX_set_cipher_list(ctx, "ECDHE-ECDSA-AES128-GCM-SHA256:"
					 "ECDHE-RSA-AES128-GCM-SHA256:" CIPHERS) != 1 ||
		SSL_CTX_set_ciphersuites(ctx, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:"
					      "TLS_CHACHA20_POLY1305_SHA256") != 1) {
		tls_error_set(err, ERR_INTERNAL, "set the list of ciphers");
		SSL_CTX_free(ctx);
		return NULL;
	}
	SSL_CTX_set_read_ahead(ctx, 0); /* see tls_socket_buffer() */
	if (list.n && SSL_CTX_set_alpn_protos(ctx, list.p, list.n) != 0) {
		tls_error_set(err, ERR_INTERNAL, "set the list of protocols");
		SSL_CTX_free(ctx);
		return NULL;
	}
	if (o->resume && session_slot() >= 0) {
		SSL_CTX_set_session_cache_mode(
			ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
		SSL_CTX_sess_set_new_cb(ctx, keep_session);
	} else {
		SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	}
	return ctx;
}

/* ---- Connections ---------------------------------------------------------------------------- */

static SSL *new_end(SSL_CTX *ctx, int fd, struct error *err)
{
	SSL *ssl = SSL_new(ctx);

	if (ssl && tls_socket_attach(ssl, fd) == 0)
		return ssl;
	tls_error_set(err, ERR_INTERNAL, "begin with TLS");
	SSL_free(ssl);
	return NULL;
}

SSL *tls_accept_new(SSL_CTX *ctx, int fd, struct error *err)
{
	SSL *ssl = new_end(ctx, fd, err);

	if (ssl)
		SSL_set_accept_state(ssl);
	return ssl;
}

SSL *tls_connect_new(SSL_CTX *ctx, int fd, struct error *err)
{
	SSL *ssl = new_end(ctx, fd, err);
	SSL_SESSION *session = SSL_CTX_get_ex_data(ctx, session_slot());

	if (!ssl)
		return NULL;
	SSL_set_connect_state(ssl);
	tls_socket_buffer(ssl);
	if (SSL_set_tlsext_host_name(ssl, "localhost") != 1 ||
		SSL_set1_host(ssl, "localhost") != 1 ||
		(session && SSL_set_session(ssl, session) != 1)) {
		tls_error_set(err, ERR_INTERNAL, "begin with TLS");
		SSL_free(ssl);
		return NULL;
	}
	return ssl;
}

void tls_free(SSL *ssl)
{
	/* A fatal error has taken the session out already: it stays out. */
	if (ssl && SSL_is_init_finished(ssl))
		SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(ssl);
}

enum tls_alpn tls_alpn_of(const SSL *ssl)
{
	const uint8_t *p = NULL;
	unsigned int n = 0;

	SSL_get0_alpn_selected(ssl, &p, &n);
	if (n == 2 && memcmp(p, "h2", 2) == 0)
		return TLS_ALPN_H2;
	return n ? TLS_ALPN_H1 : TLS_ALPN_NONE;
}

static int result(SSL *ssl, int r)
{
	switch (SSL_get_error(ssl, r)) {
	case SSL_ERROR_WANT_READ:
		return TLS_WANT_READ;
	case SSL_ERROR_WANT_WRITE:
		return TLS_WANT_WRITE;
	case SSL_ERROR_ZERO_RETURN:
		return TLS_CLOSED;
	case SSL_ERROR_SYSCALL:
		return tls_socket_of(ssl)->eof ? TLS_EOF : TLS_FAILED;
	default:
		return TLS_FAILED;
	}
}

static int bounded(size_t n)
{
	return n > INT_MAX ? INT_MAX : (int)n;
}

/* Before each call. */
static void begin_call(SSL *ssl)
{
	struct tls_socket *s = tls_socket_of(ssl);

	ERR_clear_error();
	s->turns = s->in ? TLS_TURNS_BUFFERED : TLS_TURNS;
}

int tls_handshake(SSL *ssl)
{
	int r;

	begin_call(ssl);
	r = SSL_do_handshake(ssl);
	return r == 1 ? 1 : result(ssl, r);
}

int tls_read(SSL *ssl, void *to, size_t n)
{
	int r;

	begin_call(ssl);
	r = SSL_read(ssl, to, bounded(n));
	return r > 0 ? r : result(ssl, r);
}

int tls_write(SSL *ssl, const void *from, size_t n)
{
	int r;

	begin_call(ssl);
	r = SSL_write(ssl, from, bounded(n));
	return r > 0 ? r : result(ssl, r);
}

bool tls_holds(const SSL *ssl)
{
	const struct tls_socket *s = tls_socket_of(ssl);

	return (s && s->in_off < s->in_n) || SSL_has_pending(ssl);
}

void tls_bye(SSL *ssl)
{
	/* Before its end a handshake has nothing to say good-bye to. */
	if (SSL_is_init_finished(ssl)) {
		begin_call(ssl);
		(void)SSL_shutdown(ssl);
	}
	ERR_clear_error();
}

void tls_send_alert(SSL *ssl)
{
	char away[256];

	tls_socket_forge(ssl);
	for (int i = 0; i < 1024 && tls_read(ssl, away, sizeof(away)) > 0; i++)
		;
	ERR_clear_error();
}
