/* The built-in upstream server: HTTP/1.1 and HTTP/2, with and without TLS, on loopback. The path of
 * a request describes its answer (docs/origin.md; origin_paths has them all). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define ORIGIN_NO_PORT (-1)

struct origin_ports {
	int http;
	int tls;  /* ORIGIN_NO_PORT: TLS is not spoken */
	int dead; /* refuses every connection; ORIGIN_NO_PORT: there is none */
};

struct origin_options {
	const char *host;          /* "127.0.0.1", or another loopback address */
	struct origin_ports ports; /* 0: chosen by the kernel */
	const char *certs;         /* folder for certs_write(); NULL: made in memory */
	const char *key;           /* "ecdsa" (also when NULL) or "rsa" */
	bool no_resume;            /* every TLS handshake is a full one */
	int ready_fd;              /* gets "ports HTTP TLS DEAD\n" when listening; -1 */
	/* Called when listening; may be NULL. */
	void (*ready)(void *ctx, const struct origin_ports *ports);
	void *ready_ctx;
};

/* Serves until SIGTERM or SIGINT (taken through a signalfd), then lets the answers under way
 * finish, for two seconds at most, and returns 0. Both signals are blocked here and the mask is put
 * back at the end; a caller that wants to end in peace blocks them itself, so that a second signal
 * does not kill it on its way out. */
int origin_serve(const struct origin_options *o, struct error *err);

/* The bytes off to off+n of the body of /bytes/N, for whoever must expect them: lines of 16 bytes,
 * each its own offset in 15 lower-case hexadecimal digits and a newline. */
void origin_pattern(uint64_t off, void *to, size_t n);

/* What every path answers, for --help: pairs of path and meaning, ended by a NULL. */
extern const char *const origin_paths[][2];
