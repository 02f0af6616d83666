/* Is the answer what the class says? Every deviation is put into words here. */
#include "load/driver.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

void load_problem(struct load *l, const struct exchange *x, const char *fmt, ...)
{
	auto_buf struct buf b = BUF_INIT;
	const struct load_request *r = l->classes[x->class].r;
	va_list ap;

	if (l->problem || l->failed)
		return;
	buf_addf(&b, "%s %s", r->method, r->path);
	if (l->plan.n_mix > 1)
		buf_addf(&b, " (mix entry %u of %zu)", x->class + 1, l->plan.n_mix);
	buf_addf(&b, ", request %llu of %llu: ", (unsigned long long)x->seq,
		(unsigned long long)l->slice_requests);
	va_start(ap, fmt);
	buf_vaddf(&b, fmt, ap);
	va_end(ap);
	l->problem = buf_detach(&b);
}

/* A server's error page often says why: its beginning goes into the message. */
static bool wrong_status(
	struct load *l, const struct exchange *x, int status, struct http_piece rest)
{
	auto_buf struct buf want = BUF_INIT, b = BUF_INIT;

	class_statuses(&l->classes[x->class], &want);
	if (rest.n) {
		buf_adds(&b, "; its body starts with ");
		text_quote(&b, rest.p, rest.n, 160);
	}
	load_problem(l, x, "expected status %s, got %d%s", buf_str(&want), status, buf_str(&b));
	return false;
}

bool answer_interim_ok(struct load *l, struct exchange *x, int status)
{
	auto_buf struct buf want = BUF_INIT;

	if (status != 101 && ++x->interim <= LOAD_INTERIM_MAX)
		return true;
	class_statuses(&l->classes[x->class], &want);
	load_problem(l, x, "expected status %s, got %s", buf_str(&want),
		status == 101 ? "101" : "too many interim answers");
	return false;
}

static bool header_ok(struct load *l, const struct exchange *x, const struct http_head *h,
	const char *p, const struct load_header *want)
{
	auto_buf struct buf b = BUF_INIT;
	const struct http_field *seen = NULL;

	for (uint32_t i = 0; i < h->n_fields; i++) {
		const struct http_field *f = &h->fields[i];

		if (!http_span_is(f->name, p, want->name))
			continue;
		if (!want->value || (strlen(want->value) == f->value.n &&
					    memcmp(want->value, p + f->value.off, f->value.n) == 0))
			return true;
		seen = f;
	}
	if (!seen) {
		load_problem(l, x, "expected a header '%s%s%s', got none of that name", want->name,
			want->value ? ": " : "", want->value ? want->value : "");
		return false;
	}
	text_quote(&b, p + seen->value.off, seen->value.n, 200);
	load_problem(l, x, "expected header '%s' to be \"%s\", got %s", want->name, want->value,
		buf_str(&b));
	return false;
}

static bool bodiless(int status)
{
	return status == 204 || status == 304;
}

/* What the head announces about the body's length. */
static bool length_ok(struct load *l, const struct exchange *x, const struct load_class *k)
{
	if (k->bytes < 0 || bodiless(x->status))
		return true; /* no body follows; answer_end_ok() compares with 0 */
	if (x->has_length && x->length == (uint64_t)k->bytes)
		return true;
	if (k->head && k->bytes == 0)
		return true;
	if (x->has_length) {
		load_problem(l, x, "expected a body of %lld bytes, got 'Content-Length: %llu'",
			(long long)k->bytes, (unsigned long long)x->length);
		return false;
	}
	if (k->head) {
		load_problem(l, x, "expected 'Content-Length: %lld', got no Content-Length",
			(long long)k->bytes);
		return false;
	}
	return true;
}

void answer_head_known(struct exchange *x, const struct http_head *h)
{
	x->status = h->status;
	x->has_length = h->has_length && !h->chunked && !bodiless(h->status);
	x->length = h->length;
}

bool answer_fields_ok(struct load *l, struct exchange *x, const struct http_head *h, const char *p)
{
	const struct load_request *r = l->classes[x->class].r;

	for (size_t i = 0; i < r->n_expect_headers; i++) {
		if (!header_ok(l, x, h, p, &r->expect_headers[i]))
			return false;
	}
	return true;
}

/* The body is hashed, or its events are counted. */
static bool reading_begins(
	struct load *l, struct exchange *x, const struct http_head *h, const char *p)
{
	struct load_class *k = &l->classes[x->class];

	x->reading = true;
	if (k->r->events.count)
		return load_events_begin(l, x, h, p);
	sha256_begin(&x->hash);
	x->keeping = !k->keeping;
	k->keeping = true;
	return true;
}

bool answer_head_ok(struct load *l, struct exchange *x, const struct http_head *h, const char *p,
	struct http_piece rest)
{
	struct load_class *k = &l->classes[x->class];

	answer_head_known(x, h);
	if (!class_status_ok(k, h->status))
		return wrong_status(l, x, h->status, rest);
	if (!answer_fields_ok(l, x, h, p))
		return false;
	if (k->teaches && !learn_from(l, x, h, p))
		return false;
	if (k->reading && !k->body && !reading_begins(l, x, h, p))
		return false;
	return length_ok(l, x, k);
}

static void describe_byte(struct buf *b, unsigned char u)
{
	buf_addf(b, "0x%02x", u);
	if (u > 0x20 && u < 0x7f)
		buf_addf(b, " '%c'", u);
}

void answer_difference(struct buf *b, const char *want, const char *got, uint64_t at, uint64_t n)
{
	size_t i = 0;

	while (want[i] == got[i])
		i++;
	buf_addf(b, "differs first at byte %llu of %llu: expected ", (unsigned long long)(at + i),
		(unsigned long long)n);
	describe_byte(b, (unsigned char)want[i]);
	buf_adds(b, ", got ");
	describe_byte(b, (unsigned char)got[i]);
}

static bool different(
	struct load *l, const struct exchange *x, const char *want, const char *got, uint64_t at)
{
	auto_buf struct buf b = BUF_INIT;

	answer_difference(&b, want, got, at, (uint64_t)l->classes[x->class].bytes);
	load_problem(l, x, "the body %s", buf_str(&b));
	return false;
}

/* ---- Bodies known by their digest alone ------------------------------------------------------ */

static void hash_piece(struct load *l, struct exchange *x, struct http_piece piece)
{
	struct load_class *k = &l->classes[x->class];

	sha256_add(&x->hash, piece.p, piece.n);
	if (!x->keeping)
		return;
	if (x->got <= LOAD_KEEP_MAX) {
		buf_add(&k->kept, piece.p, piece.n);
		return;
	}
	/* Too long to be kept: k->keeping stays, so that nobody tries again. */
	x->keeping = false;
	buf_release(&k->kept);
}

static bool hash_ok(struct load *l, struct exchange *x)
{
	struct load_class *k = &l->classes[x->class];
	char hex[SHA256_HEX];

	sha256_end(&x->hash, hex);
	if (strcasecmp(hex, k->r->expect_sha256) != 0) {
		load_problem(l, x, "expected a body with the SHA-256 %s, got %llu bytes with %s",
			k->r->expect_sha256, (unsigned long long)x->got, hex);
		return false;
	}
	if (x->keeping) {
		k->body = buf_str(&k->kept);
		k->bytes = (int64_t)k->kept.n;
		x->keeping = false;
	}
	return true;
}

void answer_drop(struct load *l, struct exchange *x)
{
	struct load_class *k = &l->classes[x->class];
	char hex[SHA256_HEX];

	if (x->reading && !k->r->events.count)
		sha256_end(&x->hash, hex);
	if (x->keeping) {
		buf_clear(&k->kept);
		k->keeping = false;
	}
	x->reading = x->keeping = false;
}

static bool read_piece(struct load *l, struct exchange *x, struct http_piece piece)
{
	if (l->classes[x->class].r->events.count)
		return load_events_piece(l, x, piece);
	hash_piece(l, x, piece);
	return true;
}

static bool read_ok(struct load *l, struct exchange *x)
{
	x->reading = false;
	return l->classes[x->class].r->events.count ? load_events_end(l, x) : hash_ok(l, x);
}

/* ---- Bodies --------------------------------------------------------------------------------- */

/* Too much; but what differs before that comes first, however the bytes came. */
static bool too_long(struct load *l, const struct exchange *x, struct http_piece piece, uint64_t at)
{
	const struct load_class *k = &l->classes[x->class];
	size_t n = (size_t)((uint64_t)k->bytes - at);

	if (!x->reading && k->body && memcmp(k->body + at, piece.p, n) != 0)
		return different(l, x, k->body + at, piece.p, at);
	load_problem(l, x, "expected a body of %lld bytes, got at least %llu", (long long)k->bytes,
		(unsigned long long)x->got);
	return false;
}

bool answer_piece_ok(struct load *l, struct exchange *x, struct http_piece piece)
{
	const struct load_class *k = &l->classes[x->class];
	uint64_t at = x->got;

	x->got += piece.n;
	if (k->bytes >= 0 && x->got > (uint64_t)k->bytes)
		return too_long(l, x, piece, at);
	if (x->reading)
		return read_piece(l, x, piece);
	if (k->body && memcmp(k->body + at, piece.p, piece.n) != 0)
		return different(l, x, k->body + at, piece.p, at);
	return true;
}

bool answer_end_ok(struct load *l, struct exchange *x)
{
	const struct load_class *k = &l->classes[x->class];

	if (k->r->n_expect_any && bodiless(x->status)) {
		answer_drop(l, x);
		return true; /* HTTP gives it no body; the others have the one that is checked */
	}
	if (!k->head && k->bytes >= 0 && x->got != (uint64_t)k->bytes) {
		load_problem(l, x, "expected a body of %lld bytes, got %llu", (long long)k->bytes,
			(unsigned long long)x->got);
		return false;
	}
	return x->reading ? read_ok(l, x) : true;
}
