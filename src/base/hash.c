#include "base/hash.h"

#include <openssl/evp.h>
#include <openssl/md5.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"

void sha256_begin(struct sha256 *h)
{
	h->ctx = EVP_MD_CTX_new();
	if (!h->ctx || EVP_DigestInit_ex(h->ctx, EVP_sha256(), NULL) != 1)
		mem_exhausted();
}

void sha256_add(struct sha256 *h, const void *data, size_t n)
{
	if (EVP_DigestUpdate(h->ctx, data, n) != 1)
		mem_exhausted();
}

void sha256_adds(struct sha256 *h, const char *s)
{
	s = s ? s : "";
	sha256_add(h, s, strlen(s) + 1);
}

void sha256_end(struct sha256 *h, char hex[SHA256_HEX])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char raw[32];

	if (EVP_DigestFinal_ex(h->ctx, raw, NULL) != 1)
		mem_exhausted();
	EVP_MD_CTX_free(h->ctx);
	h->ctx = NULL;
	for (size_t i = 0; i < sizeof(raw); i++) {
		hex[2 * i] = digits[raw[i] >> 4];
		hex[2 * i + 1] = digits[raw[i] & 15];
	}
	hex[64] = '\0';
}

void sha256_of(const void *data, size_t n, char hex[SHA256_HEX])
{
	struct sha256 h;

	sha256_begin(&h);
	sha256_add(&h, data, n);
	sha256_end(&h, hex);
}

int sha256_file(const char *path, char hex[SHA256_HEX], struct error *err)
{
	struct file_map m = {0};

	if (file_map(path, &m, err) < 0)
		return -1;
	sha256_of(m.p, m.n, hex);
	file_unmap(&m);
	return 0;
}

uint64_t md5_name(const void *data, size_t n)
{
	unsigned char raw[16];
	uint64_t v = 0;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
	/* The one-shot form needs no context and no provider lookup: names come by the
	 * hundred thousand. */
	MD5(data, n, raw);
#pragma GCC diagnostic pop
	for (int i = 7; i >= 0; i--)
		v = v << 8 | raw[i];
	return v;
}
