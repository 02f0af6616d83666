#include "http/http.h"

#include "http/chars.h"

enum chunk_state {
	CHUNK_SIZE,
	CHUNK_EXTENSION,
	CHUNK_SIZE_LF,
	CHUNK_DATA,
	CHUNK_DATA_CR,
	CHUNK_DATA_LF,
	TRAILER_START,
	TRAILER_NAME,
	TRAILER_VALUE,
	TRAILER_LF,
	TRAILER_END_LF,
	CHUNK_DONE,
};

static void body_begin(struct http_body *b, enum http_body_kind kind, uint64_t length)
{
	*b = (struct http_body){.kind = kind, .left = length};
	if (kind == HTTP_BODY_LENGTH && length == 0)
		b->kind = HTTP_BODY_NONE;
}

void http_request_body(struct http_body *b, const struct http_head *h)
{
	if (h->chunked)
		body_begin(b, HTTP_BODY_CHUNKED, 0);
	else
		body_begin(b, HTTP_BODY_LENGTH, h->has_length ? h->length : 0);
}

void http_response_body(struct http_body *b, const struct http_head *h, bool to_head)
{
	if (to_head || h->status < 200 || h->status == 204 || h->status == 304)
		body_begin(b, HTTP_BODY_NONE, 0);
	else if (h->chunked)
		body_begin(b, HTTP_BODY_CHUNKED, 0);
	else if (h->has_length)
		body_begin(b, HTTP_BODY_LENGTH, h->length);
	else
		body_begin(b, HTTP_BODY_UNTIL_CLOSE, 0);
}

static enum http_progress bad(struct http_body *b, const char *problem)
{
	b->problem = problem;
	return HTTP_BAD;
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static enum http_progress size_byte(struct http_body *b, char c)
{
	int v = hex_value(c);

	if (v >= 0) {
		if (++b->digits > 15) /* 60 bits: sums of sizes stay inside 64 */
			return bad(b, "a chunk size is too large");
		b->left = b->left << 4 | (uint64_t)v;
		return HTTP_MORE;
	}
	if (b->digits == 0)
		return bad(b, "a chunk size is not a hexadecimal number");
	b->framing = 0;
	if (c == '\r')
		b->state = CHUNK_SIZE_LF;
	else if (c == ';')
		b->state = CHUNK_EXTENSION;
	else
		return bad(b, "a chunk size is not a hexadecimal number");
	return HTTP_MORE;
}

static enum http_progress extension_byte(struct http_body *b, char c)
{
	if (c == '\r')
		b->state = CHUNK_SIZE_LF;
	else if (!http_is_value(c))
		return bad(b, "a chunk extension holds a control character");
	else if (++b->framing > HTTP_EXTENSION_MAX)
		return bad(b, "a chunk extension is too long");
	return HTTP_MORE;
}

static enum http_progress trailer_byte(struct http_body *b, char c)
{
	if (++b->framing > HTTP_TRAILER_MAX)
		return bad(b, "the trailer section is too long");
	switch (b->state) {
	case TRAILER_START:
		if (c == '\r')
			b->state = TRAILER_END_LF;
		else if (http_is_token(c))
			b->state = TRAILER_NAME;
		else
			return bad(b, "a trailer field name is malformed");
		return HTTP_MORE;
	case TRAILER_NAME:
		if (c == ':')
			b->state = TRAILER_VALUE;
		else if (!http_is_token(c))
			return bad(b, "a trailer field name is malformed");
		return HTTP_MORE;
	case TRAILER_VALUE:
		if (c == '\r')
			b->state = TRAILER_LF;
		else if (!http_is_value(c))
			return bad(b, "a trailer field value holds a control character");
		return HTTP_MORE;
	case TRAILER_LF:
	default:
		if (c != '\n')
			return bad(b, "a trailer line does not end in CR LF");
		b->state = TRAILER_START;
		return HTTP_MORE;
	}
}

/* One byte that is not data. */
static enum http_progress framing_byte(struct http_body *b, char c)
{
	switch (b->state) {
	case CHUNK_SIZE:
		return size_byte(b, c);
	case CHUNK_EXTENSION:
		return extension_byte(b, c);
	case CHUNK_SIZE_LF:
		if (c != '\n')
			return bad(b, "a chunk size line does not end in CR LF");
		b->state = b->left ? CHUNK_DATA : TRAILER_START;
		b->digits = 0;
		b->framing = 0;
		return HTTP_MORE;
	case CHUNK_DATA_CR:
		if (c != '\r')
			return bad(b, "a chunk is not followed by CR LF");
		b->state = CHUNK_DATA_LF;
		return HTTP_MORE;
	case CHUNK_DATA_LF:
		if (c != '\n')
			return bad(b, "a chunk is not followed by CR LF");
		b->state = CHUNK_SIZE;
		return HTTP_MORE;
	case TRAILER_END_LF:
		if (c != '\n')
			return bad(b, "the trailer section does not end in CR LF");
		b->state = CHUNK_DONE;
		return HTTP_DONE;
	default:
		return trailer_byte(b, c);
	}
}

/* Hands out at most left of the n bytes as data. */
static void take(
	struct http_body *b, const char *p, size_t n, size_t *used, struct http_piece *piece)
{
	size_t k = b->left < n ? (size_t)b->left : n;

	*piece = (struct http_piece){p, k};
	*used += k;
	b->left -= k;
	b->got += k;
}

static enum http_progress chunked_feed(
	struct http_body *b, const char *p, size_t n, size_t *used, struct http_piece *piece)
{
	if (b->problem)
		return HTTP_BAD;
	if (b->state == CHUNK_DONE)
		return HTTP_DONE;
	while (*used < n && b->state != CHUNK_DATA) {
		enum http_progress r = framing_byte(b, p[*used]);

		if (r == HTTP_BAD)
			return r;
		(*used)++;
		if (r == HTTP_DONE)
			return r;
	}
	if (b->state == CHUNK_DATA && *used < n) {
		take(b, p + *used, n - *used, used, piece);
		if (b->left == 0)
			b->state = CHUNK_DATA_CR;
	}
	return HTTP_MORE;
}

enum http_progress http_body_feed(
	struct http_body *b, const char *p, size_t n, size_t *used, struct http_piece *piece)
{
	*used = 0;
	*piece = (struct http_piece){NULL, 0};
	switch (b->kind) {
	case HTTP_BODY_NONE:
		return HTTP_DONE;
	case HTTP_BODY_LENGTH:
		if (n)
			take(b, p, n, used, piece);
		return b->left ? HTTP_MORE : HTTP_DONE;
	case HTTP_BODY_CHUNKED:
		return chunked_feed(b, p, n, used, piece);
	case HTTP_BODY_UNTIL_CLOSE:
	default:
		*piece = (struct http_piece){p, n};
		*used = n;
		b->got += n;
		return HTTP_MORE;
	}
}

enum http_progress http_body_eof(struct http_body *b)
{
	switch (b->kind) {
	case HTTP_BODY_NONE:
	case HTTP_BODY_UNTIL_CLOSE:
		return HTTP_DONE;
	case HTTP_BODY_LENGTH:
		return b->left ? bad(b, "the connection ended inside the body") : HTTP_DONE;
	case HTTP_BODY_CHUNKED:
	default:
		if (b->state == CHUNK_DONE)
			return HTTP_DONE;
		return bad(b, "the connection ended inside the chunked body");
	}
}
