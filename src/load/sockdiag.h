/* TCP sockets of this machine as the kernel tells of them (sock_diag(7)): also those of other
 * processes, with their queues and retransmissions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct sockdiag_row {
	uint16_t local, remote; /* ports */
	unsigned int state;     /* TCP_ESTABLISHED, … */
	/* Bytes received and not read yet, and sent or to be sent and not acknowledged; of a
	 * listening socket: connections that wait for accept(), and how many may. */
	uint32_t unread, unsent;
	bool probing; /* the other end's window is closed */
	bool has_info;
	uint32_t rtt_us, retransmits, retransmits_total;
	uint32_t received_ms, sent_ms; /* since data last came in, and last went out */
};

struct sockdiag {
	struct sockdiag_row *v;
	size_t n, cap;
	bool refused; /* the kernel tells nothing: a sandbox, or one without sock_diag */
};

/* All TCP sockets, IPv4 and IPv6, that have this port at one of their ends, but those in
 * TIME_WAIT. */
void sockdiag_read(uint16_t port, struct sockdiag *ret);
/* Adds the rows of one answer of the kernel: n bytes of netlink messages, aligned as such. False
 * when it is the last one. */
bool sockdiag_take(struct sockdiag *s, const void *answer, size_t n, uint16_t port);
/* NULL: there is none. */
const struct sockdiag_row *sockdiag_find(const struct sockdiag *s, uint16_t local, uint16_t remote);
const char *sockdiag_state(unsigned int state); /* "established", … */
/* "established, unread 12 bytes, …" */
void sockdiag_describe(struct buf *b, const struct sockdiag_row *r);
void sockdiag_release(struct sockdiag *s);
#define auto_sockdiag __attribute__((cleanup(sockdiag_release)))
