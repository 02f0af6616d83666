/* Conditional requests and ranges (RFC 9110 sections 13 and 14). */
#include "origin/server.h"

#include <string.h>
#include <strings.h>

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

/* A weak tag matches too (RFC 9110 section 13.1.2). Our own tags hold no comma, so a tag with one
 * inside cannot match by its parts. */
bool none_match_hit(struct text t, const char *etag)
{
	const char *v = t.p;
	size_t n = t.n;

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

enum range_result range_of(const struct ask *q, const char *etag, struct range *ret)
{
	struct text f = ask_field(q, ASK_RANGE), cond;

	if (!f.p || !text_is(q->method, "GET"))
		return RANGE_NONE;
	cond = ask_field(q, ASK_IF_RANGE);
	if (cond.p && !text_is(cond, etag))
		return RANGE_NONE;
	return range_parse(f.p, f.n, ret);
}
