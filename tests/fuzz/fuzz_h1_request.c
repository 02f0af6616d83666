/* Any bytes as the requests of HTTP/1.1 clients: the origin takes those that an independent reading
 * takes, answers each with one well-formed answer, refuses what is bad, and all of it however the
 * bytes come. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_origin.h"
#include "h1_reference.h"
#include "origin/origin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

#define STINGY 1

static bool is(struct reference_text t, const char *text)
{
	return t.n == strlen(text) && memcmp(t.p, text, t.n) == 0;
}

/* Paths whose answers are as they should be and end as answers do. */
static bool plain(const struct reference *q)
{
	return is(q->target, "/echo") || is(q->target, "/health") ||
	       (q->target.n > 7 && memcmp(q->target.p, "/bytes/", 7) == 0);
}

static void compare_body(const struct reference *q, const struct reference *a)
{
	char want[4096];

	if (is(q->method, "HEAD"))
		must(a->body.n == 0, "an answer to HEAD has a body");
	else if (is(q->target, "/echo") && a->status == 200)
		must_equal(buf_str(&a->body), a->body.n, buf_str(&q->body), q->body.n,
			"the echo differs");
	else if (a->status == 200 && q->target.n > 7 && a->body.n <= sizeof(want) &&
		 memcmp(q->target.p, "/bytes/", 7) == 0) {
		origin_pattern(0, want, a->body.n);
		must_equal(buf_str(&a->body), a->body.n, want, a->body.n, "the pattern differs");
	}
}

/* "100 Continue" may come before the answer. */
static enum reference_end next_answer(
	const struct origin_client *c, size_t *at, bool to_head, struct reference *a)
{
	enum reference_end e = reference_response(c->sent.p + *at, c->sent.n - *at, to_head, a);

	if (e == REFERENCE_DONE && a->status == 100) {
		*at += a->n;
		e = reference_response(c->sent.p + *at, c->sent.n - *at, to_head, a);
	}
	if (e == REFERENCE_DONE)
		*at += a->n;
	return e;
}

/* The request was refused, or is not complete: one answer with an error at most, and then nothing.
 */
static void refused(const struct origin_client *c, size_t at, bool bad)
{
	struct reference a;
	enum reference_end e;

	if (at == c->sent.n) {
		must(!bad, "a bad request is not answered");
		return;
	}
	e = next_answer(c, &at, false, &a);
	if (c->full)
		return;
	if (!bad && e != REFERENCE_DONE)
		return; /* 100 Continue alone */
	must(e == REFERENCE_DONE && a.status >= 400 && !a.keep && !a.until_close,
		"a refusal is no error that ends the connection");
	must(at == c->sent.n, "something follows a refusal");
	buf_release(&a.body);
}

/* The answer to a whole request; false: nothing can follow it, or nothing that is known here. */
static bool answered(const struct origin_client *c, const struct reference *q, size_t *out)
{
	struct reference a = {.n = 0};
	bool there = next_answer(c, out, is(q->method, "HEAD"), &a) == REFERENCE_DONE;

	if (plain(q)) {
		must(there || c->full, "a request is not answered");
		must(!there || a.keep == (q->keep && a.status != 413),
			"the connection does not end as announced");
		if (there)
			compare_body(q, &a);
	}
	buf_release(&a.body);
	if (there && !a.keep && !a.until_close)
		must(*out == c->sent.n, "something follows the last answer");
	return there && a.keep && a.status != 101; /* then it is WebSocket */
}

static void compare(const struct origin_client *c)
{
	size_t out = 0;
	bool goes_on = true;

	for (size_t at = 0; goes_on && at < c->n;) {
		struct reference q;
		enum reference_end e = reference_request(c->bytes + at, c->n - at, &q);

		if (e == REFERENCE_DONE)
			goes_on = answered(c, &q, &out);
		at += q.n;
		buf_release(&q.body);
		if (e != REFERENCE_DONE) {
			refused(c, out, e == REFERENCE_BAD);
			return;
		}
	}
}

static void tell(const struct origin_run *r)
{
	for (size_t i = 0; i < r->n && telling(); i++) {
		const struct buf *b = &r->clients[i].sent;
		const char *end = b->n ? memchr(b->p, '\r', b->n) : NULL;
		const char *text = b->n ? strstr(b->p, "\r\n\r\n") : NULL;

		printf("%.*s %s\n", end ? (int)(end - b->p) : 0, buf_str(b),
			text && r->clients[i].sent.n < 1000 ? text + 4 : "");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct origin_run whole, cut;
	struct script s;
	struct origin_run_options o = {.memory = 2 << 20};

	/* What begins as HTTP/2 is the other target's. */
	if (!script_read(&s, data, n) || (s.n >= 4 && memcmp(s.bytes, "PRI ", 4) == 0)) {
		script_free(&s);
		return -1;
	}
	o.stingy = s.settings & STINGY;
	origin_run(&s, &o, &whole);
	tell(&whole);
	for (size_t i = 0; i < whole.n; i++) {
		if (whole.clients[i].n < 4 || memcmp(whole.clients[i].bytes, "PRI ", 4) != 0)
			compare(&whole.clients[i]);
	}
	for (o.how = CUT_BYTES; o.how < CUTS; o.how++) {
		origin_run(&s, &o, &cut);
		origin_must_agree(&whole, &cut);
		origin_free(&cut);
	}
	origin_free(&whole);
	script_free(&s);
	return 0;
}
