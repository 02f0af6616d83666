/* Any bytes as the answers of an HTTP/1.1 server: what the driver takes is what an independent
 * reading takes, byte for byte, however the bytes come. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "fuzz_driver.h"
#include "h1_reference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { CLASS_PLAIN, CLASS_EXACT, CLASS_HEAD, CLASS_ANY };
enum { STINGY = 4, CLOSING = 8, TWO = 16 };
#define REQUESTS 3
#define INTERIM_MAX 16

static const struct load_header one = {"X", "1"};
static const int statuses[] = {200, 204, 304, 404};
static char hello_hash[SHA256_HEX];

static const struct load_request classes[] = {
	[CLASS_PLAIN] = {.method = "GET", .path = "/", .expect_bytes = -1},
	[CLASS_EXACT] = {.method = "GET",
		.path = "/",
		.expect_bytes = -1,
		.expect_body = "hello",
		.expect_body_n = 5,
		.expect_headers = &one,
		.n_expect_headers = 1},
	[CLASS_HEAD] = {.method = "HEAD", .path = "/", .expect_bytes = 5},
	[CLASS_ANY] = {.method = "POST",
		.path = "/",
		.body = "abc",
		.body_n = 3,
		.expect_bytes = -1,
		.expect_any = statuses,
		.n_expect_any = ARRAY_SIZE(statuses),
		.expect_sha256 = hello_hash},
};

static bool is(struct reference_text t, const char *text)
{
	return t.p && t.n == strlen(text) && memcmp(t.p, text, t.n) == 0;
}

static bool is_hello(const struct reference *m)
{
	return m->body.n == 5 && memcmp(m->body.p, "hello", 5) == 0;
}

static bool has_one(const struct reference *m)
{
	struct reference_text t;

	for (size_t i = 0; (t = reference_field(m, "X", i)).p; i++) {
		if (is(t, "1"))
			return true;
	}
	return false;
}

/* Whether the class's expectations hold. */
static bool expected(int class, const struct reference *m)
{
	switch (class) {
	case CLASS_EXACT:
		return m->status == 200 && is_hello(m) && has_one(m);
	case CLASS_HEAD:
		return m->status == 200 && is(reference_field(m, "Content-Length", 0), "5");
	case CLASS_ANY:
		return ((m->status == 200 || m->status == 404) && is_hello(m)) ||
		       m->status == 204 || m->status == 304;
	default:
		return m->status == 200;
	}
}

/* The next final answer at *at. */
static enum reference_end next(
	const struct driver_link *l, int class, size_t *at, struct reference *m)
{
	for (int i = 0; i <= INTERIM_MAX; i++) {
		enum reference_end e =
			reference_response(l->bytes + *at, l->n - *at, class == CLASS_HEAD, m);

		if (e == REFERENCE_DONE && m->until_close && !l->ended)
			return REFERENCE_MORE;
		if (e != REFERENCE_DONE || m->status >= 200)
			return e;
		if (m->status == 101)
			return REFERENCE_BAD;
		*at += m->n;
		buf_release(&m->body);
	}
	return REFERENCE_BAD;
}

/* Content-Length with leading zeros is the same number. */
static bool zeros(const struct reference *m)
{
	struct reference_text t = reference_field(m, "Content-Length", 0);

	return t.p && t.n > 1 && t.p[0] == '0';
}

static void compare(const struct driver_link *l, int class, bool closing, bool alone)
{
	size_t at = 0;
	struct reference m;
	enum reference_end e;
	bool ends = false;

	for (uint64_t i = 0; i < l->served; i++) {
		must(!ends, "an answer is taken from a connection that has ended");
		e = next(l, class, &at, &m);
		must(e == REFERENCE_DONE, "an answer is taken that is none");
		must(expected(class, &m) || zeros(&m), "an answer is taken that was not expected");
		at += m.n;
		ends = !m.keep || m.until_close || closing;
		buf_release(&m.body);
	}
	must(l->served == 0 || at == l->served_at, "an answer ends at another byte");
	if (ends || !alone || l->served == REQUESTS)
		return;
	e = next(l, class, &at, &m);
	must(e != REFERENCE_DONE || !expected(class, &m), "an expected answer is not taken");
	buf_release(&m.body);
}

static void compare_sent(const struct driver_link *l, const struct load_request *q)
{
	uint64_t count = 0;
	struct reference m;

	for (size_t at = 0; at < l->sent.n; at += m.n, count++) {
		must(reference_request(l->sent.p + at, l->sent.n - at, &m) == REFERENCE_DONE,
			"what is sent is no request");
		must(is(m.method, q->method) && is(m.target, q->path),
			"what is sent is another request");
		must_equal(buf_str(&m.body), m.body.n, q->body, q->body_n, "another body is sent");
		buf_release(&m.body);
	}
	must(count == l->served || count == l->served + 1, "requests and answers do not match");
}

static void one_way(
	const struct script *s, const struct load_plan *p, enum cut how, struct driver_run *ret)
{
	struct driver_options o = {.how = how, .stingy = s->settings & STINGY, .memory = 2 << 20};
	int class = s->settings & 3;

	driver_run(p, s, &o, ret);
	for (size_t i = 0; i < ret->n_links && !ret->surplus; i++) {
		bool surplus =
			ret->result.problem && strstr(ret->result.problem, "to end after its body");

		compare(&ret->links[i], class, p->reuse == 1, !(s->settings & TWO) && !surplus);
		if (!o.stingy)
			compare_sent(&ret->links[i], p->mix);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct driver_run whole, cut;
	struct script s;
	struct load_plan p = {.host = "127.0.0.1",
		.port = 80,
		.protocol = LOAD_H1,
		.connections = 1,
		.requests = REQUESTS,
		.n_mix = 1};

	if (!script_read(&s, data, n))
		return -1;
	if (!hello_hash[0])
		sha256_of("hello", 5, hello_hash);
	p.mix = &classes[s.settings & 3];
	p.reuse = s.settings & CLOSING ? 1 : 0;
	p.connections = s.settings & TWO ? 2 : 1;
	one_way(&s, &p, CUT_NOT, &whole);
	driver_tell(&whole);
	for (enum cut how = CUT_BYTES; how < CUTS; how++) {
		one_way(&s, &p, how, &cut);
		driver_must_agree(&whole, &cut);
		driver_free(&cut);
	}
	driver_free(&whole);
	script_free(&s);
	return 0;
}
