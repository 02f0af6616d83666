#include "origin/origin.h"

#include <string.h>

#define LINE 16

static void line(uint64_t off, char to[LINE])
{
	static const char digits[] = "0123456789abcdef";

	for (int i = LINE - 2; i >= 0; i--) {
		to[i] = digits[off & 15];
		off >>= 4;
	}
	to[LINE - 1] = '\n';
}

void origin_pattern(uint64_t off, void *to, size_t n)
{
	char *p = to;

	while (n) {
		char one[LINE];
		size_t skip = (size_t)(off % LINE);
		size_t k = LINE - skip < n ? LINE - skip : n;

		line(off - skip, one);
		memcpy(p, one + skip, k);
		p += k;
		off += k;
		n -= k;
	}
}
