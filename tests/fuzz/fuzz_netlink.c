/* Any bytes as what the kernel says of its sockets: the rows are those of an independent reading,
 * whether the messages come in one answer or in two. */
#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "http_script.h"
#include "load/sockdiag.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define MESSAGE_HEAD 16 /* length, type, flags, number, port */
#define ROW_HEAD 72     /* struct inet_diag_msg */
#define PORT 80

static uint32_t number(const uint8_t *p, size_t size)
{
	uint32_t v = 0;

	memcpy(&v, p, size);
	return v;
}

struct reading {
	size_t n, last; /* rows, and where the last whole message begins */
	bool more, refused;
};

/* By offsets alone. */
static struct reading read_again(const uint8_t *p, size_t n)
{
	struct reading r = {.more = true};

	for (size_t at = 0; r.more && n - at >= MESSAGE_HEAD;) {
		size_t length = number(p + at, 4), step = (length + 3) & ~(size_t)3;
		uint32_t type = number(p + at + 4, 2);

		if (length < MESSAGE_HEAD || length > n - at)
			break;
		r.last = at;
		r.refused |= type == NLMSG_ERROR;
		r.more = type != NLMSG_ERROR && type != NLMSG_DONE;
		if (r.more && length >= MESSAGE_HEAD + ROW_HEAD) {
			const uint8_t *id = p + at + MESSAGE_HEAD + 4;

			r.n += (id[0] << 8 | id[1]) == PORT || (id[2] << 8 | id[3]) == PORT;
		}
		if (step > n - at)
			break;
		at += step;
	}
	return r;
}

static void sane(const struct sockdiag *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct sockdiag_row *row = &s->v[i];
		auto_buf struct buf b = BUF_INIT;

		must(row->local == PORT || row->remote == PORT, "a row of another port");
		must(sockdiag_find(s, row->local, row->remote) != NULL, "a row is not found");
		sockdiag_describe(&b, row);
		for (size_t k = 0; k < b.n; k++)
			must(b.p[k] >= ' ' && b.p[k] < 0x7f, "a description is not plain text");
	}
}

static void tell(const struct sockdiag *s)
{
	for (size_t i = 0; i < s->n && telling(); i++) {
		auto_buf struct buf b = BUF_INIT;

		sockdiag_describe(&b, &s->v[i]);
		printf("%u to %u: %s\n", s->v[i].local, s->v[i].remote, b.p);
	}
	if (telling() && s->refused)
		printf("refused\n");
}

static bool same(const struct sockdiag_row *a, const struct sockdiag_row *b)
{
	return a->local == b->local && a->remote == b->remote && a->state == b->state &&
	       a->unread == b->unread && a->unsent == b->unsent && a->probing == b->probing &&
	       a->has_info == b->has_info && a->rtt_us == b->rtt_us &&
	       a->retransmits == b->retransmits && a->received_ms == b->received_ms &&
	       a->retransmits_total == b->retransmits_total && a->sent_ms == b->sent_ms;
}

/* A copy of exactly these bytes, aligned, so that reading on is seen. */
static bool take(struct sockdiag *s, const uint8_t *p, size_t n)
{
	uint8_t *copy = xmalloc(n);
	bool more;

	if (n)
		memcpy(copy, p, n);
	more = sockdiag_take(s, copy, n, PORT);
	free(copy);
	return more;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct reading r = read_again(data, n);
	struct sockdiag whole = {0}, cut = {0};
	bool more;

	must(sizeof(struct inet_diag_msg) == ROW_HEAD && NLMSG_HDRLEN == MESSAGE_HEAD,
		"the kernel's structures have other sizes");
	must(take(&whole, data, n) == r.more, "it goes on, or does not");
	must(whole.refused == r.refused, "refused, or not");
	must(whole.n == r.n, "other rows");
	sane(&whole);
	tell(&whole);
	more = take(&cut, data, r.last);
	must(more && take(&cut, data + r.last, n - r.last) == r.more, "it goes on when cut");
	must(cut.n == whole.n && cut.refused == whole.refused, "other rows when cut");
	for (size_t i = 0; i < cut.n; i++)
		must(same(&whole.v[i], &cut.v[i]), "another row when cut");
	sockdiag_release(&whole);
	sockdiag_release(&cut);
	return 0;
}
