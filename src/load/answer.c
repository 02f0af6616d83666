/* Is the answer what the class says? Every deviation is put into words here. */
#include "load/driver.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "facts/quote.h"

void load_quote(struct buf *b, const char *p, size_t n, size_t max)
{
	text_quote(b, p, n, max);
}

void load_problem(struct load *l, const struct conn *c, const char *fmt, ...)
{
	auto_buf struct buf b = BUF_INIT;
	const struct load_request *r = l->classes[c->class].r;
	va_list ap;

	if (l->problem || l->failed)
		return;
	buf_addf(&b, "%s %s", r->method, r->path);
	if (l->plan.n_mix > 1)
		buf_addf(&b, " (mix entry %u of %zu)", c->class + 1, l->plan.n_mix);
	buf_addf(&b, ", request %llu of %llu: ", (unsigned long long)c->seq,
		(unsigned long long)l->slice_requests);
	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	l->problem = buf_detach(&b);
}

/* A server's error page often says why: its beginning goes into the message. */
static bool wrong_status(struct load *l, const struct conn *c, const char *p, size_t n)
{
	auto_buf struct buf b = BUF_INIT;

	if (n > c->head.size) {
		buf_adds(&b, "; its body starts with ");
		load_quote(&b, p + c->head.size, n - c->head.size, 160);
	}
	load_problem(l, c, "expected status %d, got %d%s", l->classes[c->class].status,
		c->head.status, buf_str(&b));
	return false;
}

static bool header_ok(
	struct load *l, const struct conn *c, const char *p, const struct load_header *want)
{
	auto_buf struct buf b = BUF_INIT;
	const struct http_field *seen = NULL;

	for (uint32_t i = 0; i < c->head.n_fields; i++) {
		const struct http_field *f = &c->head.fields[i];

		if (!http_span_is(f->name, p, want->name))
			continue;
		if (!want->value || (strlen(want->value) == f->value.n &&
					    memcmp(want->value, p + f->value.off, f->value.n) == 0))
			return true;
		seen = f;
	}
	if (!seen) {
		load_problem(l, c, "expected a header '%s%s%s', got none of that name", want->name,
			want->value ? ": " : "", want->value ? want->value : "");
		return false;
	}
	load_quote(&b, p + seen->value.off, seen->value.n, 200);
	load_problem(l, c, "expected header '%s' to be \"%s\", got %s", want->name, want->value,
		buf_str(&b));
	return false;
}

/* What the head announces about the body's length. */
static bool length_ok(struct load *l, const struct conn *c, const struct load_class *k)
{
	const struct http_head *h = &c->head;

	if (k->bytes < 0 || h->status == 204 || h->status == 304)
		return true; /* no body follows; answer_end_ok() compares with 0 */
	if (h->has_length && h->length == (uint64_t)k->bytes)
		return true;
	if (k->head && k->bytes == 0)
		return true;
	if (h->has_length) {
		load_problem(l, c, "expected a body of %lld bytes, got 'Content-Length: %llu'",
			(long long)k->bytes, (unsigned long long)h->length);
		return false;
	}
	if (k->head) {
		load_problem(l, c, "expected 'Content-Length: %lld', got no Content-Length",
			(long long)k->bytes);
		return false;
	}
	return true;
}

bool answer_head_ok(struct load *l, struct conn *c, const char *p, size_t n)
{
	const struct load_class *k = &l->classes[c->class];

	if (c->head.status != k->status)
		return wrong_status(l, c, p, n);
	for (size_t i = 0; i < k->r->n_expect_headers; i++) {
		if (!header_ok(l, c, p, &k->r->expect_headers[i]))
			return false;
	}
	return length_ok(l, c, k);
}

static void describe_byte(struct buf *b, unsigned char u)
{
	buf_addf(b, "0x%02x", u);
	if (u > 0x20 && u < 0x7f)
		buf_addf(b, " '%c'", u);
}

static bool different(
	struct load *l, const struct conn *c, const char *want, const char *got, uint64_t at)
{
	auto_buf struct buf w = BUF_INIT, g = BUF_INIT;
	size_t i = 0;

	while (want[i] == got[i])
		i++;
	describe_byte(&w, (unsigned char)want[i]);
	describe_byte(&g, (unsigned char)got[i]);
	load_problem(l, c, "the body differs first at byte %llu of %lld: expected %s, got %s",
		(unsigned long long)(at + i), (long long)l->classes[c->class].bytes, buf_str(&w),
		buf_str(&g));
	return false;
}

bool answer_piece_ok(struct load *l, struct conn *c, struct http_piece piece)
{
	const struct load_class *k = &l->classes[c->class];
	uint64_t at = c->body.got - piece.n;

	if (k->bytes >= 0 && c->body.got > (uint64_t)k->bytes) {
		load_problem(l, c, "expected a body of %lld bytes, got at least %llu",
			(long long)k->bytes, (unsigned long long)c->body.got);
		return false;
	}
	if (k->r->expect_body) {
		const char *want = (const char *)k->r->expect_body + at;

		if (memcmp(want, piece.p, piece.n) != 0)
			return different(l, c, want, piece.p, at);
	}
	return true;
}

bool answer_end_ok(struct load *l, struct conn *c)
{
	const struct load_class *k = &l->classes[c->class];

	if (k->head || k->bytes < 0 || c->body.got == (uint64_t)k->bytes)
		return true;
	load_problem(l, c, "expected a body of %lld bytes, got %llu", (long long)k->bytes,
		(unsigned long long)c->body.got);
	return false;
}
