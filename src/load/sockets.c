/* What every connection was doing when the time ran out: ours, and the server's end of it as far as
 * the kernel tells. "12 bytes unread" at the server's end says that it did not even read. */
#include "load/driver.h"

#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "load/sockdiag.h"

#define DESCRIBE_MAX 64 /* connections listed; the others are counted by state */

static const char *tcp_state_name(unsigned s)
{
	static const char *const names[] = {"?", "ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1",
		"FIN_WAIT2", "TIME_WAIT", "CLOSE", "CLOSE_WAIT", "LAST_ACK", "LISTEN", "CLOSING"};

	return s < sizeof(names) / sizeof(names[0]) ? names[s] : "?";
}

static void add_state(struct buf *b, const struct load *l, const struct exchange *x, size_t n)
{
	static const char *const opening[] = {[CONN_CLOSED] = "waiting for a connection",
		[CONN_CONNECTING] = "connecting",
		[CONN_HANDSHAKE] = "in the TLS handshake",
		[CONN_OPEN] = "waiting for a connection"};

	if (x->state == EXCHANGE_WAITING)
		buf_adds(b, opening[x->c->state]);
	else if (x->state == EXCHANGE_BODY)
		buf_adds(b, "inside the answer's body");
	else if (x->state == EXCHANGE_SOCKET)
		load_ws_describe(b, l, x);
	else if (x->out_off < n)
		buf_adds(b, "sending the request");
	else if (x->answer_n)
		buf_adds(b, "inside the answer's head");
	else
		buf_adds(b, "waiting for the answer");
}

static void add_waiting(struct buf *b, const struct load *l, const struct exchange *x)
{
	const struct load_request *r = l->classes[x->class].r;
	size_t n = l->h2 ? r->body_n : conn_request_bytes(l, x->c)->n;
	double s = (double)(l->now - x->c->moved_ns) / 1e9;

	add_state(b, l, x, n);
	buf_addf(b,
		" of %s %s (request %llu), nothing moved for %.3f s; sent %zu of %zu bytes, got "
		"%llu",
		r->method, r->path, (unsigned long long)x->seq, s, x->out_off, n,
		(unsigned long long)x->answer_n);
	if (x->reading && l->classes[x->class].r->events.count)
		load_events_describe(b, l, x);
	else if (x->state == EXCHANGE_BODY && x->has_length)
		buf_addf(b, " (%llu of %llu of the body)", (unsigned long long)x->got,
			(unsigned long long)x->length);
}

static void add_kernel_view(struct buf *b, const struct conn *c)
{
	struct tcp_info ti;
	socklen_t n = sizeof(ti);
	int unread = 0, unsent = 0;

	memset(&ti, 0, sizeof(ti));
	if (getsockopt(c->t.fd, IPPROTO_TCP, TCP_INFO, &ti, &n) < 0)
		return;
	(void)ioctl(c->t.fd, SIOCINQ, &unread);
	(void)ioctl(c->t.fd, SIOCOUTQ, &unsent);
	buf_addf(b,
		"; tcp %s, rtt %u us, retransmits %u (total %u), unacked %u, unread %d bytes, "
		"unacknowledged %d bytes",
		tcp_state_name(ti.tcpi_state), ti.tcpi_rtt, ti.tcpi_retransmits,
		ti.tcpi_total_retrans, ti.tcpi_unacked, unread, unsent);
}

/* Both ends as the kernel has them: of ours, whether the server's window is closed. */
static void add_peer(struct buf *b, const struct sockdiag *table, uint16_t server, uint16_t own)
{
	const struct sockdiag_row *mine = sockdiag_find(table, own, server);
	const struct sockdiag_row *peer = sockdiag_find(table, server, own);

	if (mine && mine->probing)
		buf_adds(b, "; the server's window is closed: it does not read");
	if (peer) {
		buf_adds(b, "; server's end ");
		sockdiag_describe(b, peer);
	} else if (!table->refused) {
		buf_adds(b, "; the server's end does not exist");
	}
}

static void describe_one(
	struct buf *b, const struct load *l, const struct exchange *x, const struct sockdiag *table)
{
	const struct conn *c = x->c;
	struct loopback own;
	socklen_t n = sizeof(own.v6);

	memset(&own, 0, sizeof(own));
	if (c->t.fd < 0 || getsockname(c->t.fd, &own.sa, &n) < 0) {
		buf_adds(b, "\n  (no socket): closed");
		return;
	}
	buf_addf(b, "\n  port %u to %s: ", loopback_port(&own), l->addr.text);
	add_waiting(b, l, x);
	add_kernel_view(b, c);
	add_peer(b, table, loopback_port(&l->addr), loopback_port(&own));
}

static void add_counts(struct buf *b, const struct load *l)
{
	size_t by_state[EXCHANGE_STATES] = {0}, closed = 0, opening = 0;

	for (uint32_t i = 0; i < l->plan.connections; i++) {
		const struct conn *c = &l->conns[i];

		closed += c->state == CONN_CLOSED;
		opening += c->state == CONN_CONNECTING || c->state == CONN_HANDSHAKE;
		for (uint32_t s = 0; s < l->streams; s++)
			by_state[c->x[s].state] += c->state != CONN_CLOSED;
	}
	buf_addf(b,
		"%llu of %llu requests answered, %llu under way on %u connections to %s: %zu "
		"connecting, %zu waiting for an answer, %zu inside a body, %zu idle, %zu closed",
		(unsigned long long)l->answered, (unsigned long long)l->slice_requests,
		(unsigned long long)l->under_way, l->plan.connections, l->addr.text, opening,
		by_state[EXCHANGE_HEAD], by_state[EXCHANGE_BODY] + by_state[EXCHANGE_SOCKET],
		by_state[EXCHANGE_IDLE], closed);
}

char *sockets_describe(const struct load *l)
{
	auto_sockdiag struct sockdiag table = {0};
	auto_buf struct buf b = BUF_INIT;
	uint32_t listed = 0, busy = 0;

	sockdiag_read(loopback_port(&l->addr), &table);
	add_counts(&b, l);
	for (uint32_t i = 0; i < l->plan.connections * l->streams; i++) {
		const struct exchange *x = &l->exchanges[i];

		if (x->state == EXCHANGE_IDLE)
			continue;
		busy++;
		if (listed == DESCRIBE_MAX)
			continue;
		listed++;
		describe_one(&b, l, x, &table);
	}
	if (busy > listed)
		buf_addf(&b, "\n  and %u more", busy - listed);
	return buf_detach(&b);
}
