#include "http_script.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Of the sanitizers' allocators, where one is linked. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t live_before;

void must(bool holds, const char *what)
{
	if (holds)
		return;
	fflush(stdout);
	fprintf(stderr, "fuzz_http: %s\n", what);
	abort();
}

static void show(const char *name, const char *p, size_t n)
{
	fprintf(stderr, "fuzz_http: %s, %zu bytes: ", name, n);
	for (size_t i = 0; i < n && i < 4000; i++)
		fprintf(stderr,
			(unsigned char)p[i] < 0x20 || (unsigned char)p[i] > 0x7e ? "\\x%02x" : "%c",
			(unsigned char)p[i]);
	fputc('\n', stderr);
}

void must_equal(const void *a, size_t a_n, const void *b, size_t b_n, const char *what)
{
	if (a_n == b_n && (a_n == 0 || memcmp(a, b, a_n) == 0))
		return;
	show("one", a, a_n);
	show("other", b, b_n);
	must(false, what);
}

static size_t live(void)
{
	struct mallinfo2 m;

	if (__sanitizer_get_current_allocated_bytes)
		return __sanitizer_get_current_allocated_bytes();
	m = mallinfo2();
	return m.uordblks + m.hblkhd;
}

void memory_begin(void)
{
	live_before = live();
}

void memory_must(size_t max)
{
	size_t now = live();

	if (now <= live_before + max)
		return;
	fprintf(stderr, "fuzz_http: %zu bytes more than before\n", now - live_before);
	must(false, "memory grows with what a peer sends");
}

static bool tells;

bool telling(void)
{
	return tells;
}

void tell_all(void)
{
	tells = true;
}

/* ---- Scripts -------------------------------------------------------------------------------- */

static void add_round(struct script *s, size_t from, size_t to, bool opens)
{
	if (s->n_rounds < SCRIPT_ROUNDS)
		s->rounds[s->n_rounds++] = (struct script_round){from, to, opens};
}

/* Copies what stands between the marks, so that rounds lie one after the other. */
static void split(struct script *s, const uint8_t *p, size_t n)
{
	size_t from = 0;
	bool opens = true;

	for (size_t i = 0; i < n;) {
		bool mark = i + 3 <= n && p[i] == 0xff && p[i + 1] == 0 &&
			    (p[i + 2] == 'R' || p[i + 2] == 'C');

		if (!mark) {
			s->bytes[s->n++] = (char)p[i++];
			continue;
		}
		add_round(s, from, s->n, opens);
		from = s->n;
		opens = p[i + 2] == 'C';
		i += 3;
	}
	add_round(s, from, s->n, opens);
}

bool script_read(struct script *s, const uint8_t *data, size_t n)
{
	size_t again = n > 1 && data[1] >= 'a' && data[1] <= 'z' ? data[1] - 'a' + 1u : 0;
	struct script_round *last;

	*s = (struct script){0};
	if (n < 2)
		return false;
	s->settings = data[0];
	s->bytes = xmalloc(n + SCRIPT_LONG + 26);
	split(s, data + 2, n - 2);
	last = &s->rounds[s->n_rounds - 1];
	if (last->to != s->n || last->to - last->from < again)
		again = 0;
	while (again && s->n < SCRIPT_LONG) {
		memcpy(s->bytes + s->n, s->bytes + s->n - again, again);
		s->n += again;
	}
	if (again)
		last->to = s->n;
	return true;
}

void script_free(struct script *s)
{
	free(s->bytes);
}

struct cuts cuts_of(const struct script *s, enum cut how)
{
	uint64_t h = 14695981039346656037ull;

	for (size_t i = 0; i < s->n && i < 8192; i++)
		h = (h ^ (uint8_t)s->bytes[i]) * 1099511628211ull;
	/* Long inputs in single bytes would be all that the fuzzer has time for. */
	if (how == CUT_BYTES && s->n > 16384)
		how = CUT_SOME;
	return (struct cuts){how, h | 1};
}

size_t cuts_next(struct cuts *c, size_t left)
{
	size_t most;

	if (c->how == CUT_NOT)
		return left;
	if (c->how == CUT_BYTES)
		return 1;
	c->rng ^= c->rng << 13;
	c->rng ^= c->rng >> 7;
	c->rng ^= c->rng << 17;
	/* Mostly short pieces, sometimes long ones. */
	most = (c->rng >> 60) < 12 ? 24 : 6000;
	most = 1 + (size_t)(c->rng >> 20) % most;
	return most < left ? most : left;
}

/* ---- Cursors -------------------------------------------------------------------------------- */

bool cursor_open(struct cursor *c, const struct script *s, size_t *next)
{
	while (*next < s->n_rounds && !s->rounds[*next].opens)
		++*next;
	if (*next == s->n_rounds)
		return false;
	*c = (struct cursor){.s = s, .round = *next, .at = s->rounds[*next].from};
	++*next;
	return true;
}

size_t cursor_left(const struct cursor *c)
{
	return c->over ? 0 : c->s->rounds[c->round].to - c->at;
}

bool cursor_ready(struct cursor *c)
{
	while (!c->over && cursor_left(c) == 0) {
		if (c->round + 1 == c->s->n_rounds || c->s->rounds[c->round + 1].opens)
			c->over = true;
		else
			c->at = c->s->rounds[++c->round].from;
	}
	return !c->over;
}

size_t cursor_take(struct cursor *c, struct cuts *k, const char **p, size_t max)
{
	size_t left = cursor_left(c);
	size_t n = cuts_next(k, left < max ? left : max);

	*p = c->s->bytes + c->at;
	c->at += n;
	return n;
}
