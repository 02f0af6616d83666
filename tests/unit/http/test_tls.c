/* Certificates, and handshakes between both ends over a pair of sockets. */
#include "tests.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/file.h"
#include "base/mem.h"
#include "http/certs.h"
#include "http/tls.h"

static char folder[64];

static int setup(void **state)
{
	snprintf(folder, sizeof(folder), "/tmp/test-tls.XXXXXX");
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	return tree_remove(folder, NULL);
}

static char *in_folder(const char *name)
{
	return path_join(folder, name);
}

struct pair {
	int fds[2];
	SSL *client, *server;
	int client_result, server_result;
};

static void pair_open_over(struct pair *p, int type, SSL_CTX *server, SSL_CTX *client)
{
	struct error err = ERROR_INIT;

	p->client_result = p->server_result = TLS_WANT_READ;
	assert_int_equal(socketpair(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, p->fds), 0);
	p->server = tls_accept_new(server, p->fds[0], &err);
	p->client = tls_connect_new(client, p->fds[1], &err);
	assert_non_null(p->server);
	assert_non_null(p->client);
}

static void pair_open(struct pair *p, SSL_CTX *server, SSL_CTX *client)
{
	pair_open_over(p, SOCK_STREAM, server, client);
}

/* Both ends in turn until neither gets on. */
static void shake(struct pair *p)
{
	p->client_result = p->server_result = TLS_WANT_READ;
	for (int i = 0; i < 20; i++) {
		if (p->client_result == TLS_WANT_READ)
			p->client_result = tls_handshake(p->client);
		if (p->server_result == TLS_WANT_READ)
			p->server_result = tls_handshake(p->server);
	}
}

static void pair_close(struct pair *p)
{
	tls_free(p->client);
	tls_free(p->server);
	close(p->fds[0]);
	close(p->fds[1]);
}

/* An answer from the server: with TLS 1.3 the client meets the tickets behind it. */
static void talk(struct pair *p)
{
	char got[8];

	assert_int_equal(tls_write(p->client, "ping", 4), 4);
	assert_int_equal(tls_read(p->server, got, sizeof(got)), 4);
	assert_int_equal(tls_write(p->server, "pong!", 5), 5);
	assert_int_equal(tls_read(p->client, got, sizeof(got)), 5);
	assert_memory_equal(got, "pong!", 5);
	assert_int_equal(tls_read(p->client, got, sizeof(got)), TLS_WANT_READ);
}

static void shaken(struct pair *p)
{
	shake(p);
	if (p->client_result != 1 || p->server_result != 1) {
		char *c = tls_problem(p->client), *s = tls_problem(p->server);

		fail_msg("client %d: %s, server %d: %s", p->client_result, c, p->server_result, s);
	}
	talk(p);
}

static SSL_CTX *server_of(const char *kind, struct tls_server_options o)
{
	auto_free char *crt_name = xasprintf("%s.crt", kind), *crt = in_folder(crt_name);
	auto_free char *key_name = xasprintf("%s.key", kind), *key = in_folder(key_name);
	struct error err = ERROR_INIT;
	SSL_CTX *ctx;

	assert_int_equal(certs_write(folder, kind, &err), 0);
	o.cert_file = crt;
	o.key_file = key;
	ctx = tls_server_context(&o, &err);
	assert_non_null(ctx);
	return ctx;
}

static SSL_CTX *client_of(struct tls_client_options o)
{
	struct error err = ERROR_INIT;
	SSL_CTX *ctx = tls_client_context(&o, &err);

	assert_non_null(ctx);
	return ctx;
}

/* The chain verifies with the folder's authority alone, and the key is of the kind that was asked.
 */
static void verified(const char *kind, int type, int bits)
{
	auto_free char *ca = in_folder("ca.crt");
	SSL_CTX *server = server_of(kind, (struct tls_server_options){.resume = true});
	SSL_CTX *client = client_of((struct tls_client_options){.ca_file = ca});
	struct pair p;
	X509 *leaf;

	pair_open(&p, server, client);
	shaken(&p);
	leaf = SSL_get0_peer_certificate(p.client);
	assert_int_equal(EVP_PKEY_get_base_id(X509_get0_pubkey(leaf)), type);
	assert_int_equal(EVP_PKEY_get_bits(X509_get0_pubkey(leaf)), bits);
	assert_int_equal(X509_check_host(leaf, "localhost", 0, 0, NULL), 1);
	assert_int_equal(X509_check_host(leaf, "example.org", 0, 0, NULL), 0);
	assert_int_equal(X509_check_ip_asc(leaf, "127.0.0.1", 0), 1);
	assert_int_equal(X509_check_ip_asc(leaf, "::1", 0), 1);
	assert_int_equal(X509_check_ip_asc(leaf, "127.0.0.2", 0), 0);
	assert_int_equal(sk_X509_num(SSL_get_peer_cert_chain(p.client)), 2);
	assert_int_equal(SSL_version(p.client), TLS1_3_VERSION);
	pair_close(&p);
	SSL_CTX_free(server);
	SSL_CTX_free(client);
}

static void test_kinds(void **state)
{
	verified("ecdsa", EVP_PKEY_EC, 256);
	verified("rsa", EVP_PKEY_RSA, 2048);
}

static void test_files(void **state)
{
	static const struct {
		const char *name;
		mode_t mode;
	} files[] = {{"rsa.crt", 0644}, {"rsa.key", 0600}, {"ecdsa.crt", 0644}, {"ecdsa.key", 0600},
		{"ca.crt", 0644}, {"ca.key", 0600}};
	struct error err = ERROR_INIT;
	auto_free char *ca = in_folder("ca.crt"), *crt = in_folder("ecdsa.crt"),
		       *key = in_folder("ecdsa.key");
	auto_buf struct buf before = BUF_INIT, after = BUF_INIT;
	mode_t old = umask(0077);

	assert_int_equal(certs_write(folder, "ecdsa", &err), 0);
	assert_int_equal(file_read(ca, 0, &before, &err), 0);
	assert_int_equal(certs_write(folder, "rsa", &err), 0);
	assert_int_equal(file_read(ca, 0, &after, &err), 0);
	assert_string_equal(buf_str(&before), buf_str(&after));
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		auto_free char *path = in_folder(files[i].name);
		struct stat st;

		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_mode & 07777, files[i].mode);
	}
	umask(old);

	/* Kept as it is; made anew when half of it is gone, with the same authority. */
	assert_int_equal(file_read(crt, 0, &before, &err), 0);
	assert_int_equal(certs_write(folder, "ecdsa", &err), 0);
	assert_int_equal(file_read(crt, 0, &after, &err), 0);
	assert_string_equal(buf_str(&before), buf_str(&after));
	assert_int_equal(unlink(key), 0);
	verified("ecdsa", EVP_PKEY_EC, 256);

	/* Somebody else's authority is an error, not a chain that never verifies. */
	assert_int_equal(unlink(key), 0);
	assert_int_equal(file_write_atomic(ca, "no certificate\n", 15, 0644, &err), 0);
	assert_int_equal(certs_write(folder, "ecdsa", &err), -1);
	assert_int_equal(err.code, ERR_CORRUPT);
	assert_non_null(strstr(err.msg, "ca.key' are not a certificate and its key"));
	assert_int_equal(unlink(ca), 0);

	assert_int_equal(certs_write(folder, "dsa", &err), -1);
	assert_int_equal(err.code, ERR_USAGE);
	assert_string_equal(err.msg, "'dsa' is no kind of key; give 'rsa' or 'ecdsa'");
	assert_int_equal(certs_write("/proc/none", "rsa", &err), -1);
	assert_int_equal(certs_give(folder, "ecdsa", getuid(), getgid(), &err), -1);
	assert_int_equal(certs_write(folder, "ecdsa", &err), 0);
	assert_int_equal(certs_give(folder, "ecdsa", getuid(), getgid(), &err), 0);
	error_release(&err);
}

/* Of another authority, or for another name. */
static void test_not_trusted(void **state)
{
	auto_free char *ca = in_folder("ca.crt");
	struct certs other;
	struct error err = ERROR_INIT;
	struct tls_server_options o = {.certs = &other};
	SSL_CTX *server, *client;
	struct pair p;
	char *text;

	assert_int_equal(certs_write(folder, "ecdsa", &err), 0);
	assert_int_equal(certs_make("ecdsa", &other, &err), 0);
	server = tls_server_context(&o, &err);
	assert_non_null(server);
	certs_release(&other); /* the context has its own references */
	client = client_of((struct tls_client_options){.ca_file = ca});
	pair_open(&p, server, client);
	shake(&p);
	assert_int_equal(p.server_result, TLS_FAILED);
	text = tls_problem(p.server); /* the queue is the thread's: the last failure comes first */
	assert_non_null(strstr(text, "alert unknown ca"));
	free(text);
	assert_int_equal(p.client_result, TLS_FAILED);
	text = tls_problem(p.client);
	assert_non_null(strstr(text, "the certificate is not accepted: "));
	free(text);
	pair_close(&p);
	SSL_CTX_free(client);

	/* Whoever trusts all takes it. */
	client = client_of((struct tls_client_options){0});
	pair_open(&p, server, client);
	shaken(&p);
	pair_close(&p);
	SSL_CTX_free(client);
	SSL_CTX_free(server);
	error_release(&err);
}

static void test_alpn(void **state)
{
	static const struct {
		enum tls_alpn server, client, both;
		bool fails;
	} t[] = {
		{TLS_ALPN_BOTH, TLS_ALPN_BOTH, TLS_ALPN_H2, false},
		{TLS_ALPN_BOTH, TLS_ALPN_H1, TLS_ALPN_H1, false},
		{TLS_ALPN_BOTH, TLS_ALPN_H2, TLS_ALPN_H2, false},
		{TLS_ALPN_H1, TLS_ALPN_BOTH, TLS_ALPN_H1, false},
		{TLS_ALPN_BOTH, TLS_ALPN_NONE, TLS_ALPN_NONE, false},
		{TLS_ALPN_NONE, TLS_ALPN_BOTH, TLS_ALPN_NONE, false},
		{TLS_ALPN_H1, TLS_ALPN_H2, TLS_ALPN_NONE, true},
		{TLS_ALPN_H2, TLS_ALPN_H1, TLS_ALPN_NONE, true},
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		SSL_CTX *server =
			server_of("ecdsa", (struct tls_server_options){.alpn = t[i].server});
		SSL_CTX *client = client_of((struct tls_client_options){.alpn = t[i].client});
		struct pair p;

		pair_open(&p, server, client);
		if (t[i].fails) {
			char *text;

			shake(&p);
			assert_int_equal(p.client_result, TLS_FAILED);
			text = tls_problem(p.client);
			assert_non_null(strstr(text, "alert no application protocol"));
			free(text);
		} else {
			shaken(&p);
			assert_int_equal(tls_alpn_of(p.client), t[i].both);
			assert_int_equal(tls_alpn_of(p.server), t[i].both);
		}
		pair_close(&p);
		SSL_CTX_free(server);
		SSL_CTX_free(client);
	}
}

/* Three connections of one client; how many resumed a session. */
static int resumed(bool server_on, bool client_on, enum tls_version version)
{
	SSL_CTX *server = server_of("ecdsa", (struct tls_server_options){.resume = server_on});
	SSL_CTX *client =
		client_of((struct tls_client_options){.resume = client_on, .version = version});
	int n = 0;

	for (int i = 0; i < 3; i++) {
		struct pair p;

		pair_open(&p, server, client);
		shaken(&p);
		assert_int_equal(SSL_version(p.client),
			version == TLS_1_2 ? TLS1_2_VERSION : TLS1_3_VERSION);
		assert_int_equal(SSL_session_reused(p.client), SSL_session_reused(p.server));
		n += SSL_session_reused(p.client);
		if (i) /* in order, or not */
			tls_bye(p.client);
		pair_close(&p);
	}
	SSL_CTX_free(server);
	SSL_CTX_free(client);
	return n;
}

static void test_resumption(void **state)
{
	static const enum tls_version versions[] = {TLS_1_2, TLS_1_3};

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		assert_int_equal(resumed(true, true, versions[i]), 2);
		assert_int_equal(resumed(true, false, versions[i]), 0);
		assert_int_equal(resumed(false, true, versions[i]), 0);
	}
}

static void test_versions(void **state)
{
	SSL_CTX *server = server_of("ecdsa", (struct tls_server_options){.version = TLS_1_3});
	SSL_CTX *client = client_of((struct tls_client_options){.version = TLS_1_2});
	SSL_CTX *old = client_of((struct tls_client_options){0});
	SSL_CTX *any = server_of("ecdsa", (struct tls_server_options){0});
	struct pair p;
	char *text;

	pair_open(&p, server, client);
	shake(&p);
	assert_int_equal(p.client_result, TLS_FAILED);
	text = tls_problem(p.client);
	assert_non_null(strstr(text, "alert protocol version"));
	free(text);
	pair_close(&p);

	/* 1.1 is never spoken, whatever the peer would take. */
	assert_int_equal(SSL_CTX_set_cipher_list(old, "ALL:@SECLEVEL=0"), 1);
	assert_int_equal(SSL_CTX_set_min_proto_version(old, TLS1_VERSION), 1);
	assert_int_equal(SSL_CTX_set_max_proto_version(old, TLS1_1_VERSION), 1);
	pair_open(&p, any, old);
	shake(&p);
	assert_int_equal(p.client_result, TLS_FAILED);
	assert_int_equal(p.server_result, TLS_FAILED);
	pair_close(&p);
	SSL_CTX_free(server);
	SSL_CTX_free(client);
	SSL_CTX_free(old);
	SSL_CTX_free(any);
}

/* An end in order, one without close_notify, an alert in the midst, a peer that is gone. */
static void test_ends(void **state)
{
	SSL_CTX *server = server_of("ecdsa", (struct tls_server_options){0});
	SSL_CTX *client = client_of((struct tls_client_options){0});
	struct pair p;
	char got[8], *text;

	pair_open(&p, server, client);
	shaken(&p);
	tls_bye(p.server);
	assert_int_equal(tls_read(p.client, got, sizeof(got)), TLS_CLOSED);
	pair_close(&p);

	pair_open(&p, server, client);
	shaken(&p);
	shutdown(p.fds[0], SHUT_WR);
	assert_int_equal(tls_read(p.client, got, sizeof(got)), TLS_EOF);
	text = tls_problem(p.client);
	assert_string_equal(text, "the connection ended without TLS's close_notify");
	free(text);
	pair_close(&p);

	pair_open(&p, server, client);
	shaken(&p);
	assert_int_equal(tls_write(p.server, "abc", 3), 3);
	tls_send_alert(p.server);
	assert_int_equal(tls_read(p.client, got, sizeof(got)), 3);
	assert_int_equal(tls_read(p.client, got, sizeof(got)), TLS_FAILED);
	text = tls_problem(p.client);
	assert_non_null(strstr(text, "alert bad record mac"));
	free(text);
	pair_close(&p);

	pair_open(&p, server, client);
	shaken(&p);
	close(p.fds[0]);
	assert_int_equal(tls_write(p.client, "x", 1), TLS_FAILED); /* and no SIGPIPE */
	text = tls_problem(p.client);
	assert_string_equal(text, strerror(EPIPE));
	free(text);
	p.fds[0] = dup(p.fds[1]);
	pair_close(&p);
	SSL_CTX_free(server);
	SSL_CTX_free(client);
}

/* A chain of absurd length is refused before it is read. */
static void test_long_chain(void **state)
{
	struct certs c;
	struct error err = ERROR_INIT;
	struct tls_server_options o = {.certs = &c};
	SSL_CTX *server, *client = client_of((struct tls_client_options){0});
	struct pair p;
	char *text;

	assert_int_equal(certs_make("ecdsa", &c, &err), 0);
	server = tls_server_context(&o, &err);
	assert_non_null(server);
	for (int i = 0; i < 60; i++) /* some 30 KiB */
		assert_int_equal(SSL_CTX_add1_chain_cert(server, c.authority), 1);
	pair_open(&p, server, client);
	shaken(&p);
	pair_close(&p);
	for (int i = 0; i < 140; i++)
		assert_int_equal(SSL_CTX_add1_chain_cert(server, c.authority), 1);
	pair_open(&p, server, client);
	shake(&p);
	assert_int_equal(p.server_result, TLS_FAILED);
	assert_int_equal(p.client_result, TLS_FAILED);
	pair_close(&p);

	/* The reason is the client's, so it is asked before the server's own failure. */
	pair_open(&p, server, client);
	for (int i = 0; i < 20 && p.client_result != TLS_FAILED; i++) {
		(void)tls_handshake(p.server);
		p.client_result = tls_handshake(p.client);
	}
	text = tls_problem(p.client);
	assert_string_equal(text, "excessive message size");
	free(text);
	pair_close(&p);
	certs_release(&c);
	SSL_CTX_free(server);
	SSL_CTX_free(client);
}

/* More records without data than a call looks at: it comes back, as the caller has other things to
 * do, and the socket still tells of the rest. By packets, each record costs a turn. */
static void test_no_data(void **state)
{
	SSL_CTX *server = server_of("ecdsa", (struct tls_server_options){.resume = true});
	SSL_CTX *client = client_of((struct tls_client_options){.resume = true});
	struct pair p;
	char got[8];
	int calls = 0, n;

	pair_open_over(&p, SOCK_SEQPACKET, server, client);
	shaken(&p);
	for (int i = 0; i < 100; i++) {
		assert_int_equal(SSL_key_update(p.server, SSL_KEY_UPDATE_NOT_REQUESTED), 1);
		assert_int_equal(tls_handshake(p.server), 1);
	}
	assert_int_equal(tls_write(p.server, "pong!", 5), 5);
	for (; (n = tls_read(p.client, got, sizeof(got))) == TLS_WANT_READ; calls++)
		assert_true(recv(p.fds[1], got, 1, MSG_PEEK) > 0);
	assert_int_equal(n, 5);
	assert_in_range(calls, 20, 30); /* four records at a time */
	assert_memory_equal(got, "pong!", 5);
	pair_close(&p);
	SSL_CTX_free(server);
	SSL_CTX_free(client);
}

/* What is no TLS at all. */
static void test_plain_text(void **state)
{
	static const char text[] = "HTTP/1.1 400 Bad Request\r\n\r\n";
	SSL_CTX *server = server_of("ecdsa", (struct tls_server_options){0});
	SSL_CTX *client = client_of((struct tls_client_options){0});
	struct pair p;
	char *problem;

	pair_open(&p, server, client);
	assert_int_equal(write(p.fds[0], text, sizeof(text) - 1), sizeof(text) - 1);
	assert_int_equal(tls_handshake(p.client), TLS_FAILED);
	problem = tls_problem(p.client);
	assert_string_equal(problem, "what the peer sent is not TLS (wrong version number)");
	free(problem);
	pair_close(&p);
	SSL_CTX_free(server);
	SSL_CTX_free(client);
}

static void test_bad_files(void **state)
{
	auto_free char *rsa_crt = in_folder("rsa.crt"), *ecdsa_key = in_folder("ecdsa.key");
	struct tls_server_options o = {.cert_file = "/nonexistent", .key_file = ecdsa_key};
	struct tls_client_options c = {.ca_file = ecdsa_key};
	struct error err = ERROR_INIT;

	assert_int_equal(certs_write(folder, "ecdsa", &err), 0);
	assert_int_equal(certs_write(folder, "rsa", &err), 0);
	assert_null(tls_server_context(&o, &err));
	assert_non_null(strstr(err.msg, "'/nonexistent': cannot read its certificates: "));
	assert_non_null(strstr(err.msg, "No such file"));
	o.cert_file = rsa_crt;
	assert_null(tls_server_context(&o, &err));
	assert_non_null(strstr(err.msg, "ecdsa.key': cannot read the key, or it is not the "));
	assert_null(tls_client_context(&c, &err));
	assert_non_null(strstr(err.msg, "ecdsa.key': cannot read its certificates"));
	error_release(&err);
}

#define in_a_folder(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

const struct CMUnitTest tls_tests[] = {
	in_a_folder(test_kinds),
	in_a_folder(test_files),
	in_a_folder(test_not_trusted),
	in_a_folder(test_alpn),
	in_a_folder(test_resumption),
	in_a_folder(test_versions),
	in_a_folder(test_ends),
	in_a_folder(test_long_chain),
	in_a_folder(test_no_data),
	in_a_folder(test_plain_text),
	in_a_folder(test_bad_files),
};
const size_t n_tls_tests = sizeof(tls_tests) / sizeof(tls_tests[0]);
