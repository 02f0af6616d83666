/* A WebSocket server that does everything right but for one thing. */
#pragma once

#include "script.h"

enum echo_fault {
	ECHO_RIGHT,
	ECHO_FRAGMENTS,   /* every message comes back in frames of one byte, with pings between */
	ECHO_NO_CLOSE,    /* the connection ends in place of a Close */
	ECHO_STATUS,      /* a Close of status 1011 */
	ECHO_EMPTY_CLOSE, /* a Close without a status, which is right */
	ECHO_MORE,        /* one more message in place of a Close */
	ECHO_AFTER_CLOSE, /* a byte behind the Close */
	ECHO_STAYS,       /* a Close, but the connection does not end */
	ECHO_RESET,       /* a Close, and a reset: over is over */
};

struct echo;
struct echo *echo_start(enum echo_fault fault, SSL_CTX *tls, uint16_t *port);
/* n: messages that came whole, and pongs that were as they must be. */
void echo_stop(struct echo *e, uint64_t n[2]);
