#include "facts/quote.h"

void text_quote(struct buf *b, const char *p, size_t n, size_t max)
{
	size_t k = n < max ? n : max;

	buf_addc(b, '"');
	for (size_t i = 0; i < k; i++) {
		unsigned char u = (unsigned char)p[i];

		if (u == '\n')
			buf_adds(b, "\\n");
		else if (u == '\r')
			buf_adds(b, "\\r");
		else if (u == '"' || u == '\\')
			buf_addf(b, "\\%c", u);
		else if (u < 0x20 || u >= 0x7f)
			buf_addf(b, "\\x%02x", u);
		else
			buf_addc(b, (char)u);
	}
	buf_adds(b, n > max ? "\" ..." : "\"");
}
