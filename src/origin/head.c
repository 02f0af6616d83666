/* An answer's head as HTTP/1.1. */
#include "origin/server.h"

#include <string.h>

#define SERVER "\r\nServer: whet-origin\r\n"

static void add_number(struct buf *b, uint64_t v)
{
	char digits[20];
	size_t i = sizeof(digits);

	do {
		digits[--i] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	buf_add(b, digits + i, sizeof(digits) - i);
}

static void add_named(struct buf *b, const char *name, uint64_t v)
{
	buf_adds(b, name);
	add_number(b, v);
	buf_adds(b, "\r\n");
}

static void add_range(struct buf *b, const struct range *r)
{
	buf_adds(b, "Content-Range: bytes ");
	add_number(b, r->off);
	buf_addc(b, '-');
	add_number(b, r->end - 1);
	buf_addc(b, '/');
	add_number(b, r->total);
	buf_adds(b, "\r\n");
}

void head_extra(struct buf *b, const struct buf *extra)
{
	const char *p = extra->p, *end = p + extra->n;

	while (p < end) {
		buf_adds(b, p);
		buf_adds(b, ": ");
		p += strlen(p) + 1;
		buf_adds(b, p);
		buf_adds(b, "\r\n");
		p += strlen(p) + 1;
	}
}

static void add_start(struct buf *b, int status)
{
	if (status == 200) { /* most are, and in pieces this costs as much as all the rest */
		buf_adds(b, "HTTP/1.1 200 OK" SERVER);
		return;
	}
	buf_adds(b, "HTTP/1.1 ");
	add_number(b, (uint64_t)status);
	buf_addc(b, ' ');
	buf_adds(b, http_status_text(status));
	buf_adds(b, SERVER);
}

void head_write(struct client *c)
{
	const struct reply *f = &c->x.reply;
	struct buf *b = &c->out;

	add_start(b, f->status);
	if (f->type && !status_without_body(f->status)) {
		buf_adds(b, "Content-Type: ");
		buf_add(b, f->type, f->type_n);
		buf_adds(b, "\r\n");
	}
	if (f->etag) {
		buf_adds(b, "ETag: \"bytes-");
		add_number(b, f->etag_n);
		buf_adds(b, "\"\r\nAccept-Ranges: bytes\r\n");
	}
	if (f->ranged)
		add_range(b, &f->range);
	if (f->status == 416)
		add_named(b, "Content-Range: bytes */", f->range.total);
	if (c->x.answer.chunked)
		buf_adds(b, "Transfer-Encoding: chunked\r\n");
	else if (!status_without_body(f->status))
		add_named(b, "Content-Length: ", f->length);
	if (c->x.extra.n)
		head_extra(b, &c->x.extra);
	if (!c->keep)
		buf_adds(b, "Connection: close\r\n");
	else if (c->head.minor == 0)
		buf_adds(b, "Connection: keep-alive\r\n");
	buf_adds(b, "\r\n");
}
