#include "origin/route.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

struct text {
	const char *p;
	size_t n;
};

static const struct {
	const char *word;
	enum route_kind kind;
	bool number;
	uint64_t min, max;
} words[] = {
	{"health", ROUTE_HEALTH, false, 0, 0},
	{"bytes", ROUTE_BYTES, true, 0, ROUTE_BYTES_MAX},
	{"chunked", ROUTE_CHUNKED, true, 0, ROUTE_BYTES_MAX},
	{"echo", ROUTE_ECHO, false, 0, 0},
	{"status", ROUTE_STATUS, true, 200, 599},
	{"reset", ROUTE_RESET, false, 0, 0},
	{"close", ROUTE_CLOSE, false, 0, 0},
	{"half", ROUTE_HALF, true, 1, ROUTE_BYTES_MAX},
	{"slow", ROUTE_SLOW, true, 0, ROUTE_SLOW_MAX},
};

/* A proxy may ask in absolute form; what a query says does not matter here. */
static struct text path_of(const char *target, size_t n)
{
	const char *end = memchr(target, '?', n);
	struct text t = {target, end ? (size_t)(end - target) : n};

	if (t.n > 7 && strncasecmp(t.p, "http://", 7) == 0) {
		const char *slash = memchr(t.p + 7, '/', t.n - 7);

		if (!slash)
			return (struct text){"/", 1};
		t.n -= (size_t)(slash - t.p);
		t.p = slash;
	}
	return t;
}

/* Takes "/segment" from the front. */
static bool segment(struct text *t, struct text *ret)
{
	const char *slash;

	if (t->n == 0 || t->p[0] != '/')
		return false;
	ret->p = t->p + 1;
	slash = memchr(ret->p, '/', t->n - 1);
	ret->n = slash ? (size_t)(slash - ret->p) : t->n - 1;
	t->p = ret->p + ret->n;
	t->n -= 1 + ret->n;
	return true;
}

static bool number(struct text t, uint64_t min, uint64_t max, uint64_t *ret)
{
	uint64_t v = 0;

	if (t.n == 0 || t.n > 18)
		return false;
	for (size_t i = 0; i < t.n; i++) {
		if (t.p[i] < '0' || t.p[i] > '9')
			return false;
		v = v * 10 + (uint64_t)(t.p[i] - '0');
	}
	*ret = v;
	return v >= min && v <= max;
}

static bool is(struct text t, const char *word)
{
	return strlen(word) == t.n && memcmp(t.p, word, t.n) == 0;
}

/* The part after all delays. */
static void last_part(struct route *r, struct text word, struct text rest)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct text arg = {NULL, 0};

		if (!is(word, words[i].word))
			continue;
		r->kind = words[i].kind;
		if (words[i].number &&
			(!segment(&rest, &arg) || !number(arg, words[i].min, words[i].max, &r->n)))
			r->kind = ROUTE_BAD;
		if (rest.n) /* something follows */
			r->kind = ROUTE_UNKNOWN;
		return;
	}
}

struct route route_parse(const char *target, size_t n)
{
	struct route r = {.kind = ROUTE_UNKNOWN};
	struct text t = path_of(target, n), word, arg;

	while (segment(&t, &word)) {
		uint64_t ms;

		if (!is(word, "delay")) {
			last_part(&r, word, t);
			return r;
		}
		if (!segment(&t, &arg) || !number(arg, 0, ROUTE_DELAY_MAX - r.delay_ms, &ms)) {
			r.kind = ROUTE_BAD;
			return r;
		}
		r.delay_ms += (uint32_t)ms;
	}
	return r;
}
