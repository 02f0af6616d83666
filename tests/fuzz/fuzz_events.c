/* Any bytes as a stream of server-sent events: as many are counted as the rules of WHATWG HTML
 * ("Server-sent events", parsing an event stream), followed over the whole, find in it.
 *
 * byte 0: low three bits and 1: how many events are awaited; bit 3: the stream ends with the last
 * of them; rest: the stream. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "fuzz_driver.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct text {
	const char *p;
	size_t n;
};

/* Takes the next line off t, without its end; false: what is left is no whole line. */
static bool take_line(struct text *t, struct text *line)
{
	size_t k = 0;

	while (k < t->n && t->p[k] != '\n' && t->p[k] != '\r')
		k++;
	if (k == t->n)
		return false;
	*line = (struct text){t->p, k};
	k += t->n - k >= 2 && memcmp(t->p + k, "\r\n", 2) == 0 ? 2 : 1;
	t->p += k;
	t->n -= k;
	return true;
}

static bool named_data(struct text line)
{
	const char *colon = memchr(line.p, ':', line.n);

	return (colon ? (size_t)(colon - line.p) : line.n) == 4 && memcmp(line.p, "data", 4) == 0;
}

static uint64_t events_in(struct text t)
{
	struct text line;
	uint64_t events = 0;
	bool data = false;

	if (t.n >= 3 && memcmp(t.p, "\xef\xbb\xbf", 3) == 0) {
		t.p += 3;
		t.n -= 3;
	}
	while (take_line(&t, &line)) {
		if (line.n) {
			data |= named_data(line);
		} else {
			events += data;
			data = false;
		}
	}
	return events;
}

static void run(const struct load_events *want, const struct buf *bytes, enum cut how,
	struct driver_run *ret)
{
	const struct load_request mix[] = {
		{.method = "GET", .path = "/", .expect_bytes = -1, .events = *want}};
	struct load_plan p = {.host = "127.0.0.1",
		.port = 80,
		.connections = 1,
		.requests = 1,
		.mix = mix,
		.n_mix = 1};
	struct driver_options o = {.how = how, .memory = (size_t)1 << 20};
	struct script s;

	script_read(&s, (const uint8_t *)bytes->p, bytes->n);
	driver_run(&p, &s, &o, ret);
	script_free(&s);
}

static void check(const struct load_events *want, uint64_t found, const struct driver_run *r)
{
	bool good = want->end ? found == want->count : found >= want->count;
	auto_free char *ended = xasprintf("the answer ended after %llu", (unsigned long long)found);

	must(good == !r->result.problem, "another number of events");
	if (!good && found < want->count)
		must(strstr(r->result.problem, ended) != NULL, "another number is told");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_buf struct buf b = BUF_INIT;
	struct load_events want;
	uint64_t found;

	if (n < 1 || memmem(data, n, "\xff\0", 2))
		return -1;
	want = (struct load_events){.count = 1 + (data[0] & 7), .end = data[0] & 8};
	found = events_in((struct text){(const char *)data + 1, n - 1});
	buf_addf(&b,
		"--HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
		"Content-Length: %zu\r\n\r\n",
		n - 1);
	buf_add(&b, data + 1, n - 1);
	for (enum cut how = CUT_NOT; how < CUTS; how++) {
		struct driver_run r;

		run(&want, &b, how, &r);
		if (how == CUT_NOT)
			driver_tell(&r);
		check(&want, found, &r);
		driver_free(&r);
	}
	return 0;
}
