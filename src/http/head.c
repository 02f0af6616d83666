#include "http/http.h"

#include <string.h>
#include <strings.h>

#include "http/chars.h"

static enum http_progress bad(struct http_head *h, int status, uint32_t at, const char *problem)
{
	h->problem = problem;
	h->problem_at = at;
	h->problem_status = status;
	return HTTP_BAD;
}

static void begin(struct http_head *h, bool request)
{
	/* The field table, most of the structure, is left as it is: n_fields bounds it. */
	memset(h, 0, offsetof(struct http_head, fields));
	h->request = request;
}

void http_request_begin(struct http_head *h)
{
	begin(h, true);
}

void http_response_begin(struct http_head *h)
{
	begin(h, false);
}

bool http_span_is(struct http_span s, const char *p, const char *text)
{
	return strlen(text) == s.n && strncasecmp(p + s.off, text, s.n) == 0;
}

const struct http_field *http_field_find(const struct http_head *h, const char *p, const char *name)
{
	for (uint32_t i = 0; i < h->n_fields; i++) {
		if (http_span_is(h->fields[i].name, p, name))
			return &h->fields[i];
	}
	return NULL;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

bool http_list_has(const char *value, size_t n, const char *word)
{
	const char *s = value, *end = value + n;
	size_t length = strlen(word);

	while (s < end) {
		const char *comma = memchr(s, ',', (size_t)(end - s));
		const char *to = comma ? comma : end;

		while (s < to && is_blank(*s))
			s++;
		while (to > s && is_blank(to[-1]))
			to--;
		if ((size_t)(to - s) == length && strncasecmp(s, word, length) == 0)
			return true;
		s = comma ? comma + 1 : end;
	}
	return false;
}

bool http_field_has(const struct http_head *h, const char *p, const char *name, const char *word)
{
	for (uint32_t i = 0; i < h->n_fields; i++) {
		const struct http_field *f = &h->fields[i];

		if (http_span_is(f->name, p, name) &&
			http_list_has(p + f->value.off, f->value.n, word))
			return true;
	}
	return false;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "HTTP/1.0" or "HTTP/1.1" at s (eight bytes are there). */
static int version(const char *s)
{
	if (memcmp(s, "HTTP/1.", 7) != 0 || (s[7] != '0' && s[7] != '1'))
		return -1;
	return s[7] - '0';
}

/* status-line = HTTP-version SP 3DIGIT [SP reason]. The space before an empty reason is often left
 * out by servers and cannot be misread, so its absence is accepted. */
static enum http_progress status_line(struct http_head *h, const char *s, uint32_t n)
{
	if (n < 12 || s[8] != ' ' || !is_digit(s[9]) || !is_digit(s[10]) || !is_digit(s[11]))
		return bad(h, 502, 0, "the status line is malformed");
	h->minor = version(s);
	if (h->minor < 0)
		return bad(h, 502, 0, "the HTTP version is neither 1.0 nor 1.1");
	h->status = (s[9] - '0') * 100 + (s[10] - '0') * 10 + (s[11] - '0');
	if (h->status < 100)
		return bad(h, 502, 0, "the status is below 100");
	if (n > 12 && (s[12] != ' ' || !http_all_value(s + 13, n - 13)))
		return bad(h, 502, 0, "the status line is malformed after the status");
	return HTTP_MORE;
}

/* How many bytes from s on are of a token, or visible ASCII. */
static uint32_t token_run(const char *s, uint32_t n)
{
	uint32_t i = 0;

	while (i < n && http_is_token(s[i]))
		i++;
	return i;
}

static uint32_t visible_run(const char *s, uint32_t n)
{
	uint32_t i = 0;

	while (i < n && (uint8_t)s[i] > 0x20 && (uint8_t)s[i] < 0x7f)
		i++;
	return i;
}

/* HTTP-version at the end of a request line. */
static enum http_progress request_version(struct http_head *h, const char *s, uint32_t n)
{
	if (n != 8 || memcmp(s, "HTTP/", 5) != 0 || !is_digit(s[5]) || s[6] != '.' ||
		!is_digit(s[7]))
		return bad(h, 400, 0, "the request line is malformed after the target");
	h->minor = version(s);
	if (h->minor < 0)
		return bad(h, 505, 0, "the HTTP version is neither 1.0 nor 1.1");
	return HTTP_MORE;
}

/* request-line = method SP request-target SP HTTP-version */
static enum http_progress request_line(struct http_head *h, const char *s, uint32_t n)
{
	uint32_t method = token_run(s, n), target, at;

	if (method == 0 || method == n || s[method] != ' ')
		return bad(h, 400, 0, "the method is malformed");
	at = method + 1;
	target = visible_run(s + at, n - at);
	if (target == 0 || at + target == n || s[at + target] != ' ')
		return bad(h, 400, 0, "the request target is malformed");
	h->method = (struct http_span){0, method};
	h->target = (struct http_span){at, target};
	at += target + 1;
	return request_version(h, s + at, n - at);
}

static enum http_progress content_length(struct http_head *h, const char *v, uint32_t n)
{
	uint64_t x = 0;

	if (h->has_length)
		return bad(h, 400, h->line, "there is more than one Content-Length");
	if (n == 0 || n > 18) /* 18 digits fit into 64 bits */
		return bad(h, 400, h->line, "the Content-Length is not a plain number");
	for (uint32_t i = 0; i < n; i++) {
		if (!is_digit(v[i]))
			return bad(h, 400, h->line, "the Content-Length is not a plain number");
		x = x * 10 + (uint64_t)(v[i] - '0');
	}
	h->has_length = true;
	h->length = x;
	return HTTP_MORE;
}

static enum http_progress transfer_encoding(struct http_head *h, const char *v, uint32_t n)
{
	if (h->chunked)
		return bad(h, 400, h->line, "there is more than one Transfer-Encoding");
	if (n != 7 || strncasecmp(v, "chunked", 7) != 0)
		return bad(h, 501, h->line, "the Transfer-Encoding is not 'chunked'");
	h->chunked = true;
	return HTTP_MORE;
}

static void connection(struct http_head *h, const char *v, uint32_t n)
{
	for (uint32_t i = 0; i < n;) {
		uint32_t from = i;

		while (i < n && http_is_token(v[i]))
			i++;
		if (i - from == 5 && strncasecmp(v + from, "close", 5) == 0)
			h->token_close = true;
		if (i - from == 10 && strncasecmp(v + from, "keep-alive", 10) == 0)
			h->token_keep = true;
		if (i == from)
			i++;
	}
}

/* The fields that decide framing; the length of the name tells most others apart at once. */
static enum http_progress known_field(struct http_head *h, const char *p, struct http_field f)
{
	const char *name = p + f.name.off, *v = p + f.value.off;

	switch (f.name.n) {
	case 4:
		if (strncasecmp(name, "host", 4) == 0)
			h->hosts++;
		break;
	case 6:
		if (strncasecmp(name, "expect", 6) == 0) {
			if (h->request && !http_span_is(f.value, p, "100-continue"))
				return bad(
					h, 417, h->line, "the expectation is not '100-continue'");
			h->expect_continue = true;
		}
		break;
	case 10:
		if (strncasecmp(name, "connection", 10) == 0)
			connection(h, v, f.value.n);
		break;
	case 14:
		if (strncasecmp(name, "content-length", 14) == 0)
			return content_length(h, v, f.value.n);
		break;
	case 17:
		if (strncasecmp(name, "transfer-encoding", 17) == 0)
			return transfer_encoding(h, v, f.value.n);
		break;
	default:
		break;
	}
	return HTTP_MORE;
}

static enum http_progress field_line(struct http_head *h, const char *p, uint32_t n)
{
	const char *s = p + h->line;
	uint32_t name = token_run(s, n), from, to = n;
	struct http_field f;

	if (is_blank(s[0]))
		return bad(h, 400, h->line, "a field line is folded");
	if (name == 0 || name == n || s[name] != ':')
		return bad(h, 400, h->line, "a field name is malformed");
	if (h->n_fields == HTTP_FIELDS_MAX)
		return bad(h, 431, h->line, "there are too many fields");
	from = name + 1;
	if (!http_all_value(s + from, n - from))
		return bad(h, 400, h->line, "a field value holds a control character");
	while (from < to && is_blank(s[from]))
		from++;
	while (to > from && is_blank(s[to - 1]))
		to--;
	f.name = (struct http_span){h->line, name};
	f.value = (struct http_span){h->line + from, to - from};
	h->fields[h->n_fields++] = f;
	return known_field(h, p, f);
}

/* The rules that need all fields. */
static enum http_progress finish(struct http_head *h)
{
	if (h->chunked && h->has_length)
		return bad(h, 400, h->line, "both Content-Length and Transfer-Encoding are given");
	if (h->chunked && h->minor == 0)
		return bad(h, 400, h->line, "HTTP/1.0 has no Transfer-Encoding");
	if (h->request && (h->hosts > 1 || (h->minor == 1 && h->hosts == 0)))
		return bad(h, 400, h->line, "there is not exactly one Host field");
	h->keep = !h->token_close && (h->minor == 1 || h->token_keep);
	h->size = h->line + 2;
	return HTTP_DONE;
}

/* One whole line of n bytes without its end. */
static enum http_progress one_line(struct http_head *h, const char *p, uint32_t n)
{
	if (h->line == 0)
		return h->request ? request_line(h, p, n) : status_line(h, p, n);
	if (n == 0)
		return finish(h);
	return field_line(h, p, n);
}

/* A peer that does not speak HTTP at all may never send a line end: the first bytes tell. */
static bool starts_like_response(const char *p, size_t n)
{
	return memcmp(p, "HTTP/1.", n < 7 ? n : 7) == 0;
}

enum http_progress http_head_parse(struct http_head *h, const char *p, size_t n)
{
	if (h->problem)
		return HTTP_BAD;
	if (h->size)
		return HTTP_DONE;
	if (n > HTTP_HEAD_MAX)
		n = HTTP_HEAD_MAX;
	if (!h->request && h->line == 0 && !starts_like_response(p, n))
		return bad(h, 502, 0, "it does not start with 'HTTP/1.'");
	for (;;) {
		const char *nl = memchr(p + h->scanned, '\n', n - h->scanned);
		uint32_t end;
		enum http_progress r;

		if (!nl) {
			h->scanned = (uint32_t)n;
			if (n == HTTP_HEAD_MAX)
				return bad(h, 431, HTTP_HEAD_MAX, "the head is too long");
			return HTTP_MORE;
		}
		end = (uint32_t)(nl - p);
		if (end == h->line || nl[-1] != '\r')
			return bad(h, 400, h->line, "a line ends in a bare line feed");
		r = one_line(h, p, end - 1 - h->line);
		if (r != HTTP_MORE)
			return r;
		h->line = h->scanned = end + 1;
	}
}
