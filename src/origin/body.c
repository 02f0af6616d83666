/* The bytes of an answer's body. */
#include "origin/server.h"

static size_t smaller(uint64_t a, size_t b)
{
	return a < b ? (size_t)a : b;
}

/* Up to the changed byte, then that byte alone, then the rest. */
static void flip(struct origin *o, const struct answer *a, struct iovec *v)
{
	if (a->flip_at < a->off || a->flip_at >= a->off + v->iov_len)
		return;
	if (a->flip_at > a->off) {
		v->iov_len = (size_t)(a->flip_at - a->off);
		return;
	}
	o->scratch[0] = (char)(*(char *)v->iov_base ^ 1);
	v->iov_base = o->scratch;
	v->iov_len = 1;
}

static struct iovec other_run(struct origin *o, const struct exchange *x, size_t n)
{
	const struct answer *a = &x->answer;

	if (a->source == SOURCE_MEMORY)
		return (struct iovec){x->kept.p + a->off, n};
	if (n > ORIGIN_RX_SIZE)
		n = ORIGIN_RX_SIZE;
	events_text(a->off, o->scratch, n);
	return (struct iovec){o->scratch, n};
}

struct iovec body_run(struct origin *o, const struct exchange *x, size_t max)
{
	const struct answer *a = &x->answer;
	struct iovec v = {NULL, 0};
	uint64_t left = a->end - a->off;

	if (a->source == SOURCE_NONE || a->head || left == 0)
		return v;
	if (a->pause_ns)
		left = 1;
	if (a->source != SOURCE_PATTERN) {
		v = other_run(o, x, smaller(left, max));
	} else if (a->off < ORIGIN_TABLE_SIZE) {
		v.iov_base = o->table + a->off;
		v.iov_len = smaller(left, smaller(ORIGIN_TABLE_SIZE - a->off, max));
	} else {
		v.iov_base = o->scratch;
		v.iov_len = smaller(left, smaller(ORIGIN_RX_SIZE, max));
		origin_pattern(a->off, o->scratch, v.iov_len);
	}
	if (a->flip)
		flip(o, a, &v);
	return v;
}
