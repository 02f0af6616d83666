/* The built-in upstream server: HTTP/1.1 on loopback, answers described by the path
 * (docs/origin.md): /bytes/N, /chunked/N, /echo, /status/N, /delay/MS/…, /reset, /close, /half/N,
 * /slow/N, /health. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct origin_options {
	const char *host; /* "127.0.0.1", or another loopback address */
	uint16_t port;    /* 0: chosen by the kernel */
	int ready_fd;     /* gets "port N\n" when listening; -1 */
	/* Called when listening; may be NULL. */
	void (*ready)(void *ctx, uint16_t port);
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
