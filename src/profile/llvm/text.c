/* Reading the text form: header lines that start with ':', then records of lines. Blank lines and
 * lines that start with '#' mean nothing. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <strings.h>

#include "base/hash.h"
#include "base/mem.h"
#include "profile/llvm/blocks.h"

struct pending {
	struct record *record;
	size_t counts, bitmap, values; /* offsets in the buffers */
};

struct text {
	struct profile *p;
	const char *at, *end;
	size_t number;    /* of the current line */
	const char *line; /* the current line, not NUL-terminated; NULL at the end */
	size_t n;
	uint64_t flags;
	struct buf counts, bitmaps, values; /* values: encoded as in the other formats */
	struct buf traces;                  /* u64 weight, number, references of each */
	uint64_t stream;
	struct pending *v;
	size_t n_pending, cap;
};

bool text_magic(const uint8_t *data, size_t n)
{
	for (size_t i = 0; i < n && i < 8; i++)
		if (!isprint(data[i]) && !isspace(data[i]))
			return false;
	return n > 0;
}

static void next(struct text *t)
{
	do {
		const char *stop;

		if (t->at == t->end) {
			t->line = NULL;
			t->n = 0;
			return;
		}
		stop = memchr(t->at, '\n', (size_t)(t->end - t->at));
		t->line = t->at;
		t->n = (size_t)((stop ? stop : t->end) - t->at);
		t->at = stop ? stop + 1 : t->end;
		t->number++;
		if (t->n && t->line[t->n - 1] == '\r')
			t->n--;
	} while (t->n == 0 || t->line[0] == '#');
}

static bool number_of(const char *s, size_t n, bool hex_allowed, uint64_t *ret)
{
	char text[32], *end;

	if (n == 0 || n >= sizeof(text) || !isdigit((unsigned char)*s))
		return false;
	memcpy(text, s, n);
	text[n] = 0;
	if (hex_allowed && n > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		if (!isxdigit((unsigned char)text[2]) || n > 18)
			return false;
		*ret = strtoull(text, &end, 16);
		return *end == 0;
	}
	/* Digits only and no overflow. */
	*ret = 0;
	for (size_t i = 0; i < n; i++)
		if (!isdigit((unsigned char)s[i]) || __builtin_mul_overflow(*ret, 10, ret) ||
			__builtin_add_overflow(*ret, (uint64_t)(s[i] - '0'), ret))
			return false;
	return true;
}

static int want_number(
	struct text *t, const char *what, uint64_t max, uint64_t *ret, struct error *err)
{
	next(t);
	if (!t->line)
		return error_set(err, ERR_CORRUPT, "line %zu: %s expected, but the file ends",
			t->number, what);
	if (!number_of(t->line, t->n, true, ret) || *ret > max)
		return error_set(err, ERR_CORRUPT, "line %zu: %s expected, not '%.*s'", t->number,
			what, (int)(t->n < 80 ? t->n : 80), t->line);
	return 0;
}

static int read_trace(struct text *t, struct error *err)
{
	const char *at, *end;
	uint64_t weight;
	size_t start = t->traces.n, n = 0;

	if (want_number(t, "weight of a trace", UINT64_MAX, &weight, err) < 0)
		return -1;
	next(t);
	buf_add(&t->traces, (uint64_t[]){weight, 0}, 16);
	if (!t->line)
		return error_set(err, ERR_CORRUPT,
			"line %zu: names of a trace expected, but the file ends", t->number);
	for (at = t->line, end = at + t->n; at < end;) {
		const char *stop = memchr(at, ',', (size_t)(end - at));
		size_t len = (size_t)((stop ? stop : end) - at);
		uint64_t ref = md5_name(at, len);

		if (len) {
			buf_add(&t->traces, &ref, sizeof(ref));
			n++;
		}
		at = stop ? stop + 1 : end;
	}
	if (buf_failed(&t->traces))
		return error_set(err, ERR_UNSUPPORTED, "line %zu: too many traces", t->number);
	memcpy(t->traces.p + start + 8, &(uint64_t){n}, 8);
	return 0;
}

static int read_traces(struct text *t, struct error *err)
{
	uint64_t n, stream;

	if (want_number(t, "number of traces", UINT32_MAX, &n, err) < 0 ||
		want_number(t, "size of the trace stream", UINT64_MAX, &stream, err) < 0)
		return -1;
	t->flags |= FLAG_TEMPORAL;
	t->stream = saturating_add(t->stream, stream);
	for (; n; n--)
		if (read_trace(t, err) < 0)
			return -1;
	return 0;
}

static int header_line(struct text *t, struct error *err)
{
	static const struct {
		const char *name;
		uint64_t flags;
	} names[] = {{"ir", FLAG_IR}, {"fe", 0}, {"csir", FLAG_IR | FLAG_CS},
		{"entry_first", FLAG_ENTRY_FIRST}, {"not_entry_first", 0},
		{"instrument_loop_entries", FLAG_LOOP_ENTRIES},
		{"single_byte_coverage", FLAG_BYTE_COVERAGE}};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (t->n - 1 == strlen(names[i].name) &&
			strncasecmp(t->line + 1, names[i].name, t->n - 1) == 0) {
			t->flags |= names[i].flags;
			return 0;
		}
	if (t->n == 21 && strncasecmp(t->line, ":temporal_prof_traces", 21) == 0)
		return read_traces(t, err);
	return error_set(err, ERR_CORRUPT, "line %zu: unknown header '%.*s'", t->number,
		(int)(t->n < 80 ? t->n : 80), t->line);
}

static int read_value(struct text *t, uint64_t kind, struct error *err)
{
	static const char unknown[] = "** External Symbol **";
	struct value_datum d;
	const char *colon;

	next(t);
	colon = t->line ? memrchr(t->line, ':', t->n) : NULL;
	if (!colon || !number_of(colon + 1, t->n - (size_t)(colon + 1 - t->line), false, &d.count))
		return error_set(err, ERR_CORRUPT, "line %zu: VALUE:COUNT expected", t->number);
	t->n = (size_t)(colon - t->line);
	if (kind != VALUE_MEMOP_SIZE) {
		d.value = t->n == sizeof(unknown) - 1 && memcmp(t->line, unknown, t->n) == 0
				  ? 0
				  : md5_name(t->line, t->n);
	} else if (!number_of(t->line, t->n, false, &d.value)) {
		return error_set(
			err, ERR_CORRUPT, "line %zu: a size expected before ':'", t->number);
	}
	buf_add(&t->values, &d, sizeof(d));
	return 0;
}

/* A kind's values are read behind the room for its site counts, which are known only then. */
static int read_kind(struct text *t, uint64_t *next_kind, struct record_shape *s, struct error *err)
{
	struct buf per_site = BUF_INIT, data = BUF_INIT, before;
	uint64_t kind, sites, n;
	int rc = 0;

	if (want_number(t, "value kind", VALUE_KINDS - 1, &kind, err) < 0 ||
		want_number(t, "number of value sites", UINT32_MAX, &sites, err) < 0)
		return -1;
	if (kind < *next_kind)
		return error_set(err, ERR_CORRUPT, "line %zu: value kinds must ascend", t->number);
	*next_kind = kind + 1;
	before = t->values;
	t->values = data;
	for (uint64_t i = 0; i < sites && rc == 0; i++) {
		rc = want_number(t, "number of values (at most 255)", SITE_MAX, &n, err);
		buf_addc(&per_site, (char)n);
		for (; rc == 0 && n; n--)
			rc = read_value(t, kind, err);
	}
	data = t->values;
	t->values = before;
	if (rc == 0 && sites) {
		buf_add(&t->values, (uint32_t[]){(uint32_t)kind, (uint32_t)sites}, 8);
		buf_add(&t->values, per_site.p, per_site.n);
		buf_add(&t->values, "\0\0\0\0\0\0\0", -(8 + per_site.n) & 7);
		buf_add(&t->values, data.p, data.n);
		s->n_sites[kind] = (uint32_t)sites;
	}
	buf_release(&per_site);
	buf_release(&data);
	return rc;
}

static int read_values(struct text *t, struct record_shape *s, struct error *err)
{
	size_t start = t->values.n;
	uint64_t kinds = 0, next_kind = 0, used = 0;
	uint32_t head[2];

	buf_add(&t->values, (uint32_t[]){8, 0}, 8);
	if (t->line && number_of(t->line, t->n, false, &kinds)) {
		if (kinds < 1 || kinds > VALUE_KINDS)
			return error_set(err, ERR_CORRUPT, "line %zu: 1 to %d value kinds expected",
				t->number, VALUE_KINDS);
		for (uint64_t i = 0; i < kinds; i++)
			if (read_kind(t, &next_kind, s, err) < 0)
				return -1;
		next(t);
	}
	for (int i = 0; i < VALUE_KINDS; i++)
		used += s->n_sites[i] != 0;
	if (buf_failed(&t->values) || t->values.n - start > UINT32_MAX)
		return error_set(err, ERR_UNSUPPORTED, "line %zu: too many values", t->number);
	head[0] = (uint32_t)(t->values.n - start);
	head[1] = (uint32_t)used;
	memcpy(t->values.p + start, head, sizeof(head));
	return 0;
}

static int read_bitmap(struct text *t, struct record_shape *s, struct error *err)
{
	uint64_t n, v;

	/* Names may begin with '$' as well. */
	if (!t->line || t->line[0] != '$' || !number_of(t->line + 1, t->n - 1, false, &n))
		return 0;
	if (n > UINT32_MAX)
		return error_set(err, ERR_CORRUPT, "line %zu: too many bitmap bytes", t->number);
	s->n_bitmap = (uint32_t)n;
	for (; n; n--) {
		if (want_number(t, "bitmap byte", 255, &v, err) < 0)
			return -1;
		buf_addc(&t->bitmaps, (char)v);
	}
	next(t);
	return 0;
}

static int read_record(struct text *t, struct error *err)
{
	struct pending e = {.counts = t->counts.n, .bitmap = t->bitmaps.n, .values = t->values.n};
	struct record_shape s = {0};
	const char *name = t->line;
	size_t name_n = t->n;
	uint64_t n, v;

	if (memchr(name, 0, name_n))
		return error_set(err, ERR_CORRUPT, "line %zu: a name with a NUL byte", t->number);
	if (want_number(t, "structural hash", UINT64_MAX, &s.hash, err) < 0 ||
		want_number(t, "number of counters", UINT32_MAX, &n, err) < 0)
		return -1;
	if (n == 0)
		return error_set(err, ERR_CORRUPT, "line %zu: '%.*s' has no counters", t->number,
			(int)name_n, name);
	s.n_counts = (uint32_t)n;
	for (; n; n--) {
		if (want_number(t, "counter", UINT64_MAX, &v, err) < 0)
			return -1;
		buf_add(&t->counts, &v, 8);
	}
	next(t);
	if (read_bitmap(t, &s, err) < 0 || read_values(t, &s, err) < 0)
		return -1;
	if (buf_failed(&t->counts) || buf_failed(&t->bitmaps))
		return error_set(err, ERR_UNSUPPORTED, "line %zu: too many counters", t->number);
	e.record = profile_resolve(t->p, name, name_n, md5_name(name, name_n), &s, err);
	if (!e.record)
		return -1;
	array_reserve(t->v, t->n_pending, t->cap);
	t->v[t->n_pending++] = e;
	return 0;
}

static int check(struct text *t, struct error *err)
{
	for (next(t); t->line && t->line[0] == ':'; next(t))
		if (header_line(t, err) < 0)
			return -1;
	while (t->line)
		if (read_record(t, err) < 0)
			return -1;
	return profile_join_flags(t->p, t->flags, t->n_pending, err);
}

static void add_pending(struct text *t, const struct pending *e, uint64_t weight)
{
	struct reader r = reader_of(t->values.p, t->values.n);
	struct record *rec = e->record;
	struct value_block b;

	r.off = e->values;
	record_add_counts(rec, (const uint8_t *)t->counts.p + e->counts, weight);
	for (uint32_t i = 0; i < rec->n_bitmap; i++)
		rec->bitmap[i] |= (uint8_t)t->bitmaps.p[e->bitmap + i];
	if (value_block_read(&r, &b, NULL) == 0)
		value_block_add(&t->p->arena, rec, &b, false, NULL, weight);
	rec->adds++;
}

static void add_traces(struct text *t)
{
	const char *at = t->traces.p, *end = at + t->traces.n;

	while (at < end) {
		const uint64_t *head = (const uint64_t *)(const void *)at;

		profile_add_trace(t->p, head[0], head + 2, head[1]);
		at += 16 + 8 * head[1];
	}
	profile_count_traces(t->p, t->stream);
}

int text_add(struct profile *p, const uint8_t *data, size_t n, uint64_t weight, struct error *err)
{
	struct profile_mark mark = profile_mark(p);
	struct text t = {.p = p, .at = (const char *)data, .end = (const char *)data + n};
	int rc = check(&t, err);

	if (rc < 0)
		profile_rollback(p, &mark);
	for (size_t i = 0; i < t.n_pending && rc == 0; i++)
		add_pending(&t, &t.v[i], weight);
	if (rc == 0)
		add_traces(&t);
	free(t.v);
	buf_release(&t.traces);
	buf_release(&t.counts);
	buf_release(&t.bitmaps);
	buf_release(&t.values);
	return rc;
}
