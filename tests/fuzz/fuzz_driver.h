/* The load driver against a peer in memory: its transport, epoll and clock are taken over at link
 * time (-Wl,--wrap), everything above them is the driver as it is. */
#pragma once

#include "base/buf.h"
#include "http_script.h"
#include "load/load.h"

#define DRIVER_LINKS 32

/* One connection as the peer saw it. */
struct driver_link {
	struct buf sent;   /* by the driver */
	const char *bytes; /* the peer's, as many as were delivered */
	size_t n;
	uint64_t served;  /* answers that the driver took */
	size_t served_at; /* bytes delivered when it had taken the last of them */
	bool ended;       /* the driver read the end */
};

struct driver_run {
	struct load_result result;
	struct driver_link links[DRIVER_LINKS];
	size_t n_links;
	/* More bytes came in the same round behind an answer, which the driver can only know when
	 * they come by the same read. */
	bool surplus;
	/* How bytes come decides inside nghttp2: by h2_cut_counts(), and as a session that has
	 * ended passes over further calls, but not over what comes by the same one. */
	bool undecided;
};

struct driver_options {
	enum cut how;
	bool inside; /* HTTP/2: the pieces go to nghttp2, and the driver acts after the round alone
		      */
	bool stingy; /* the peer takes 20 bytes at a time */
	size_t memory; /* the most that may be allocated at any time */
};

void driver_run(const struct load_plan *p, const struct script *s, const struct driver_options *o,
	struct driver_run *ret);
void driver_free(struct driver_run *r);
/* Both are the same: counts, what was sent, and the problem but for what the message quotes. */
void driver_must_agree(const struct driver_run *a, const struct driver_run *b);
/* Result and problem in one line, when telling(). */
void driver_tell(const struct driver_run *r);
