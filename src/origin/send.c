/* Sending an answer by HTTP/1.1: head and framing come from c->out, the body from where it lies. */
#include "origin/server.h"

/* Appends the next chunk, or the last one, to c->out. An answer that ends wrongly has no last one.
 */
static void next_chunk(struct origin *o, struct client *c)
{
	struct answer *a = &c->x.answer;
	struct iovec run = body_run(o, &c->x, ORIGIN_CHUNK_SIZE);

	if (run.iov_len == 0) {
		if (a->after == AFTER_DONE)
			buf_adds(&c->out, "0\r\n\r\n");
		c->x.last_chunk_sent = true;
		return;
	}
	buf_addf(&c->out, "%zx\r\n", run.iov_len);
	buf_add(&c->out, run.iov_base, run.iov_len);
	buf_adds(&c->out, "\r\n");
	a->off += run.iov_len;
}

static void out_used(struct client *c)
{
	if (c->out_off == c->out.n) {
		buf_clear(&c->out);
		c->out_off = 0;
	}
}

static void fill_chunks(struct origin *o, struct client *c)
{
	out_used(c);
	while (!c->x.last_chunk_sent && c->out.n - c->out_off < ORIGIN_RX_SIZE)
		next_chunk(o, c);
}

static void advance(struct client *c, size_t n)
{
	size_t left = c->out.n - c->out_off;
	size_t from_out = left < n ? left : n;

	c->out_off += from_out;
	c->x.answer.off += n - from_out;
	out_used(c);
}

int answer_send(struct origin *o, struct client *c)
{
	struct answer *a = &c->x.answer;

	for (;;) {
		struct iovec v[2];
		ssize_t r;

		if (a->chunked && !a->head)
			fill_chunks(o, c);
		v[0].iov_base = c->out.n ? c->out.p + c->out_off : NULL;
		v[0].iov_len = c->out.n - c->out_off;
		v[1] = a->chunked ? (struct iovec){NULL, 0} : body_run(o, &c->x, ORIGIN_RUN_MAX);
		if (v[0].iov_len + v[1].iov_len == 0)
			return 1;
		r = transport_write(o, c, v);
		if (r < 0)
			return r == TRANSPORT_AGAIN ? 0 : -1;
		advance(c, (size_t)r);
		if (a->pause_ns && a->off < a->end) {
			timer_set(&o->timers, &c->x, o->now + a->pause_ns);
			return 0;
		}
		/* One client that reads fast must not keep the others waiting. */
		if ((size_t)r >= ORIGIN_RUN_MAX)
			return 0;
	}
}
