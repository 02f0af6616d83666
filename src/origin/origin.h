/* The built-in upstream server: HTTP/1.1 on loopback, answers described by the path
 * (docs/origin.md): /bytes/N, /echo, /status/N, /delay/MS/…, /reset, /half/N, /slow/N, /health. */
#pragma once

#include <stdint.h>

#include "base/error.h"

struct origin_options {
	const char *host; /* "127.0.0.1" */
	uint16_t port;    /* 0: chosen by the kernel */
	int ready_fd;     /* gets "port N\n" when listening; -1 */
};

/* Serves until SIGTERM or SIGINT (blocked by the caller, taken through a signalfd inside). */
int origin_serve(const struct origin_options *o, struct error *err);
