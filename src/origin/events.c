/* The stream of /events: event i is the same 37 bytes every time. */
#include "origin/server.h"

#include <stdio.h>

#define EVENT 37

static void event_text(uint64_t i, char to[EVENT + 1])
{
	unsigned long long n = i % 1000000000000;

	(void)snprintf(to, EVENT + 1, "id: %012llu\ndata: %012llu\n\n", n, n);
}

uint64_t events_bytes(uint64_t n)
{
	return n * EVENT;
}

void events_text(uint64_t off, char *to, size_t n)
{
	while (n) {
		char one[EVENT + 1];
		size_t skip = (size_t)(off % EVENT);
		size_t k = EVENT - skip < n ? EVENT - skip : n;

		event_text(off / EVENT, one);
		memcpy(to, one + skip, k);
		to += k;
		off += k;
		n -= k;
	}
}
