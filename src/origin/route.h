/* What a path asks for. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text {
	const char *p; /* NULL: absent */
	size_t n;
};

/* Letter case matters. Inline, so that the length of a literal is known. */
static inline bool text_is(struct text t, const char *word)
{
	size_t n = strlen(word);

	return t.p && t.n == n && memcmp(t.p, word, n) == 0;
}

enum route_kind {
	ROUTE_UNKNOWN,
	ROUTE_BAD, /* a known word with an argument that is wrong */
	ROUTE_HEALTH,
	ROUTE_BYTES,
	ROUTE_CHUNKED,
	ROUTE_ECHO,
	ROUTE_STATUS,
	ROUTE_RESET,
	ROUTE_CLOSE,
	ROUTE_HALF,
	ROUTE_SLOW,
	ROUTE_EVENTS,
	ROUTE_SOCKET,
};

/* How an answer is spoilt. */
enum fault {
	FAULT_NONE,
	FAULT_STATUS, /* another status */
	FAULT_SHORT,  /* one byte fewer, and the length says so, too */
	FAULT_CUT,    /* one byte fewer than promised */
	FAULT_BYTE,   /* one byte in the middle is changed */
	FAULT_HEADER, /* fields are missing */
	FAULT_HALF,   /* half of the body, then the stream or connection ends */
	FAULT_STALL,  /* half of the body, then nothing */
	FAULT_RESET,  /* no answer */
	FAULT_CLOSE,
	FAULT_GOAWAY, /* half of the body, then GOAWAY and the connection ends */
	FAULT_ALERT,  /* half of the body, then a TLS alert */
	FAULT_ACCEPT, /* of a WebSocket: another Sec-WebSocket-Accept */
	FAULT_MASK,   /* of a WebSocket: masked frames */
	FAULTS,
};

#define ROUTE_HEADERS_MAX 4

struct route {
	enum route_kind kind;
	uint64_t n;        /* the number in it */
	uint32_t delay_ms; /* all /delay/MS in front, added up */
	uint64_t keep;     /* requests per connection; 0: no limit */
	enum fault fault;
	uint64_t every; /* the fault comes with one request in that many */
	uint32_t n_headers;
	struct {
		struct text name, value; /* as in the path, percent signs and all */
	} headers[ROUTE_HEADERS_MAX];
};

#define ROUTE_BYTES_MAX ((uint64_t)1 << 40)
#define ROUTE_COUNT_MAX ((uint64_t)1000000000000)
#define ROUTE_SLOW_MAX 1000000
#define ROUTE_EVENTS_MAX 1000000000
#define ROUTE_DELAY_MAX 60000 /* ms, together */

void route_parse(const char *target, size_t n, struct route *ret);

/* Decodes %XX of t into to (room for t.n bytes). Returns the bytes, or -1 when a percent sign is
 * not followed by two hexadecimal digits. */
int route_decode(struct text t, char *to);
