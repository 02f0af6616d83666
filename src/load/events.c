/* Server-sent events (WHATWG HTML, "Server-sent events"): an answer that need not end, of which so
 * many events are awaited. */
#include "load/driver.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

/* Where a line stands: so many bytes of "data", or one of these. */
enum { LINE_DATA = 5, LINE_OTHER = 6 };

/* Of an exchange. */
struct event_count {
	uint64_t n;
	uint8_t line;
	uint8_t bom; /* bytes of a byte order mark that may still come */
	bool data;   /* the event has a field of that name */
	bool cr;     /* a line feed belongs to the line end before it */
};

int load_events_check(const struct load_request *r, size_t i, struct error *err)
{
	if (!r->events.count)
		return 0;
	if (strcmp(r->method, "HEAD") == 0 || r->expect_bytes >= 0 || r->expect_body ||
		r->expect_sha256 || r->n_expect_any)
		return error_set(err, ERR_USAGE,
			"mix entry %zu ('%s %s'): a stream of events has one status and no body "
			"that is known beforehand",
			i + 1, r->method, r->path);
	return 0;
}

struct event_count *load_events_new(const struct load *l, size_t n)
{
	for (size_t i = 0; i < l->plan.n_mix; i++) {
		if (l->plan.mix[i].events.count)
			return xcalloc(n, sizeof(struct event_count));
	}
	return NULL;
}

static struct event_count *count_of(const struct load *l, const struct exchange *x)
{
	return &l->events[x - l->exchanges];
}

static bool is_event_stream(const char *p, size_t n)
{
	static const char type[] = "text/event-stream";
	size_t k = sizeof(type) - 1;

	if (n < k || strncasecmp(p, type, k) != 0)
		return false;
	while (k < n && (p[k] == ' ' || p[k] == '\t'))
		k++;
	return k == n || p[k] == ';';
}

bool load_events_begin(struct load *l, struct exchange *x, const struct http_head *h, const char *p)
{
	const struct http_field *type = http_field_find(h, p, "Content-Type");
	const struct http_field *coding = http_field_find(h, p, "Content-Encoding");
	auto_buf struct buf b = BUF_INIT;

	*count_of(l, x) = (struct event_count){.bom = 3};
	if (!type || !is_event_stream(p + type->value.off, type->value.n)) {
		if (type)
			text_quote(&b, p + type->value.off, type->value.n, 200);
		load_problem(l, x, "expected the Content-Type text/event-stream, got %s",
			type ? buf_str(&b) : "none");
		return false;
	}
	if (coding && !http_span_is(coding->value, p, "identity")) {
		text_quote(&b, p + coding->value.off, coding->value.n, 200);
		load_problem(l, x,
			"events can be counted in plain text alone, got the "
			"Content-Encoding %s",
			buf_str(&b));
		return false;
	}
	return true;
}

static void line_end(struct event_count *e)
{
	if (e->line == 0) {
		e->n += e->data;
		e->data = false;
	} else if (e->line == LINE_DATA || e->line == 4) {
		e->data = true;
	}
	e->line = 0;
}

static void line_byte(struct event_count *e, char c)
{
	if (e->line == LINE_DATA || e->line == LINE_OTHER)
		return;
	if (e->line == 4)
		e->line = c == ':' ? LINE_DATA : LINE_OTHER;
	else if (c == "data"[e->line])
		e->line++;
	else
		e->line = LINE_OTHER;
}

static bool skip_bom(struct event_count *e, char c)
{
	if (e->bom && c == "\xbf\xbb\xef"[e->bom - 1]) {
		e->bom--;
		return true;
	}
	if (e->bom == 1 || e->bom == 2)
		e->line = LINE_OTHER; /* its first bytes were those of a line */
	e->bom = 0;
	return false;
}

/* Stops at the end of the last one that is awaited. */
static void count(struct event_count *e, uint64_t last, struct http_piece piece)
{
	for (size_t i = 0; i < piece.n && e->n < last; i++) {
		char c = piece.p[i];

		if (skip_bom(e, c))
			continue;
		if (c == '\r' || (c == '\n' && !e->cr))
			line_end(e);
		else if (c != '\n')
			line_byte(e, c);
		e->cr = c == '\r';
	}
}

bool load_events_piece(struct load *l, struct exchange *x, struct http_piece piece)
{
	const struct load_events *want = &l->classes[x->class].r->events;
	struct event_count *e = count_of(l, x);

	count(e, want->end ? UINT64_MAX : want->count, piece);
	if (e->n < want->count)
		return true;
	if (want->end && e->n == want->count)
		return true;
	if (want->end) {
		load_problem(l, x, "expected %llu events, got at least %llu",
			(unsigned long long)want->count, (unsigned long long)e->n);
		return false;
	}
	/* That was the last one: the driver goes, whatever the server still has. */
	if (l->h2)
		load_h2_leave(x);
	else
		load_h1_leave(x);
	exchange_done(l, x);
	return false;
}

bool load_events_end(struct load *l, struct exchange *x)
{
	const struct load_events *want = &l->classes[x->class].r->events;
	const struct event_count *e = count_of(l, x);

	if (e->n == want->count)
		return true;
	load_problem(l, x, "expected %llu events, the answer ended after %llu%s",
		(unsigned long long)want->count, (unsigned long long)e->n,
		e->line || e->data ? " and the beginning of one more" : "");
	return false;
}

void load_events_describe(struct buf *b, const struct load *l, const struct exchange *x)
{
	buf_addf(b, " (%llu of %llu events)", (unsigned long long)count_of(l, x)->n,
		(unsigned long long)l->classes[x->class].r->events.count);
}
