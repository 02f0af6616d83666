/* The HTTP/1.1 codec of the load driver and of the origin: strict, incremental, without allocation.
 *
 * A head is parsed in place in a buffer that the caller grows: http_head_parse() is called with the
 * same bytes from the head's start and more at the end, and goes on where it stopped. Positions are
 * offsets, so the buffer may move between calls. Bodies are decoded piece by piece from whatever
 * bytes arrive; nothing is copied.
 *
 * Strict means: what two parsers could read differently is refused. Bare line feeds, folded lines,
 * white space before a colon, control characters, several or signed lengths, Content-Length beside
 * Transfer-Encoding, any transfer coding but chunked, and chunked in HTTP/1.0 are errors. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_HEAD_MAX 65536 /* bytes of a head, its empty line included */
#define HTTP_FIELDS_MAX 128
#define HTTP_TRAILER_MAX 8192   /* bytes of a chunked body's trailer section */
#define HTTP_EXTENSION_MAX 1024 /* bytes of one chunk's extensions */

enum http_progress {
	HTTP_BAD = -1, /* look at problem */
	HTTP_MORE = 0, /* more bytes are needed */
	HTTP_DONE = 1,
};

struct http_span {
	uint32_t off, n; /* from the head's first byte */
};

struct http_field {
	struct http_span name, value; /* the value without white space around it */
};

struct http_head {
	bool request;
	uint32_t size;                   /* bytes of the whole head, once done */
	int minor;                       /* of HTTP/1.minor: 0 or 1 */
	int status;                      /* of a response: 100 to 999 */
	struct http_span method, target; /* of a request */
	uint32_t n_fields;
	bool has_length, chunked, keep; /* keep: the connection may be used again */
	bool expect_continue;
	uint64_t length; /* Content-Length when has_length */
	/* After HTTP_BAD: what is wrong, the offset of the line, and the status for a request. */
	const char *problem;
	uint32_t problem_at;
	int problem_status;
	/* inner state */
	uint32_t line, scanned, hosts;
	bool token_close, token_keep;
	struct http_field fields[HTTP_FIELDS_MAX];
};

void http_request_begin(struct http_head *h);
void http_response_begin(struct http_head *h);
enum http_progress http_head_parse(struct http_head *h, const char *p, size_t n);

/* The first field of this name (any case), or NULL. p: the head's bytes. */
const struct http_field *http_field_find(
	const struct http_head *h, const char *p, const char *name);
/* Whether the span's text equals s, letter case ignored. */
bool http_span_is(struct http_span s, const char *p, const char *text);
/* Whether a value, a list with commas, holds the word; letter case does not count. */
bool http_list_has(const char *value, size_t n, const char *word);
/* The same of all fields of a name, which together are one list. */
bool http_field_has(const struct http_head *h, const char *p, const char *name, const char *word);

enum http_body_kind {
	HTTP_BODY_NONE,
	HTTP_BODY_LENGTH,
	HTTP_BODY_CHUNKED,
	HTTP_BODY_UNTIL_CLOSE,
};

struct http_body {
	enum http_body_kind kind;
	uint64_t got;        /* body bytes handed out so far */
	uint64_t left;       /* of the length, or of the current chunk */
	const char *problem; /* after HTTP_BAD */
	/* inner state */
	uint8_t state, digits;
	uint32_t framing; /* bytes of the current extension or trailer section */
};

/* A run of body bytes inside what was fed. */
struct http_piece {
	const char *p;
	size_t n;
};

void http_request_body(struct http_body *b, const struct http_head *h);
/* to_head: the answer belongs to a HEAD request and has no body whatever its fields say. */
void http_response_body(struct http_body *b, const struct http_head *h, bool to_head);

/* Takes bytes from p: *used says how many, *piece is the body bytes among them (n 0: none). Call
 * again with the rest until it gives HTTP_DONE, HTTP_BAD, or all are used. May be called with n 0
 * to learn whether the body is already complete. */
enum http_progress http_body_feed(
	struct http_body *b, const char *p, size_t n, size_t *used, struct http_piece *piece);
/* The peer closed: HTTP_DONE when that ends the body, else HTTP_BAD. */
enum http_progress http_body_eof(struct http_body *b);

const char *http_status_text(int status); /* "Not Found"; "" when unknown */
