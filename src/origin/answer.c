/* From a request's head to an answer's head. There is no Date: an answer is the same bytes every
 * time. */
#include "origin/server.h"

#include <string.h>
#include <strings.h>

#include "base/clock.h"

#define SLOW_PAUSE_NS (10 * NS_PER_MS)

struct range {
	uint64_t off, end, total;
};

struct head_facts {
	int status;
	const char *type; /* NULL: no Content-Type */
	size_t type_n;
	uint64_t length;
	bool etag; /* of the route's number */
	uint64_t etag_n;
	bool ranged; /* a Content-Range is given */
	struct range range;
};

static const char text_type[] = "text/plain; charset=utf-8";
static const char binary_type[] = "application/octet-stream";

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

static bool status_without_body(int status)
{
	return status == 204 || status == 304;
}

static void write_head(struct client *c, const struct head_facts *f)
{
	struct buf *b = &c->out;

	buf_adds(b, "HTTP/1.1 ");
	add_number(b, (uint64_t)f->status);
	buf_addc(b, ' ');
	buf_adds(b, http_status_text(f->status));
	buf_adds(b, "\r\nServer: whet-origin\r\n");
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
	if (f->ranged) {
		buf_adds(b, "Content-Range: bytes ");
		add_number(b, f->range.off);
		buf_addc(b, '-');
		add_number(b, f->range.end - 1);
		buf_addc(b, '/');
		add_number(b, f->range.total);
		buf_adds(b, "\r\n");
	}
	if (f->status == 416)
		add_named(b, "Content-Range: bytes */", f->range.total);
	if (c->answer.chunked)
		buf_adds(b, "Transfer-Encoding: chunked\r\n");
	else if (!status_without_body(f->status))
		add_named(b, "Content-Length: ", f->length);
	if (!c->keep)
		buf_adds(b, "Connection: close\r\n");
	else if (c->head.minor == 0)
		buf_adds(b, "Connection: keep-alive\r\n");
	buf_adds(b, "\r\n");
}

/* A short text as the whole answer. */
static void write_text(struct client *c, int status, const char *text, uint64_t total)
{
	struct head_facts f = {.status = status,
		.type = text_type,
		.type_n = sizeof(text_type) - 1,
		.length = strlen(text),
		.range.total = total};

	if (!status_without_body(status)) {
		buf_clear(&c->kept);
		buf_adds(&c->kept, text);
		c->answer.source = SOURCE_MEMORY;
		c->answer.end = f.length;
	}
	write_head(c, &f);
}

void answer_error(struct client *c, int status, const char *why)
{
	auto_buf struct buf text = BUF_INIT;

	c->answer = (struct answer){0};
	c->keep = false;
	buf_addf(&text, "%d %s: %s\n", status, http_status_text(status), why);
	write_text(c, status, buf_str(&text), 0);
}

static bool method_is(const struct client *c, const char *head, const char *method)
{
	return c->head.method.n == strlen(method) &&
	       memcmp(head + c->head.method.off, method, c->head.method.n) == 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* One element of If-None-Match. */
static bool tag_hit(const char *v, size_t n, const char *etag)
{
	while (n && is_blank(v[0])) {
		v++;
		n--;
	}
	while (n && is_blank(v[n - 1]))
		n--;
	if (n == 1 && v[0] == '*')
		return true;
	if (n > 2 && v[0] == 'W' && v[1] == '/') {
		v += 2;
		n -= 2;
	}
	return n == strlen(etag) && memcmp(v, etag, n) == 0;
}

/* If-None-Match: "*" or a list; a weak tag matches too (RFC 9110 section 13.1.2). Our own tags hold
 * no comma, so a tag with one inside cannot match by its parts. */
static bool none_match_hit(const char *v, size_t n, const char *etag)
{
	for (;;) {
		const char *comma = memchr(v, ',', n);
		size_t k = comma ? (size_t)(comma - v) : n;

		if (tag_hit(v, k, etag))
			return true;
		if (!comma)
			return false;
		v += k + 1;
		n -= k + 1;
	}
}

static bool digits_to(const char *v, size_t n, size_t *i, uint64_t *ret)
{
	size_t from = *i;
	uint64_t x = 0;

	while (*i < n && v[*i] >= '0' && v[*i] <= '9' && *i - from < 18)
		x = x * 10 + (uint64_t)(v[(*i)++] - '0');
	*ret = x;
	return *i > from;
}

enum range_result { RANGE_NONE, RANGE_PART, RANGE_UNSATISFIABLE };

/* What "first-last", "first-" or "-count" means for a body of total bytes. */
static enum range_result range_from(
	bool has_first, uint64_t first, bool has_last, uint64_t last, struct range *ret)
{
	uint64_t total = ret->total;

	if (!has_first) {
		if (last == 0 || total == 0)
			return RANGE_UNSATISFIABLE;
		ret->off = last < total ? total - last : 0;
		ret->end = total;
		return RANGE_PART;
	}
	if (first >= total)
		return RANGE_UNSATISFIABLE;
	ret->off = first;
	ret->end = has_last && last < total ? last + 1 : total;
	return RANGE_PART;
}

/* One range in bytes; several ranges, or anything unclear, mean the whole (which is allowed). */
static enum range_result range_parse(const char *v, size_t n, struct range *ret)
{
	uint64_t first, last;
	size_t i = 6;
	bool has_first, has_last;

	if (n < 7 || strncasecmp(v, "bytes=", 6) != 0)
		return RANGE_NONE;
	has_first = digits_to(v, n, &i, &first);
	if (i == n || v[i++] != '-')
		return RANGE_NONE;
	has_last = digits_to(v, n, &i, &last);
	if (i != n || (!has_first && !has_last) || (has_first && has_last && last < first))
		return RANGE_NONE;
	return range_from(has_first, first, has_last, last, ret);
}

static enum range_result range_of(
	const struct client *c, const char *head, const char *etag, struct range *ret)
{
	const struct http_field *f = http_field_find(&c->head, head, "Range");
	const struct http_field *cond = http_field_find(&c->head, head, "If-Range");

	if (!f || !method_is(c, head, "GET"))
		return RANGE_NONE;
	if (cond && (cond->value.n != strlen(etag) ||
			    memcmp(head + cond->value.off, etag, cond->value.n) != 0))
		return RANGE_NONE;
	return range_parse(head + f->value.off, f->value.n, ret);
}

static void answer_bytes(struct client *c, const struct route *r, const char *head)
{
	const struct http_field *match = http_field_find(&c->head, head, "If-None-Match");
	auto_buf struct buf etag = BUF_INIT;
	struct head_facts f = {.status = 200,
		.type = binary_type,
		.type_n = sizeof(binary_type) - 1,
		.etag = true,
		.etag_n = r->n,
		.range = {0, r->n, r->n}};

	buf_addf(&etag, "\"bytes-%llu\"", (unsigned long long)r->n);
	if (match && none_match_hit(head + match->value.off, match->value.n, buf_str(&etag))) {
		f.status = 304;
		write_head(c, &f);
		return;
	}
	switch (range_of(c, head, buf_str(&etag), &f.range)) {
	case RANGE_UNSATISFIABLE:
		write_text(c, 416, "the range lies outside\n", r->n);
		return;
	case RANGE_PART:
		f.status = 206;
		f.ranged = true;
		break;
	case RANGE_NONE:
	default:
		break;
	}
	f.length = f.range.end - f.range.off;
	c->answer.source = SOURCE_PATTERN;
	c->answer.off = f.range.off;
	c->answer.end = f.range.end;
	write_head(c, &f);
}

/* The pattern in other clothes: in chunks, cut in the middle, or slowly. */
static void answer_pattern(struct client *c, const struct route *r)
{
	struct head_facts f = {.status = 200,
		.type = binary_type,
		.type_n = sizeof(binary_type) - 1,
		.length = r->n};

	c->answer.source = SOURCE_PATTERN;
	c->answer.end = r->n;
	if (r->kind == ROUTE_CHUNKED) {
		c->answer.chunked = c->head.minor == 1;
		c->keep = c->keep && c->answer.chunked;
	} else if (r->kind == ROUTE_HALF) {
		c->answer.end = r->n / 2;
		c->answer.cut = true;
	} else {
		c->answer.pause_ns = SLOW_PAUSE_NS;
	}
	write_head(c, &f);
}

/* The type is kept now, as the head is gone when the body is complete. */
static void echo_begin(struct client *c, const char *head)
{
	const struct http_field *type = http_field_find(&c->head, head, "Content-Type");

	c->type_n = 0;
	if (type && type->value.n <= sizeof(c->type)) {
		c->type_n = type->value.n;
		memcpy(c->type, head + type->value.off, type->value.n);
	}
}

void answer_finish(struct client *c)
{
	struct head_facts f = {.status = 200,
		.type = binary_type,
		.type_n = sizeof(binary_type) - 1,
		.length = c->kept.n};

	if (!c->echo)
		return;
	if (c->type_n) {
		f.type = c->type;
		f.type_n = c->type_n;
	}
	c->answer.source = SOURCE_MEMORY;
	c->answer.end = c->kept.n;
	write_head(c, &f);
}

static void answer_status(struct client *c, int status)
{
	auto_buf struct buf text = BUF_INIT;

	buf_addf(&text, "status %d\n", status);
	write_text(c, status, buf_str(&text), 0);
}

/* Short texts, and no answer at all. */
static void answer_plain(struct client *c, const struct route *r)
{
	switch (r->kind) {
	case ROUTE_HEALTH:
		write_text(c, 200, "ok\n", 0);
		break;
	case ROUTE_STATUS:
		answer_status(c, (int)r->n);
		break;
	case ROUTE_RESET:
		c->answer.reset = true;
		break;
	case ROUTE_CLOSE:
		c->answer.silent = true;
		break;
	case ROUTE_BAD:
		write_text(c, 400, "the number in the path is malformed or out of range\n", 0);
		break;
	default:
		write_text(c, 404, "not found\n", 0);
		break;
	}
}

void answer_begin(struct client *c, const struct route *r, const char *head)
{
	bool safe = method_is(c, head, "GET") || method_is(c, head, "HEAD");

	c->answer = (struct answer){.head = method_is(c, head, "HEAD")};
	c->last_chunk_sent = false;
	if (!safe && (r->kind == ROUTE_BYTES || r->kind == ROUTE_HEALTH)) {
		write_text(c, 405, "only GET and HEAD\n", 0);
		return;
	}
	switch (r->kind) {
	case ROUTE_BYTES:
		answer_bytes(c, r, head);
		break;
	case ROUTE_CHUNKED:
	case ROUTE_HALF:
	case ROUTE_SLOW:
		answer_pattern(c, r);
		break;
	case ROUTE_ECHO:
		echo_begin(c, head); /* the rest in answer_finish() */
		break;
	default:
		answer_plain(c, r);
		break;
	}
}
