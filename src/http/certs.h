/* Certificates for servers under training and for the origin: fresh keys, localhost alone.
 *
 * A leaf is for localhost, 127.0.0.1 and ::1. Its authority may sign for loopback only (name
 * constraints), so a copy that somebody trusts by mistake is good for nothing else. */
#pragma once

#include <sys/types.h>

#include <openssl/types.h>

#include "base/error.h"

/* kind "rsa" (2048 bits) or "ecdsa" (P-256). Writes FOLDER/KIND.crt (leaf, then authority, PEM) and
 * FOLDER/KIND.key (PKCS #8, PEM), signed by the authority FOLDER/ca.crt, FOLDER/ca.key, which is
 * made by the first call for a folder. What is there already is kept. Each file appears whole or
 * not at all, a .crt after its .key. The folder is made when it is absent (mode 0755). Not for
 * several processes in one folder at the same time.
 *
 * Keys have mode 0600 and belong to the caller. A server that reads its key as the same user, or as
 * root before it changes to another user (nginx, PHP-FPM), needs nothing more. One that is another
 * user from its first instruction gets the key by certs_give(). */
int certs_write(const char *folder, const char *kind, struct error *err);

/* Makes FOLDER/KIND.key the property of that user and group, still with mode 0600, as servers that
 * look at the mode ask for (PostgreSQL). Needs root unless the caller is that user. A key has one
 * owner (root reads it all the same): servers of two other users need a folder each. */
int certs_give(const char *folder, const char *kind, uid_t uid, gid_t gid, struct error *err);

/* The same in memory, with an authority of its own whose key is dropped. */
struct certs {
	X509 *leaf, *authority;
	EVP_PKEY *key; /* the leaf's */
};
int certs_make(const char *kind, struct certs *ret, struct error *err);
void certs_release(struct certs *c);
