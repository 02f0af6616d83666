/* What a path asks for. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum route_kind {
	ROUTE_UNKNOWN,
	ROUTE_BAD, /* a known word with a number that is wrong */
	ROUTE_HEALTH,
	ROUTE_BYTES,
	ROUTE_CHUNKED,
	ROUTE_ECHO,
	ROUTE_STATUS,
	ROUTE_RESET,
	ROUTE_CLOSE,
	ROUTE_HALF,
	ROUTE_SLOW,
};

struct route {
	enum route_kind kind;
	uint64_t n;        /* the number in it */
	uint32_t delay_ms; /* all /delay/MS in front, added up */
};

#define ROUTE_BYTES_MAX ((uint64_t)1 << 40)
#define ROUTE_SLOW_MAX 1000000
#define ROUTE_DELAY_MAX 60000 /* ms, together */

struct route route_parse(const char *target, size_t n);
