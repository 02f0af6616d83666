/* Digests, by libcrypto. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SHA256_HEX 65 /* 64 digits and the NUL */

struct sha256 {
	void *ctx; /* EVP_MD_CTX */
};

void sha256_begin(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *data, size_t n);
/* Adds the text and its NUL, so that ("ab","c") and ("a","bc") differ. NULL counts as "". */
void sha256_adds(struct sha256 *h, const char *s);
void sha256_end(struct sha256 *h, char hex[SHA256_HEX]); /* frees the context */

void sha256_of(const void *data, size_t n, char hex[SHA256_HEX]);
int sha256_file(const char *path, char hex[SHA256_HEX], struct error *err);

/* First eight bytes of the MD5 of n bytes, read as a little-endian number: LLVM's NameRef. */
uint64_t md5_name(const void *data, size_t n);
