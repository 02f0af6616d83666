#include "http/chars.h"

#include <string.h>

const uint8_t http_token_table[256] = {
	['!'] = 1,
	['#' ... '\''] = 1,
	['*'] = 1,
	['+'] = 1,
	['-'] = 1,
	['.'] = 1,
	['0' ... '9'] = 1,
	['A' ... 'Z'] = 1,
	['^'] = 1,
	['_'] = 1,
	['`'] = 1,
	['a' ... 'z'] = 1,
	['|'] = 1,
	['~'] = 1,
};

#define BYTES(c) (0x0101010101010101ULL * (c))

/* Eight bytes at once: false means none of them is below 0x20 or equal to 0x7f. A true answer may
 * be wrong for neighbours of a hit, so it only sends the caller to the byte-wise test. */
static bool maybe_control(uint64_t x)
{
	uint64_t below = (x - BYTES(0x20)) & ~x & BYTES(0x80);
	uint64_t y = x ^ BYTES(0x7f);
	uint64_t del = (y - BYTES(0x01)) & ~y & BYTES(0x80);

	return below | del;
}

bool http_all_value(const char *p, size_t n)
{
	size_t i = 0;

	for (; i + 8 <= n; i += 8) {
		uint64_t x;

		memcpy(&x, p + i, 8);
		if (!maybe_control(x))
			continue;
		for (size_t k = 0; k < 8; k++) {
			if (!http_is_value(p[i + k]))
				return false;
		}
	}
	for (; i < n; i++) {
		if (!http_is_value(p[i]))
			return false;
	}
	return true;
}
