/* Any bytes as an HTTP/2 client: the origin answers in whole frames, no stream more than once, in
 * bounded memory, and however nghttp2 gets the bytes of a round, what it sends is the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fuzz_origin.h"
#include "h2_reference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define STINGY 1
static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

static const struct h2_reference_stream *find(const struct h2_reference *r, uint32_t id)
{
	for (size_t i = 0; i < r->n; i++) {
		if (r->streams[i].id == id)
			return &r->streams[i];
	}
	return NULL;
}

static void compare_stream(
	const struct h2_reference_stream *a, const struct h2_reference_stream *q, bool more)
{
	must(!a->after_end, "a stream goes on after its end");
	must(a->heads <= 1, "a stream is answered twice");
	must(q || more || (a->heads == 0 && a->body_n == 0), "what was not asked is answered");
	if (!q || !a->ended || !q->ended || q->heads != 1 || q->after_end || q->reset ||
		q->body_n != q->body.n || a->body_n != a->body.n)
		return;
	if (h2_reference_has(q, ":path: /echo") && h2_reference_has(a, ":status: 200") &&
		!h2_reference_has(q, ":method: HEAD"))
		must_equal(buf_str(&a->body), a->body.n, buf_str(&q->body), q->body.n,
			"the echo differs");
}

static void compare(const struct origin_client *c, bool stingy)
{
	struct h2_reference sent, asked;
	size_t from = strlen(preface);

	h2_reference_read(buf_str(&c->sent), c->sent.n, false, &sent);
	/* /close ends a connection wherever it stands. */
	must(sent.whole || c->full || stingy, "what is sent is not in frames");
	if (c->n >= from && memcmp(c->bytes, preface, from) == 0) {
		h2_reference_read(c->bytes, c->n, true, &asked);
		for (size_t i = 0; i < sent.n; i++)
			compare_stream(&sent.streams[i], find(&asked, sent.streams[i].id),
				asked.more_streams);
		h2_reference_free(&asked);
	} else {
		must(sent.n == 0, "an answer to what is not HTTP/2");
	}
	h2_reference_free(&sent);
}

static void tell(const struct origin_run *r)
{
	for (size_t i = 0; i < r->n && telling(); i++) {
		struct h2_reference sent;

		h2_reference_read(buf_str(&r->clients[i].sent), r->clients[i].sent.n, false, &sent);
		printf("%zu frames%s", sent.frames, sent.goaway ? ", GOAWAY" : "");
		for (size_t k = 0; k < sent.n; k++) {
			const char *f = buf_str(&sent.streams[k].fields);

			printf(", stream %u %.*s %llu%s%s", sent.streams[k].id,
				(int)strcspn(f, "\n"), f,
				(unsigned long long)sent.streams[k].body_n,
				sent.streams[k].ended ? "" : " not ended",
				sent.streams[k].reset ? " reset" : "");
		}
		printf("\n");
		h2_reference_free(&sent);
	}
}

/* When nghttp2 gives room back depends on the pieces in which it got a body, and is no part of an
 * answer. Frames as RFC 9113 has them: three bytes of length, one of kind, one of flags, four of
 * stream. */
static void drop_window_updates(struct buf *sent)
{
	enum { HEAD = 9, WINDOW_UPDATE = 8 };
	size_t kept = 0;

	for (size_t at = 0; at < sent->n;) {
		const unsigned char *p = (const unsigned char *)sent->p + at;
		size_t rest = sent->n - at, n = rest;

		if (rest >= HEAD)
			n = HEAD + ((size_t)p[0] << 16 | (size_t)p[1] << 8 | p[2]);
		n = n < rest ? n : rest;
		if (rest < HEAD || p[3] != WINDOW_UPDATE) {
			memmove(sent->p + kept, p, n);
			kept += n;
		}
		at += n;
	}
	sent->n = kept;
}

static void one_way(const struct script *s, enum cut how, bool inside, struct origin_run *ret)
{
	struct origin_run_options o = {
		.how = how, .inside = inside, .stingy = s->settings & STINGY, .memory = 4 << 20};

	origin_run(s, &o, ret);
	for (size_t i = 0; i < ret->n; i++) {
		if (ret->clients[i].n >= 4 && memcmp(ret->clients[i].bytes, "PRI ", 4) == 0)
			compare(&ret->clients[i], o.stingy);
		drop_window_updates(&ret->clients[i].sent);
	}
}

/* The preface is given, so that all of the input is for what comes behind it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	size_t from = strlen(preface);
	uint8_t *with = xmalloc(from + n + 1);
	struct origin_run whole, cut;
	struct script s;

	if (n < 2) {
		free(with);
		return -1;
	}
	memcpy(with, data, 2);
	memcpy(with + 2, preface, from);
	memcpy(with + 2 + from, data + 2, n - 2);
	script_read(&s, with, from + n);
	free(with);
	one_way(&s, CUT_NOT, true, &whole);
	tell(&whole);
	for (enum cut how = CUT_BYTES; how < CUTS; how++) {
		one_way(&s, how, true, &cut);
		origin_must_agree(&whole, &cut);
		origin_free(&cut);
	}
	/* As reads, after each of which the origin acts: another course of things, but a course. */
	one_way(&s, CUT_SOME, false, &cut);
	origin_free(&cut);
	origin_free(&whole);
	script_free(&s);
	return 0;
}
