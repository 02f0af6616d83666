#include "load/sockdiag.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/mem.h"

/* Numbers of include/net/tcp_states.h and of idiag_timer. */
#define STATE_TIME_WAIT 6
#define TIMER_PROBE 4
#define ROWS_MAX 100000

const char *sockdiag_state(unsigned int state)
{
	static const char *const names[] = {"?", "established", "syn-sent", "syn-received",
		"fin-wait-1", "fin-wait-2", "time-wait", "closed", "close-wait", "last-ack",
		"listen", "closing", "new-syn-received"};

	return state < ARRAY_SIZE(names) ? names[state] : names[0];
}

static void add_info(struct sockdiag_row *r, const struct rtattr *a)
{
	struct tcp_info ti = {0};
	size_t n = RTA_PAYLOAD(a);

	memcpy(&ti, RTA_DATA(a), n < sizeof(ti) ? n : sizeof(ti));
	r->has_info = true;
	r->rtt_us = ti.tcpi_rtt;
	r->retransmits = ti.tcpi_retransmits;
	r->retransmits_total = ti.tcpi_total_retrans;
	r->received_ms = ti.tcpi_last_data_recv;
	r->sent_ms = ti.tcpi_last_data_sent;
}

static void add_row(struct sockdiag *s, const struct nlmsghdr *h, uint16_t port)
{
	const struct inet_diag_msg *m = NLMSG_DATA(h);
	const struct rtattr *a = (const struct rtattr *)(m + 1);
	int left;
	struct sockdiag_row r;

	if (h->nlmsg_len < NLMSG_LENGTH(sizeof(*m)) || s->n >= ROWS_MAX)
		return;
	left = (int)(h->nlmsg_len - NLMSG_LENGTH(sizeof(*m)));
	r = (struct sockdiag_row){.local = ntohs(m->id.idiag_sport),
		.remote = ntohs(m->id.idiag_dport),
		.state = m->idiag_state,
		.unread = m->idiag_rqueue,
		.unsent = m->idiag_wqueue,
		.probing = m->idiag_timer == TIMER_PROBE};
	if (r.local != port && r.remote != port)
		return;
	for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type == INET_DIAG_INFO)
			add_info(&r, a);
	array_reserve(s->v, s->n, s->cap);
	s->v[s->n++] = r;
}

bool sockdiag_take(struct sockdiag *s, const void *answer, size_t n, uint16_t port)
{
	const struct nlmsghdr *h = answer;

	/* The last message need not be padded: its padding may lie behind the end. */
	for (size_t at = 0; at < n && NLMSG_OK(h, n - at);) {
		if (h->nlmsg_type == NLMSG_ERROR)
			s->refused = true;
		if (h->nlmsg_type == NLMSG_ERROR || h->nlmsg_type == NLMSG_DONE)
			return false;
		add_row(s, h, port);
		at += NLMSG_ALIGN(h->nlmsg_len);
		h = (const void *)((const char *)answer + at);
	}
	return true;
}

/* False at the end of the answer, also by an error. */
static bool take_answer(int fd, struct sockdiag *s, uint16_t port)
{
	union {
		struct nlmsghdr h;
		char bytes[65536];
	} answer;
	ssize_t got = recv(fd, &answer, sizeof(answer), 0);

	if (got <= 0) {
		s->refused = s->refused || got < 0;
		return false;
	}
	return sockdiag_take(s, &answer, (size_t)got, port);
}

static void read_family(int fd, uint8_t family, uint16_t port, struct sockdiag *s)
{
	struct {
		struct nlmsghdr h;
		struct inet_diag_req_v2 r;
	} ask = {
		.h = {.nlmsg_len = sizeof(ask),
			.nlmsg_type = SOCK_DIAG_BY_FAMILY,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
		.r = {.sdiag_family = family,
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_ext = 1 << (INET_DIAG_INFO - 1),
			.idiag_states = ~(1U << STATE_TIME_WAIT)},
	};

	if (send(fd, &ask, sizeof(ask), 0) != (ssize_t)sizeof(ask)) {
		s->refused = true;
		return;
	}
	while (take_answer(fd, s, port))
		;
}

void sockdiag_read(uint16_t port, struct sockdiag *ret)
{
	auto_close int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	struct timeval limit = {.tv_sec = 1};

	*ret = (struct sockdiag){.refused = fd < 0};
	if (fd < 0)
		return;
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	read_family(fd, AF_INET, port, ret);
	read_family(fd, AF_INET6, port, ret); /* a server on [::] has its IPv4 peers there */
}

const struct sockdiag_row *sockdiag_find(const struct sockdiag *s, uint16_t local, uint16_t remote)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->v[i].local == local && s->v[i].remote == remote)
			return &s->v[i];
	return NULL;
}

void sockdiag_describe(struct buf *b, const struct sockdiag_row *r)
{
	buf_addf(b, "%s, unread %u bytes, unsent or unacknowledged %u bytes",
		sockdiag_state(r->state), r->unread, r->unsent);
	if (r->probing)
		buf_adds(b, ", the other end's window is closed");
	if (r->has_info)
		buf_addf(b,
			", rtt %u us, retransmits %u (total %u), data last came in %.3f s ago and "
			"went out %.3f s ago",
			r->rtt_us, r->retransmits, r->retransmits_total,
			(double)r->received_ms / 1e3, (double)r->sent_ms / 1e3);
}

void sockdiag_release(struct sockdiag *s)
{
	free(s->v);
	*s = (struct sockdiag){0};
}
