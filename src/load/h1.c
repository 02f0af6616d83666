/* HTTP/1.1: one request at a time on a connection, written as it was rendered. */
#include "load/driver.h"

#include <string.h>

#include "base/clock.h"

#define SEEN_MAX 2048 /* bytes of a head that are worth keeping */

void load_h1_send(struct load *l, struct conn *c)
{
	const struct request_bytes *q = conn_request_bytes(l, c);
	struct exchange *x = c->x;
	char why[TRANSPORT_WHY];

	while (x->out_off < q->n) {
		ssize_t r = transport_write(&c->t, q->p + x->out_off, q->n - x->out_off, why);

		if (r < 0) {
			/* An early answer (413, say) may still be there to read: it decides. */
			conn_interest(l, c, r == TRANSPORT_AGAIN && c->t.want_out);
			return;
		}
		x->out_off += (size_t)r;
		c->bytes_out += (uint64_t)r;
		c->moved_ns = l->now;
	}
	conn_interest(l, c, false);
}

void load_h1_begin(struct load *l, struct exchange *x)
{
	http_response_begin(&x->c->head);
	buf_clear(&x->c->part);
	load_h1_send(l, x->c);
}

static void done(struct load *l, struct conn *c)
{
	if (!c->head.keep || c->body.kind == HTTP_BODY_UNTIL_CLOSE ||
		c->x->out_off < conn_request_bytes(l, c)->n)
		c->last = true;
	exchange_done(l, c->x);
}

/* A body whose digest alone is known is hashed from its head on. */
static bool same_head_is_right(const struct load_class *k)
{
	return !k->teaches && (k->body || !k->r->expect_sha256);
}

static void remember_head(struct load_class *k, const struct http_head *h, const char *p)
{
	if (h->size > SEEN_MAX || k->r->events.count || !same_head_is_right(k))
		return;
	buf_clear(&k->seen);
	buf_add(&k->seen, p, h->size);
	memcpy(&k->seen_head, h, offsetof(struct http_head, fields));
}

/* The same bytes as those that were right before need not be parsed and judged again. */
static size_t known_head(struct load *l, struct conn *c, const char *p, size_t n)
{
	const struct load_class *k = &l->classes[c->x->class];

	if (n < k->seen.n || k->seen.n == 0 || memcmp(p, k->seen.p, k->seen.n) != 0 ||
		!same_head_is_right(k))
		return 0;
	memcpy(&c->head, &k->seen_head, offsetof(struct http_head, fields));
	answer_head_known(c->x, &c->head);
	http_response_body(&c->body, &c->head, k->head);
	c->x->state = EXCHANGE_BODY;
	return k->seen.n;
}

/* The head of an answer; gives the bytes used, or 0 when the answer is not to be read on. */
static size_t feed_head(struct load *l, struct conn *c, const char *p, size_t n)
{
	struct load_class *k = &l->classes[c->x->class];
	size_t known = known_head(l, c, p, n);
	enum http_progress r;

	if (known)
		return known;
	r = http_head_parse(&c->head, p, n);
	if (r == HTTP_BAD) {
		auto_buf struct buf b = BUF_INIT;
		size_t at = c->head.problem_at < n ? c->head.problem_at : n;

		text_quote(&b, p + at, n - at, 80);
		load_problem(l, c->x, "expected an HTTP/1.1 answer, but %s: %s", c->head.problem,
			buf_str(&b));
		return 0;
	}
	if (r == HTTP_MORE)
		return 0;
	if (c->head.status < 200) {
		size_t size = c->head.size;

		if (k->ws && c->head.status == 101)
			return load_ws_begin(l, c, p) ? size : 0;
		if (!answer_interim_ok(l, c->x, c->head.status))
			return 0;
		http_response_begin(&c->head);
		return size;
	}
	if (!answer_head_ok(
		    l, c->x, &c->head, p, (struct http_piece){p + c->head.size, n - c->head.size}))
		return 0;
	remember_head(k, &c->head, p);
	http_response_body(&c->body, &c->head, k->head);
	c->x->state = EXCHANGE_BODY;
	return c->head.size;
}

/* Bytes of the body; true when the answer is complete, *off is moved over what was used. */
static bool feed_body(struct load *l, struct conn *c, const char *p, size_t n, size_t *off)
{
	for (;;) {
		struct http_piece piece;
		size_t used;
		enum http_progress r = http_body_feed(&c->body, p + *off, n - *off, &used, &piece);

		*off += used;
		if (piece.n && !answer_piece_ok(l, c->x, piece))
			return false;
		if (r == HTTP_BAD) {
			load_problem(l, c->x,
				"expected a body in chunks, but %s (after %llu bytes of it)",
				c->body.problem, (unsigned long long)c->body.got);
			return false;
		}
		if (r == HTTP_DONE)
			return true;
		if (*off == n)
			return false;
	}
}

static void surplus(struct load *l, const struct conn *c, const char *p, size_t n)
{
	auto_buf struct buf b = BUF_INIT;

	text_quote(&b, p, n, 80);
	load_problem(l, c->x, "expected the answer to end after its body, got %zu more bytes: %s",
		n, buf_str(&b));
}

static void feed_answer(struct load *l, struct conn *c, const char *p, size_t n)
{
	size_t off = 0;

	while (c->x->state == EXCHANGE_HEAD && off < n) {
		size_t used = feed_head(l, c, p + off, n - off);

		if (used == 0) {
			/* More is needed: what there is moves to the connection's own buffer. */
			if (!l->problem && p != c->part.p)
				buf_add(&c->part, p + off, n - off);
			else if (!l->problem && off) {
				memmove(c->part.p, p + off, n - off);
				c->part.n = n - off;
			}
			return;
		}
		off += used;
	}
	if (c->x->state == EXCHANGE_BODY) {
		if (feed_body(l, c, p, n, &off)) {
			if (off < n) {
				surplus(l, c, p + off, n - off);
				return;
			}
			buf_clear(&c->part);
			done(l, c);
			return;
		}
	} else if (c->x->state == EXCHANGE_SOCKET) {
		load_ws_received(l, c, p + off, n - off);
	}
	buf_clear(&c->part);
}

void load_h1_received(struct load *l, struct conn *c, const char *p, size_t n)
{
	if (c->x->state < EXCHANGE_HEAD) {
		surplus(l, c, p, n);
		return;
	}
	c->x->answer_n += n;
	if (c->part.n) {
		buf_add(&c->part, p, n);
		feed_answer(l, c, c->part.p, c->part.n);
	} else {
		feed_answer(l, c, p, n);
	}
}

bool load_h1_eof(struct load *l, struct conn *c)
{
	if (c->x->state != EXCHANGE_BODY || c->body.kind != HTTP_BODY_UNTIL_CLOSE)
		return false;
	done(l, c);
	return true;
}

void load_h1_leave(struct exchange *x)
{
	x->c->last = x->c->left = true;
}
