#include "h2_reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nghttp2/nghttp2.h>

#include "base/mem.h"

#define FIELDS_MAX ((size_t)128 << 10)

struct frame {
	size_t n;
	uint8_t type, flags;
	uint32_t stream;
	const uint8_t *p;
};

enum {
	DATA,
	HEADERS,
	PRIORITY,
	RST_STREAM,
	SETTINGS,
	PUSH_PROMISE,
	PING,
	GOAWAY,
	CONTINUATION = 9
};
enum { END_STREAM = 1, END_HEADERS = 4, PADDED = 8, WITH_PRIORITY = 32 };

static bool next_frame(const uint8_t **p, const uint8_t *end, struct frame *f)
{
	const uint8_t *h = *p;

	if (end - h < 9)
		return false;
	f->n = (size_t)h[0] << 16 | (size_t)h[1] << 8 | h[2];
	f->type = h[3];
	f->flags = h[4];
	f->stream = ((uint32_t)h[5] << 24 | (uint32_t)h[6] << 16 | (uint32_t)h[7] << 8 | h[8]) &
		    0x7fffffff;
	f->p = h + 9;
	if ((size_t)(end - f->p) < f->n)
		return false;
	*p = f->p + f->n;
	return true;
}

/* Without padding and priority. */
static bool strip(struct frame *f)
{
	size_t pad = 0;

	if (f->flags & PADDED) {
		if (f->n == 0)
			return false;
		pad = *f->p++;
		f->n--;
	}
	if (f->type == HEADERS && f->flags & WITH_PRIORITY) {
		if (f->n < 5)
			return false;
		f->p += 5;
		f->n -= 5;
	}
	if (pad > f->n)
		return false;
	f->n -= pad;
	return true;
}

static struct h2_reference_stream *stream_of(struct h2_reference *r, uint32_t id)
{
	for (size_t i = 0; i < r->n; i++) {
		if (r->streams[i].id == id)
			return &r->streams[i];
	}
	if (r->n == H2_REFERENCE_STREAMS) {
		r->more_streams = true;
		return NULL;
	}
	r->streams[r->n] = (struct h2_reference_stream){.id = id};
	return &r->streams[r->n++];
}

/* A whole block of a head. */
static bool inflate(nghttp2_hd_inflater *hd, const struct buf *block, struct buf *to)
{
	const uint8_t *p = (const uint8_t *)block->p;
	size_t n = block->n;

	for (;;) {
		nghttp2_nv nv;
		int flags = 0;
		ssize_t r = nghttp2_hd_inflate_hd2(hd, &nv, &flags, p, n, 1);

		if (r < 0)
			return false;
		p += r;
		n -= (size_t)r;
		if (flags & NGHTTP2_HD_INFLATE_EMIT && to->n < FIELDS_MAX) {
			buf_add(to, nv.name, nv.namelen);
			buf_adds(to, ": ");
			buf_add(to, nv.value, nv.valuelen);
			buf_addc(to, '\n');
		}
		if (flags & NGHTTP2_HD_INFLATE_FINAL)
			break;
		if (!(flags & NGHTTP2_HD_INFLATE_EMIT) && n == 0)
			break;
	}
	return nghttp2_hd_inflate_end_headers(hd) == 0;
}

/* What follows the end of a stream is not of it. */
static bool ended(struct h2_reference_stream *s)
{
	s->after_end |= s->ended || s->reset;
	return s->after_end;
}

static bool interim(const struct buf *fields)
{
	return fields->n > 10 && memcmp(fields->p, ":status: 1", 10) == 0;
}

/* The head that begins with f, with the frames that go on with it. */
static bool head(struct h2_reference *r, nghttp2_hd_inflater *hd, const uint8_t **p,
	const uint8_t *end, struct frame f)
{
	auto_buf struct buf block = BUF_INIT, fields = BUF_INIT;
	struct h2_reference_stream *s = stream_of(r, f.stream);
	bool ends = f.flags & END_STREAM;

	if (!strip(&f))
		return false;
	buf_add(&block, f.p, f.n);
	while (!(f.flags & END_HEADERS)) {
		uint32_t id = f.stream;

		if (!next_frame(p, end, &f) || f.type != CONTINUATION || f.stream != id)
			return false;
		r->frames++;
		buf_add(&block, f.p, f.n);
	}
	if (!inflate(hd, &block, &fields))
		return false;
	if (!s)
		return true;
	if (ended(s))
		return true;
	s->heads += !interim(&fields);
	buf_add(&s->fields, fields.p, fields.n);
	s->ended |= ends;
	return true;
}

static bool data(struct h2_reference *r, struct frame f)
{
	struct h2_reference_stream *s = stream_of(r, f.stream);
	bool ends = f.flags & END_STREAM;

	if (!strip(&f))
		return false;
	if (!s)
		return true;
	if (ended(s))
		return true;
	if (s->body.n + f.n <= H2_REFERENCE_BODY)
		buf_add(&s->body, f.p, f.n);
	s->body_n += f.n;
	s->ended |= ends;
	return true;
}

static bool frame(struct h2_reference *r, nghttp2_hd_inflater *hd, const uint8_t **p,
	const uint8_t *end, struct frame f)
{
	struct h2_reference_stream *s;

	r->frames++;
	switch (f.type) {
	case HEADERS:
		return head(r, hd, p, end, f);
	case DATA:
		return data(r, f);
	case RST_STREAM:
		s = stream_of(r, f.stream);
		if (s)
			s->reset = true;
		return f.n == 4;
	case PUSH_PROMISE:
	case CONTINUATION:
		return false;
	case GOAWAY:
		r->goaway = true;
		return f.n >= 8;
	default:
		return true;
	}
}

void h2_reference_read(const char *bytes, size_t n, bool preface, struct h2_reference *ret)
{
	const uint8_t *p = (const uint8_t *)bytes, *end = p + n;
	nghttp2_hd_inflater *hd = NULL;
	struct frame f;
	bool fine = true;

	memset(ret, 0, sizeof(*ret));
	if (preface && n < 24)
		return;
	p += preface ? 24 : 0;
	if (nghttp2_hd_inflate_new(&hd) != 0)
		abort();
	while (fine && next_frame(&p, end, &f))
		fine = frame(ret, hd, &p, end, f);
	nghttp2_hd_inflate_del(hd);
	ret->whole = fine && p == end;
}

void h2_reference_free(struct h2_reference *r)
{
	for (size_t i = 0; i < r->n; i++) {
		buf_release(&r->streams[i].fields);
		buf_release(&r->streams[i].body);
	}
}

bool h2_reference_has(const struct h2_reference_stream *s, const char *line)
{
	size_t n = strlen(line);
	const char *p = buf_str(&s->fields), *end = p + s->fields.n;

	while (p < end) {
		const char *lf = memchr(p, '\n', (size_t)(end - p));

		if ((size_t)(lf - p) == n && memcmp(p, line, n) == 0)
			return true;
		p = lf + 1;
	}
	return false;
}

bool h2_cut_counts(long error)
{
	return strstr(nghttp2_strerror((int)error), "CONTINUATION") != NULL;
}
