/* The origin against clients in memory: its transport and epoll are taken over at link time
 * (-Wl,--wrap), everything above them is the origin as it is. Time goes on only when nothing else
 * can happen. */
#pragma once

#include "base/buf.h"
#include "http_script.h"

#define ORIGIN_CLIENTS 32
#define ORIGIN_SENT_MAX ((size_t)48 << 10) /* then the client goes away */

struct origin_client {
	struct buf sent;   /* by the origin, ORIGIN_SENT_MAX at most */
	const char *bytes; /* the client's, as many as were delivered */
	size_t n;
	bool full;  /* it went away because it got enough */
	bool ended; /* the origin ended the connection, or its sending, before the client did */
};

struct origin_run {
	struct origin_client clients[ORIGIN_CLIENTS];
	size_t n;
	/* How bytes come decides inside nghttp2: by h2_cut_counts(), and as a session that has
	 * ended passes over further calls, but not over what comes by the same one. */
	bool undecided;
};

struct origin_run_options {
	enum cut how;
	bool inside; /* HTTP/2: the pieces go to nghttp2, and the origin acts after the round alone
		      */
	bool stingy; /* the clients take 1000 bytes at a time */
	size_t memory;
};

/* The script's connections, one after the other, by one origin. */
void origin_run(const struct script *s, const struct origin_run_options *o, struct origin_run *ret);
void origin_free(struct origin_run *r);
void origin_must_agree(const struct origin_run *a, const struct origin_run *b);
