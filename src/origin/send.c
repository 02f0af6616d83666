/* Sending an answer: head and framing come from c->out, the body from where it lies. */
#include "origin/server.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>

static size_t smaller(uint64_t a, size_t b)
{
	return a < b ? (size_t)a : b;
}

/* The body bytes that can go out now, as they lie in memory. */
static struct iovec body_run(struct origin *o, const struct client *c)
{
	const struct answer *a = &c->answer;
	struct iovec v = {NULL, 0};
	uint64_t left = a->end - a->off;

	if (a->source == SOURCE_NONE || a->head || a->chunked || left == 0)
		return v;
	if (a->pause_ns)
		left = 1;
	if (a->source == SOURCE_MEMORY) {
		v.iov_base = c->kept.p + a->off;
		v.iov_len = (size_t)left;
	} else if (a->off < ORIGIN_TABLE_SIZE) {
		v.iov_base = o->table + a->off;
		v.iov_len = smaller(left, smaller(ORIGIN_TABLE_SIZE - a->off, ORIGIN_RUN_MAX));
	} else {
		v.iov_base = o->scratch;
		v.iov_len = smaller(left, ORIGIN_RX_SIZE);
		origin_pattern(a->off, o->scratch, v.iov_len);
	}
	return v;
}

/* Appends the next chunk, or the last one, to c->out. */
static void next_chunk(struct client *c)
{
	struct answer *a = &c->answer;
	size_t n = smaller(a->end - a->off, ORIGIN_CHUNK_SIZE);
	char *p;

	if (n == 0) {
		buf_adds(&c->out, "0\r\n\r\n");
		c->last_chunk_sent = true;
		return;
	}
	buf_addf(&c->out, "%zx\r\n", n);
	p = buf_reserve(&c->out, n);
	if (p) {
		origin_pattern(a->off, p, n);
		c->out.n += n;
	}
	buf_adds(&c->out, "\r\n");
	a->off += n;
}

static void fill_chunks(struct client *c)
{
	if (c->out_off == c->out.n) {
		buf_clear(&c->out);
		c->out_off = 0;
	}
	while (!c->last_chunk_sent && c->out.n - c->out_off < ORIGIN_RX_SIZE)
		next_chunk(c);
}

static void advance(struct client *c, size_t n)
{
	size_t from_out = smaller(c->out.n - c->out_off, n);

	c->out_off += from_out;
	c->answer.off += n - from_out;
	if (c->out_off == c->out.n) {
		buf_clear(&c->out);
		c->out_off = 0;
	}
}

int answer_send(struct origin *o, struct client *c)
{
	for (;;) {
		struct iovec v[2];
		struct msghdr m = {.msg_iov = v, .msg_iovlen = 2};
		ssize_t r;

		if (c->answer.chunked && !c->answer.head)
			fill_chunks(c);
		v[0].iov_base = c->out.n ? c->out.p + c->out_off : NULL;
		v[0].iov_len = c->out.n - c->out_off;
		v[1] = body_run(o, c);
		if (v[0].iov_len + v[1].iov_len == 0)
			return 1;
		r = sendmsg(c->fd, &m, MSG_NOSIGNAL);
		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -1;
		c->moved_ns = o->now;
		advance(c, (size_t)r);
		if (c->answer.pause_ns && c->answer.off < c->answer.end) {
			timer_set(&o->timers, c, o->now + c->answer.pause_ns);
			return 0;
		}
		/* One client that reads fast must not keep the others waiting. */
		if ((size_t)r >= ORIGIN_RUN_MAX)
			return 0;
	}
}
