#include "train/counts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

#define COUNT_MAX (UINT64_MAX - 2) /* the two values above it are marks, no counts */

struct value {
	const char *target;
	uint64_t count;
};

struct site {
	size_t first, n; /* in values */
};

struct kind {
	const char *number;
	size_t first, n; /* in sites */
};

/* One function's record; texts point into the cursor's. */
struct record {
	const char *name;
	uint64_t hash;
	uint64_t *counts;
	size_t n_counts, cap_counts;
	const char **bytes; /* of its bitmap */
	size_t n_bytes, cap_bytes;
	struct kind kinds[4];
	size_t n_kinds;
	struct site *sites;
	size_t n_sites, cap_sites;
	struct value *values;
	size_t n_values, cap_values;
};

/* Goes through a text profile, which it cuts into lines. */
struct cursor {
	struct buf text;
	char *at;
	struct record r;
	bool ended, broken;
};

static void cursor_release(struct cursor *c)
{
	buf_release(&c->text);
	free(c->r.counts);
	free(c->r.bytes);
	free(c->r.sites);
	free(c->r.values);
}

/* The next line that says something, without moving on; NULL at the end. */
static char *peek(struct cursor *c)
{
	while (c->at && *c->at && (*c->at == '\n' || *c->at == '#')) {
		char *end = strchr(c->at, '\n');

		c->at = end ? end + 1 : c->at + strlen(c->at);
	}
	return c->at && *c->at ? c->at : NULL;
}

static const char *take_line(struct cursor *c)
{
	char *line = peek(c), *end;

	if (!line) {
		c->broken = true;
		return "";
	}
	end = strchr(line, '\n');
	c->at = end ? end + 1 : line + strlen(line);
	if (end)
		*end = '\0';
	return line;
}

static uint64_t take_number(struct cursor *c)
{
	const char *line = take_line(c);
	char *end;
	uint64_t v = strtoull(*line == '$' ? line + 1 : line, &end, 10);

	if (end == line || *end)
		c->broken = true;
	return v;
}

static bool is_number(const char *line)
{
	size_t n = line ? strspn(line, "0123456789") : 0;

	return n && (line[n] == '\n' || !line[n]);
}

static void take_values(struct cursor *c, struct site *s)
{
	struct record *r = &c->r;
	uint64_t n = take_number(c);

	s->first = r->n_values;
	for (uint64_t i = 0; i < n && !c->broken; i++) {
		const char *line = take_line(c);
		char *colon = strrchr(line, ':');

		if (!colon) {
			c->broken = true;
			return;
		}
		*colon = '\0';
		array_reserve(r->values, r->n_values, r->cap_values);
		r->values[r->n_values++] = (struct value){line, strtoull(colon + 1, NULL, 10)};
	}
	s->n = r->n_values - s->first;
}

static void take_kinds(struct cursor *c)
{
	struct record *r = &c->r;
	uint64_t n = take_number(c);

	for (; r->n_kinds < n && r->n_kinds < ARRAY_SIZE(r->kinds) && !c->broken; r->n_kinds++) {
		struct kind *k = &r->kinds[r->n_kinds];
		uint64_t sites;

		k->number = take_line(c);
		k->first = r->n_sites;
		sites = take_number(c);
		for (uint64_t i = 0; i < sites && !c->broken; i++) {
			struct site s = {0};

			take_values(c, &s);
			array_reserve(r->sites, r->n_sites, r->cap_sites);
			r->sites[r->n_sites++] = s;
		}
		k->n = r->n_sites - k->first;
	}
	c->broken = c->broken || r->n_kinds < n;
}

/* The next record becomes c->r; false at the end, or when the text is broken. */
static bool next(struct cursor *c)
{
	struct record *r = &c->r;
	uint64_t n;
	const char *line;

	r->n_counts = r->n_bytes = r->n_kinds = r->n_sites = r->n_values = 0;
	c->ended = !peek(c);
	if (c->ended)
		return false;
	r->name = take_line(c);
	r->hash = take_number(c);
	n = take_number(c);
	for (uint64_t i = 0; i < n && !c->broken; i++) {
		array_reserve(r->counts, r->n_counts, r->cap_counts);
		r->counts[r->n_counts++] = take_number(c);
	}
	line = peek(c);
	n = line && *line == '$' && is_number(line + 1) ? take_number(c) : 0;
	for (uint64_t i = 0; i < n && !c->broken; i++) {
		array_reserve(r->bytes, r->n_bytes, r->cap_bytes);
		r->bytes[r->n_bytes++] = take_line(c);
	}
	if (is_number(peek(c)))
		take_kinds(c);
	return !c->broken;
}

/* The header goes to ret (may be NULL). Traces of first calls belong to no part of a run. */
static void take_header(struct cursor *c, struct buf *ret)
{
	const char *line;

	while ((line = peek(c)) && *line == ':') {
		line = take_line(c);
		if (strcmp(line, ":temporal_prof_traces") == 0) {
			uint64_t n = take_number(c);

			take_number(c);
			for (uint64_t i = 0; i < n && !c->broken; i++) {
				take_line(c);
				take_line(c);
			}
		} else if (ret) {
			buf_addf(ret, "%s\n", line);
		}
	}
}

static void cursor_begin(struct cursor *c, struct buf *header)
{
	c->at = c->text.p;
	take_header(c, header);
}

static int cursor_open(struct cursor *c, struct profile *p, const char *scratch, struct buf *header,
	struct error *err)
{
	int rc;

	*c = (struct cursor){0};
	rc = profile_write_text(p, PROFILE_LLVM_NEWEST, scratch, err);
	if (rc == 0)
		rc = file_read(scratch, SIZE_MAX / 2, &c->text, err);
	(void)unlink(scratch);
	cursor_begin(c, header);
	return rc;
}

static int broken(const struct cursor *c, struct error *err)
{
	return error_set(err, ERR_INTERNAL,
		"the text form of a profile is not as expected at byte %zu of %zu",
		c->at ? (size_t)(c->at - c->text.p) : 0, c->text.n);
}

static bool counts_nothing(const struct record *r)
{
	for (size_t i = 0; i < r->n_counts; i++)
		if (r->counts[i])
			return false;
	return true;
}

static void put_site(const struct record *r, const struct site *s, struct buf *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += r->values[s->first + i].count != 0;
	buf_addf(ret, "%zu\n", n);
	for (size_t i = 0; i < s->n; i++) {
		const struct value *v = &r->values[s->first + i];

		if (v->count)
			buf_addf(ret, "%s:%" PRIu64 "\n", v->target, v->count);
	}
}

static void put(const struct record *r, struct buf *ret)
{
	if (counts_nothing(r))
		return;
	buf_addf(ret, "%s\n%" PRIu64 "\n%zu\n", r->name, r->hash, r->n_counts);
	for (size_t i = 0; i < r->n_counts; i++)
		buf_addf(ret, "%" PRIu64 "\n", r->counts[i]);
	if (r->n_bytes)
		buf_addf(ret, "$%zu\n", r->n_bytes);
	for (size_t i = 0; i < r->n_bytes; i++)
		buf_addf(ret, "%s\n", r->bytes[i]);
	if (r->n_kinds)
		buf_addf(ret, "%zu\n", r->n_kinds);
	for (size_t k = 0; k < r->n_kinds; k++) {
		buf_addf(ret, "%s\n%zu\n", r->kinds[k].number, r->kinds[k].n);
		for (size_t i = 0; i < r->kinds[k].n; i++)
			put_site(r, &r->sites[r->kinds[k].first + i], ret);
	}
	buf_addc(ret, '\n');
}

/* Readers know the text form by plain ASCII at its beginning, which a name need not have. */
static struct buf begin(void)
{
	struct buf b = {.max = SIZE_MAX / 2};

	buf_adds(&b, "# counters\n");
	return b;
}

/* ---- Difference ------------------------------------------------------------------------------ */

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b && a <= COUNT_MAX ? a - b : 0;
}

/* Targets without a name have all the same one. */
static void join_targets(struct record *r, const struct site *s)
{
	for (size_t i = 0; i < s->n; i++) {
		struct value *v = &r->values[s->first + i];

		for (size_t k = 0; k < i; k++) {
			struct value *same = &r->values[s->first + k];

			if (strcmp(v->target, same->target) != 0)
				continue;
			same->count += v->count < COUNT_MAX - same->count ? v->count
									  : COUNT_MAX - same->count;
			v->count = 0;
			break;
		}
	}
}

static void subtract_values(struct record *r, struct record *before)
{
	for (size_t s = 0; s < r->n_sites && s < before->n_sites; s++) {
		const struct site *a = &r->sites[s], *b = &before->sites[s];

		join_targets(r, a);
		join_targets(before, b);
		for (size_t i = 0; i < a->n; i++) {
			struct value *v = &r->values[a->first + i];

			for (size_t k = 0; k < b->n; k++) {
				const struct value *old = &before->values[b->first + k];

				if (strcmp(v->target, old->target) != 0)
					continue;
				v->count = less(v->count, old->count);
				break;
			}
		}
	}
}

static int order(const struct record *a, const struct record *b)
{
	int r = strcmp(a->name, b->name);

	return r ? r : a->hash < b->hash ? -1 : a->hash > b->hash;
}

/* Both texts stand in ascending order of name and hash. b stands at a record unless it has ended.
 */
static void subtract(struct cursor *a, struct cursor *b)
{
	struct record *r = &a->r, none = {0}, *old = &none;
	int c = -1;

	while (!b->ended && !b->broken && (c = order(&b->r, r)) < 0)
		next(b);
	if (!b->ended && !b->broken && c == 0 && b->r.n_counts == r->n_counts)
		old = &b->r;
	for (size_t i = 0; i < r->n_counts; i++)
		r->counts[i] = less(r->counts[i], old->n_counts ? old->counts[i] : 0);
	subtract_values(r, old);
}

int counts_between(struct profile *before, struct profile *after, const char *scratch,
	struct buf *ret, struct error *err)
{
	struct cursor a = {0}, b = {.ended = true};
	struct buf out = begin();
	int rc = cursor_open(&a, after, scratch, &out, err);

	if (rc == 0 && before)
		rc = cursor_open(&b, before, scratch, NULL, err);
	if (rc == 0 && before)
		next(&b);
	while (rc == 0 && next(&a)) {
		subtract(&a, &b);
		put(&a.r, &out);
	}
	if (rc == 0 && (a.broken || b.broken))
		rc = broken(a.broken ? &a : &b, err);
	cursor_release(&a);
	cursor_release(&b);
	if (rc == 0) {
		buf_release(ret);
		*ret = out;
	} else {
		buf_release(&out);
	}
	return rc;
}

/* ---- Factor ---------------------------------------------------------------------------------- */

static uint64_t scale(uint64_t count, uint64_t factor)
{
	unsigned __int128 v = (unsigned __int128)count * factor;

	v = (v + COUNTS_FACTOR_ONE / 2) >> COUNTS_FACTOR_BITS;
	return v > COUNT_MAX ? COUNT_MAX : (uint64_t)v;
}

int counts_scaled(struct buf *text, uint64_t factor, struct buf *ret, struct error *err)
{
	struct buf out = begin();
	struct cursor c = {.text = *text};
	int rc = 0;

	*text = (struct buf)BUF_INIT;
	cursor_begin(&c, &out);
	while (next(&c)) {
		for (size_t i = 0; i < c.r.n_counts; i++)
			c.r.counts[i] = scale(less(c.r.counts[i], 0), factor);
		for (size_t i = 0; i < c.r.n_values; i++)
			c.r.values[i].count = scale(c.r.values[i].count, factor);
		put(&c.r, &out);
	}
	if (c.broken)
		rc = broken(&c, err);
	cursor_release(&c);
	if (rc == 0) {
		buf_release(ret);
		*ret = out;
	} else {
		buf_release(&out);
	}
	return rc;
}
