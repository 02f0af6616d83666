/* Any bytes as an HTTP/2 server: what the driver takes as answers are answers, it ends with a
 * result in bounded memory, and however nghttp2 gets the bytes of a round, the result is the same.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fuzz_driver.h"
#include "h2_reference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { MIX_PLAIN, MIX_EXACT, MIX_UPLOAD, MIX_LEARN };
enum { STINGY = 4, REUSE = 8, TWO = 16, ONE_STREAM = 32 };
#define REQUESTS 6
#define UPLOAD 100000 /* more than a window */

static const struct load_header one = {"X", "1"};
static const int statuses[] = {200, 204, 413};
static char upload[UPLOAD];
static const struct load_learned learned = {"If-None-Match", 0};

static const struct load_request plain[] = {{.method = "GET", .path = "/", .expect_bytes = -1}};
static const struct load_request exact[] = {{.method = "GET",
	.path = "/",
	.expect_bytes = -1,
	.expect_body = "hello",
	.expect_body_n = 5,
	.expect_headers = &one,
	.n_expect_headers = 1}};
static const struct load_request uploads[] = {{.method = "POST",
	.path = "/",
	.body = upload,
	.body_n = UPLOAD,
	.expect_bytes = -1,
	.expect_any = statuses,
	.n_expect_any = ARRAY_SIZE(statuses)}};
static const struct load_request learning[] = {{.method = "GET", .path = "/", .expect_bytes = 5},
	{.method = "HEAD", .path = "/", .expect_bytes = 5, .learned = &learned, .n_learned = 1}};

static const struct {
	const struct load_request *mix;
	size_t n;
} mixes[] = {[MIX_PLAIN] = {plain, 1},
	[MIX_EXACT] = {exact, 1},
	[MIX_UPLOAD] = {uploads, 1},
	[MIX_LEARN] = {learning, 2}};

static bool expected(int mix, const struct h2_reference_stream *s)
{
	bool ok = h2_reference_has(s, ":status: 200"), hello;

	hello = s->body_n == 5 && s->body.n == 5 && memcmp(s->body.p, "hello", 5) == 0;
	switch (mix) {
	case MIX_EXACT:
		return ok && hello && h2_reference_has(s, "x: 1");
	case MIX_UPLOAD:
		return ok || h2_reference_has(s, ":status: 204") ||
		       h2_reference_has(s, ":status: 413");
	case MIX_LEARN:
		return ok && (s->body_n == 5 || s->body_n == 0);
	default:
		return ok;
	}
}

/* A frame's head, as RFC 9113 has it: three bytes of length, one of kind, one of flags, four of
 * stream. */
struct head {
	size_t n; /* of what follows, all of which need not be there */
	unsigned type, flags;
	uint32_t stream;
};
enum { HEAD = 9, DATA = 0, PADDED = 8 };

static bool read_head(const struct driver_link *l, size_t at, struct head *ret)
{
	const unsigned char *p = (const unsigned char *)l->bytes + at;

	if (at > l->n || l->n - at < HEAD)
		return false;
	*ret = (struct head){(size_t)p[0] << 16 | (size_t)p[1] << 8 | p[2], p[3], p[4],
		(p[5] & 127u) << 24 | (uint32_t)p[6] << 16 | (uint32_t)p[7] << 8 | p[8]};
	return true;
}

/* Whether the reading ended at DATA with more padding than there is. It ends a connection, but
 * nghttp2 does not look at it in a stream that it has refused already: good answers may follow. */
static bool ends_at_padding(const struct driver_link *l, const struct h2_reference *r)
{
	struct head h = {0};
	size_t at = 0;

	for (size_t i = 0; i < r->frames; i++, at += HEAD + h.n)
		if (!read_head(l, at, &h))
			return false;
	at -= h.n;
	return r->frames && h.type == DATA && h.flags & PADDED && h.n && at < l->n &&
	       (unsigned char)l->bytes[at] >= h.n;
}

/* The driver took no more answers than there are. */
static void compare(const struct driver_link *l, int mix)
{
	struct h2_reference r;
	uint64_t good = 0;

	if (l->served == 0)
		return;
	h2_reference_read(l->bytes, l->n, false, &r);
	for (size_t i = 0; i < r.n; i++)
		good += r.streams[i].ended && r.streams[i].heads && expected(mix, &r.streams[i]);
	must(l->served <= good || r.more_streams || ends_at_padding(l, &r),
		"an answer is taken that is none");
	h2_reference_free(&r);
}

static void one_way(const struct script *s, const struct load_plan *p, enum cut how, bool inside,
	struct driver_run *ret)
{
	struct driver_options o = {
		.how = how, .inside = inside, .stingy = s->settings & STINGY, .memory = 4 << 20};

	driver_run(p, s, &o, ret);
	for (size_t i = 0; i < ret->n_links; i++)
		compare(&ret->links[i], s->settings & 3);
}

static struct h2_reference_stream *find(struct h2_reference *r, uint32_t id)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->streams[i].id == id)
			return &r->streams[i];
	return NULL;
}

/* Whether a body of this link is announced to be longer than its Content-Length, by the lengths of
 * its DATA frames, the last of which may not be there in full. Padding counts as body: what is here
 * is not judged by it. */
static bool is_overlong(const struct driver_link *l)
{
	static const char field[] = "content-length: ";
	struct h2_reference r;
	bool found = false;
	struct head h;

	h2_reference_read(l->bytes, l->n, false, &r);
	for (size_t i = 0; i < r.n; i++)
		r.streams[i].body_n = 0;
	for (size_t at = 0; !found && read_head(l, at, &h); at += HEAD + h.n) {
		struct h2_reference_stream *s = h.type == DATA ? find(&r, h.stream) : NULL;
		const char *length = s ? strstr(buf_str(&s->fields), field) : NULL;

		if (s)
			s->body_n += h.n;
		found = length && s->body_n > strtoull(length + strlen(field), NULL, 10);
	}
	h2_reference_free(&r);
	return found;
}

static bool any_overlong(const struct driver_run *r)
{
	for (size_t i = 0; i < r->n_links; i++)
		if (is_overlong(&r->links[i]))
			return true;
	return false;
}

/* nghttp2 hands on a body that is longer than its length as far as it comes in pieces that are
 * right by themselves. So which fault is named first depends on the pieces; that there is one does
 * not. */
static void must_agree(const struct driver_run *whole, const struct driver_run *cut)
{
	if (whole->result.problem && cut->result.problem && any_overlong(whole))
		return;
	driver_must_agree(whole, cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct driver_run whole, cut;
	struct script s;
	struct load_plan p = {
		.host = "127.0.0.1", .port = 80, .protocol = LOAD_H2, .requests = REQUESTS};

	if (!script_read(&s, data, n))
		return -1;
	p.mix = mixes[s.settings & 3].mix;
	p.n_mix = mixes[s.settings & 3].n;
	p.reuse = s.settings & REUSE ? 2 : 0;
	p.connections = s.settings & TWO ? 2 : 1;
	p.streams = s.settings & ONE_STREAM ? 1 : 3;
	one_way(&s, &p, CUT_NOT, true, &whole);
	driver_tell(&whole);
	for (enum cut how = CUT_BYTES; how < CUTS; how++) {
		one_way(&s, &p, how, true, &cut);
		must_agree(&whole, &cut);
		driver_free(&cut);
	}
	/* As reads, after each of which the driver acts: another course of things, but a course. */
	one_way(&s, &p, CUT_SOME, false, &cut);
	driver_free(&cut);
	driver_free(&whole);
	script_free(&s);
	return 0;
}
