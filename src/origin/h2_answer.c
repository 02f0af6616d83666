/* HTTP/2: from answers to frames. */
#include "origin/h2.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"

#define NV_MAX (8 + ROUTE_HEADERS_MAX)

struct fields {
	nghttp2_nv nv[NV_MAX];
	size_t n;
	char status[8], length[24], etag[40], range[80];
};

static void add(struct fields *f, const char *name, const char *value, size_t n)
{
	f->nv[f->n++] = (nghttp2_nv){
		(uint8_t *)name, (uint8_t *)value, strlen(name), n, NGHTTP2_NV_FLAG_NO_COPY_NAME};
}

static void add_range(struct fields *f, const struct reply *r)
{
	unsigned long long total = r->range.total;
	int n = r->status == 416 ? snprintf(f->range, sizeof(f->range), "bytes */%llu", total)
				 : snprintf(f->range, sizeof(f->range), "bytes %llu-%llu/%llu",
					   (unsigned long long)r->range.off,
					   (unsigned long long)r->range.end - 1, total);

	add(f, "content-range", f->range, (size_t)n);
}

/* Names of /header, made lower-case in place: each answer has its own copy. */
static void add_extra(struct fields *f, const struct buf *extra)
{
	char *p = extra->p, *end = p + extra->n;

	while (p < end && f->n < NV_MAX) {
		char *name = p;

		for (; *p; p++) {
			if (*p >= 'A' && *p <= 'Z')
				*p |= 0x20;
		}
		p++;
		add(f, name, p, strlen(p));
		f->nv[f->n - 1].flags = NGHTTP2_NV_FLAG_NONE;
		p += strlen(p) + 1;
	}
}

static void fill(struct fields *f, const struct exchange *x)
{
	const struct reply *r = &x->reply;

	add(f, ":status", f->status,
		(size_t)snprintf(f->status, sizeof(f->status), "%d", r->status));
	add(f, "server", "whet-origin", 11);
	if (r->type && !status_without_body(r->status))
		add(f, "content-type", r->type, r->type_n);
	if (r->etag) {
		int n = snprintf(
			f->etag, sizeof(f->etag), "\"bytes-%llu\"", (unsigned long long)r->etag_n);

		add(f, "etag", f->etag, (size_t)n);
		add(f, "accept-ranges", "bytes", 5);
	}
	if (r->ranged || r->status == 416)
		add_range(f, r);
	if (!x->answer.chunked && !status_without_body(r->status))
		add(f, "content-length", f->length,
			(size_t)snprintf(f->length, sizeof(f->length), "%llu",
				(unsigned long long)r->length));
	if (x->extra.n)
		add_extra(f, &x->extra);
}

/* What DATA is to hold: body bytes, a pause, or an end of one kind or another. */
static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *to, size_t max,
	uint32_t *flags, nghttp2_data_source *source, void *user)
{
	struct h2 *h = user;
	struct stream *s = source->ptr;
	struct answer *a = &s->x.answer;
	size_t n = 0;

	if (s->x.due_ns) /* a pause, or a stall */
		return NGHTTP2_ERR_DEFERRED;
	while (n < max) {
		struct iovec run = body_run(h->o, &s->x, max - n);

		if (run.iov_len == 0)
			break;
		memcpy(to + n, run.iov_base, run.iov_len);
		n += run.iov_len;
		a->off += run.iov_len;
		if (a->pause_ns)
			break;
	}
	if (a->pause_ns && a->off < a->end) {
		timer_set(&h->o->timers, &s->x, h->o->now + a->pause_ns);
		return n ? (ssize_t)n : NGHTTP2_ERR_DEFERRED;
	}
	if (a->off < a->end && !a->head)
		return (ssize_t)n;
	if (a->after == AFTER_DONE || a->after == AFTER_CUT)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	else if (n == 0)
		h2_end_badly(h, s);
	return n || *flags & NGHTTP2_DATA_FLAG_EOF ? (ssize_t)n : NGHTTP2_ERR_DEFERRED;
}

int h2_submit(struct h2 *h, struct stream *s)
{
	const struct answer *a = &s->x.answer;
	nghttp2_data_provider body = {.source.ptr = s, .read_callback = read_body};
	bool empty = a->after == AFTER_DONE && (a->head || a->off == a->end);
	struct fields f = {.n = 0};
	int r;

	s->answering = true;
	fill(&f, &s->x);
	r = nghttp2_submit_response(h->session, s->id, f.nv, f.n, empty ? NULL : &body);
	return r == 0 ? 0 : -1;
}
