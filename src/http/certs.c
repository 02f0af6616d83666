#include "http/certs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "base/file.h"
#include "base/mem.h"
#include "http/tls.h"

#define DAY 86400L
#define DAYS_BEFORE 1 /* clocks of containers may be behind */
#define DAYS_AFTER 365
#define SERIAL_BITS 127
#define PEM_MAX ((size_t)64 << 10)

struct authority {
	X509 *crt;
	EVP_PKEY *key;
};

struct names {
	const char *common;
	const char *const (*extensions)[2];
	size_t n_extensions;
};

static const char *const authority_extensions[][2] = {
	{"basicConstraints", "critical,CA:TRUE,pathlen:0"},
	{"keyUsage", "critical,keyCertSign,cRLSign"},
	{"subjectKeyIdentifier", "hash"},
	{"nameConstraints",
		"critical,permitted;DNS:localhost,permitted;IP:127.0.0.0/255.0.0.0,permitted;"
		"IP:0:0:0:0:0:0:0:1/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
};

static const char *const leaf_extensions[][2] = {
	{"basicConstraints", "critical,CA:FALSE"},
	{"keyUsage", "critical,digitalSignature,keyEncipherment"},
	{"extendedKeyUsage", "serverAuth"},
	{"subjectAltName", "DNS:localhost,IP:127.0.0.1,IP:::1"},
	{"subjectKeyIdentifier", "hash"},
	{"authorityKeyIdentifier", "keyid:always"},
};

static const struct names authority_names = {
	"whet training authority", authority_extensions, ARRAY_SIZE(authority_extensions)};
static const struct names leaf_names = {"localhost", leaf_extensions, ARRAY_SIZE(leaf_extensions)};

static int set_serial(X509 *crt)
{
	BIGNUM *n = BN_new();
	int r = n && BN_rand(n, SERIAL_BITS, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
				BN_to_ASN1_INTEGER(n, X509_get_serialNumber(crt))
			? 0
			: -1;

	BN_free(n);
	return r;
}

static int add_extensions(X509 *crt, X509 *issuer, const struct names *names)
{
	X509V3_CTX ctx;

	X509V3_set_ctx(&ctx, issuer, crt, NULL, NULL, 0);
	X509V3_set_ctx_nodb(&ctx);
	for (size_t i = 0; i < names->n_extensions; i++) {
		X509_EXTENSION *e = X509V3_EXT_conf(
			NULL, &ctx, names->extensions[i][0], names->extensions[i][1]);
		int ok = e && X509_add_ext(crt, e, -1) == 1;

		X509_EXTENSION_free(e);
		if (!ok)
			return -1;
	}
	return 0;
}

static int fill(X509 *crt, EVP_PKEY *key, const struct names *names)
{
	X509_NAME *name = X509_get_subject_name(crt);

	if (X509_set_version(crt, X509_VERSION_3) != 1 || set_serial(crt) < 0 ||
		!X509_gmtime_adj(X509_getm_notBefore(crt), -DAYS_BEFORE * DAY) ||
		!X509_gmtime_adj(X509_getm_notAfter(crt), DAYS_AFTER * DAY) ||
		X509_NAME_add_entry_by_txt(
			name, "O", MBSTRING_ASC, (const uint8_t *)"whet", -1, -1, 0) != 1 ||
		X509_NAME_add_entry_by_txt(
			name, "CN", MBSTRING_ASC, (const uint8_t *)names->common, -1, -1, 0) != 1)
		return -1;
	return X509_set_pubkey(crt, key) == 1 ? 0 : -1;
}

/* A certificate for key, signed by a; by itself when a is NULL. */
static X509 *certificate(EVP_PKEY *key, const struct authority *a, const struct names *names)
{
	X509 *crt = X509_new();
	X509 *issuer = a ? a->crt : crt;

	if (crt && fill(crt, key, names) == 0 &&
		X509_set_issuer_name(crt, X509_get_subject_name(issuer)) == 1 &&
		add_extensions(crt, issuer, names) == 0 &&
		X509_sign(crt, a ? a->key : key, EVP_sha256()) > 0)
		return crt;
	X509_free(crt);
	return NULL;
}

static EVP_PKEY *new_key(const char *kind)
{
	return strcmp(kind, "rsa") == 0 ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256");
}

static void authority_release(struct authority *a)
{
	X509_free(a->crt);
	EVP_PKEY_free(a->key);
}

#define auto_authority __attribute__((cleanup(authority_release)))

/* Its key is ECDSA whatever the leaves are: quick to make, and every client knows it. */
static int authority_make(struct authority *a, struct error *err)
{
	a->key = new_key("ecdsa");
	a->crt = a->key ? certificate(a->key, NULL, &authority_names) : NULL;
	return a->crt ? 0 : tls_error_set(err, ERR_INTERNAL, "make a certificate authority");
}

void certs_release(struct certs *c)
{
	X509_free(c->leaf);
	X509_free(c->authority);
	EVP_PKEY_free(c->key);
	*c = (struct certs){0};
}

static int check_kind(const char *kind, struct error *err)
{
	if (strcmp(kind, "rsa") == 0 || strcmp(kind, "ecdsa") == 0)
		return 0;
	return error_set(err, ERR_USAGE, "'%s' is no kind of key; give 'rsa' or 'ecdsa'", kind);
}

static int sign_leaf(
	const struct authority *a, const char *kind, struct certs *ret, struct error *err)
{
	struct certs c = {.key = new_key(kind)};

	c.leaf = c.key ? certificate(c.key, a, &leaf_names) : NULL;
	if (!c.leaf || X509_up_ref(a->crt) != 1) {
		certs_release(&c);
		return tls_error_set(err, ERR_INTERNAL, "make a certificate");
	}
	c.authority = a->crt;
	*ret = c;
	return 0;
}

int certs_make(const char *kind, struct certs *ret, struct error *err)
{
	auto_authority struct authority a = {NULL, NULL};

	if (check_kind(kind, err) < 0 || authority_make(&a, err) < 0)
		return -1;
	return sign_leaf(&a, kind, ret, err);
}

/* ---- Files ---------------------------------------------------------------------------------- */

static void bio_free_ptr(BIO **b)
{
	BIO_free(*b);
}

#define auto_bio __attribute__((cleanup(bio_free_ptr)))

static int write_bio(const char *path, BIO *b, mode_t mode, struct error *err)
{
	char *data = NULL;
	long n = BIO_get_mem_data(b, &data);

	return file_write_atomic(path, data, (size_t)n, mode, err);
}

static int write_key(const char *path, const EVP_PKEY *key, struct error *err)
{
	/* Secure memory is wiped when it is freed. */
	auto_bio BIO *b = BIO_new(BIO_s_secmem());

	if (!b || PEM_write_bio_PKCS8PrivateKey(b, key, NULL, NULL, 0, NULL, NULL) != 1)
		return tls_error_set(err, ERR_INTERNAL, "write a key");
	return write_bio(path, b, 0600, err);
}

static int write_chain(const char *path, X509 *first, X509 *second, struct error *err)
{
	auto_bio BIO *b = BIO_new(BIO_s_mem());

	if (!b || PEM_write_bio_X509(b, first) != 1 ||
		(second && PEM_write_bio_X509(b, second) != 1))
		return tls_error_set(err, ERR_INTERNAL, "write a certificate");
	return write_bio(path, b, 0644, err);
}

static int authority_read(const char *crt, const char *key, struct authority *a, struct error *err)
{
	auto_buf struct buf crt_text = BUF_INIT, key_text = BUF_INIT;
	auto_bio BIO *crt_bio = NULL, *key_bio = NULL;

	if (file_read(crt, PEM_MAX, &crt_text, err) < 0 ||
		file_read(key, PEM_MAX, &key_text, err) < 0)
		return -1;
	crt_bio = BIO_new_mem_buf(buf_str(&crt_text), (int)crt_text.n);
	key_bio = BIO_new_mem_buf(buf_str(&key_text), (int)key_text.n);
	a->crt = crt_bio ? PEM_read_bio_X509(crt_bio, NULL, NULL, NULL) : NULL;
	a->key = key_bio ? PEM_read_bio_PrivateKey(key_bio, NULL, NULL, NULL) : NULL;
	if (a->crt && a->key && X509_check_private_key(a->crt, a->key) == 1)
		return 0;
	error_set(err, ERR_CORRUPT, "'%s' and '%s' are not a certificate and its key", crt, key);
	tls_error_set(NULL, ERR_CORRUPT, "");
	return error_context(err, "certificates; remove both and the leaves beside them");
}

/* The folder's authority, made when it is not there. */
static int authority_open(const char *folder, struct authority *a, struct error *err)
{
	auto_free char *crt = path_join(folder, "ca.crt");
	auto_free char *key = path_join(folder, "ca.key");

	if (path_exists(crt) && path_exists(key))
		return authority_read(crt, key, a, err);
	if (authority_make(a, err) < 0 || write_key(key, a->key, err) < 0)
		return -1;
	return write_chain(crt, a->crt, NULL, err);
}

static char *file_of(const char *folder, const char *kind, const char *end)
{
	auto_free char *name = xasprintf("%s.%s", kind, end);

	return path_join(folder, name);
}

int certs_write(const char *folder, const char *kind, struct error *err)
{
	auto_free char *crt = file_of(folder, kind, "crt");
	auto_free char *key = file_of(folder, kind, "key");
	auto_authority struct authority a = {NULL, NULL};
	struct certs c = {NULL, NULL, NULL};
	int r;

	if (check_kind(kind, err) < 0 || dir_create(folder, 0755, err) < 0)
		return -1;
	if (path_exists(crt) && path_exists(key))
		return 0;
	/* A certificate beside another's key must not be left by a call that is cut short. */
	if (unlink(crt) < 0 && errno != ENOENT)
		return file_error(err, "remove", crt);
	if (authority_open(folder, &a, err) < 0 || sign_leaf(&a, kind, &c, err) < 0)
		return -1;
	r = write_key(key, c.key, err);
	if (r == 0)
		r = write_chain(crt, c.leaf, c.authority, err);
	certs_release(&c);
	return r;
}

int certs_give(const char *folder, const char *kind, uid_t uid, gid_t gid, struct error *err)
{
	auto_free char *key = file_of(folder, kind, "key");

	if (check_kind(kind, err) < 0)
		return -1;
	if (lchown(key, uid, gid) < 0)
		return file_error(err, "give away", key);
	return 0;
}
