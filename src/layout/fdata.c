/* LLVM BOLT's text profiles (.fdata), as its DataReader reads them. A line is one of
 *   FLAG NAME OFFSET FLAG NAME OFFSET MISPREDICTED COUNT    a branch from one place to another
 *   FLAG NAME OFFSET COUNT                                  samples at a place (behind "no_lbr")
 *   FLAG NAME OFFSET FLAG NAME OFFSET COUNT                 a load (flags 3 to 5)
 * FLAG: 0 no symbol, 1 global, 2 local one; 3 more for loads. OFFSET is hexadecimal. In names a
 * backslash stands before blanks and backslashes. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "layout/internal.h"

#define FDATA_MAX ((size_t)1 << 30)
#define FIELDS 8

struct field {
	const char *p;
	size_t n;
};
struct row {
	struct field v[FIELDS];
	size_t n;
};

void fdata_release(struct fdata *f)
{
	free(f->header);
	free(f->v);
	free(f->places);
	free(f->text);
	memset(f, 0, sizeof(*f));
}

/* One blank between fields; a backslash takes the next byte along. False: too many, or an empty
 * one. */
static bool split_row(const char *p, size_t n, struct row *ret)
{
	size_t at = 0;

	ret->n = 0;
	for (;;) {
		size_t from = at;

		while (at < n && p[at] != ' ')
			at += p[at] == '\\' && at + 1 < n ? 2 : 1;
		if (at == from || ret->n == FIELDS)
			return false;
		ret->v[ret->n++] = (struct field){p + from, at - from};
		if (at == n)
			return true;
		at++;
	}
}

static bool read_number(const struct field *f, unsigned base, uint64_t *ret)
{
	uint64_t v = 0;

	for (size_t i = 0; i < f->n; i++) {
		char c = f->p[i];
		unsigned d = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
			     : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
			     : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
						    : 99;

		if (d >= base || __builtin_mul_overflow(v, base, &v) ||
			__builtin_add_overflow(v, d, &v))
			return false;
	}
	*ret = v;
	return f->n > 0;
}

static void add_place(
	struct fdata *f, const struct field *flag, const struct field *name, uint64_t off)
{
	char kind = *flag->p;

	if (kind == '0' || kind == '3' || *name->p == '[')
		return;
	array_reserve(f->places, f->n_places, f->cap_places);
	f->places[f->n_places++] = (struct fdata_place){name->p, name->n, off};
}

/* Three fields at i. */
static bool read_place(struct fdata *f, const struct row *r, size_t i, bool code, bool counted)
{
	const struct field *flag = &r->v[i];
	uint64_t off;

	if (flag->n != 1 || *flag->p < '0' || *flag->p > '5' ||
		!read_number(&r->v[i + 2], 16, &off))
		return false;
	if (code && counted && *flag->p <= '2')
		add_place(f, flag, &r->v[i + 1], off);
	return true;
}

static bool read_row(struct fdata *f, const struct row *r)
{
	size_t places = r->n == 4 ? 1 : 2, counts = r->n == 8 ? 2 : 1;
	struct fdata_line l = {.key = r->v[0].p, .branch = counts == 2};
	const struct field *last = &r->v[places * 3 - 1];

	if (r->n != 4 && r->n != 7 && r->n != 8)
		return false;
	l.n = (size_t)(last->p + last->n - l.key);
	if (!read_number(&r->v[r->n - 1], 10, &l.count) ||
		(l.branch && !read_number(&r->v[6], 10, &l.mispredicted)))
		return false;
	for (size_t i = 0; i < places; i++)
		if (!read_place(f, r, i * 3, r->n != 7 || i == 0, l.count > 0))
			return false;
	array_reserve(f->v, f->n, f->cap);
	f->v[f->n++] = l;
	return true;
}

static bool is_word(const char *p, size_t n, const char *word)
{
	size_t k = strlen(word);

	return n >= k && memcmp(p, word, k) == 0 && (n == k || p[k] == ' ');
}

static bool read_header(struct fdata *f, const char *p, size_t n)
{
	if (is_word(p, n, "boltedcollection") && n == strlen("boltedcollection")) {
		f->bolted = true;
		return true;
	}
	if (!f->header && is_word(p, n, "no_lbr")) {
		f->header = xstrndup(p, n);
		f->kind = FDATA_SAMPLES;
		return true;
	}
	return false;
}

static int bad_line(const char *path, size_t line, const char *p, size_t n, struct error *err)
{
	int shown = n > 100 ? 100 : (int)n;

	return error_set(err, ERR_CORRUPT,
		"'%s' line %zu is no line of a profile of llvm-bolt (.fdata): \"%.*s%s\"", path,
		line, shown, p, n > 100 ? "..." : "");
}

static int read_line(
	struct fdata *f, const char *path, size_t line, const char *p, size_t n, struct error *err)
{
	struct row r;

	if (f->n == 0 && read_header(f, p, n))
		return 0;
	if (memchr(p, 0, n) || !split_row(p, n, &r))
		return bad_line(path, line, p, n, err);
	if ((r.n == 4) != (f->kind == FDATA_SAMPLES) && r.n != 7)
		return error_set(err, ERR_CORRUPT, "'%s' line %zu: %s", path, line,
			r.n == 4 ? "a sample, and the file's first line is not \"no_lbr\""
				 : "a branch in a file of samples (no_lbr)");
	if (!read_row(f, &r))
		return bad_line(path, line, p, n, err);
	if (f->kind == FDATA_NONE)
		f->kind = FDATA_BRANCHES;
	return 0;
}

static int read_text(struct fdata *f, const char *path, size_t n, struct error *err)
{
	size_t line = 1;

	for (const char *p = f->text, *end = p + n; p < end; line++) {
		const char *stop = memchr(p, '\n', (size_t)(end - p));

		if (!stop)
			return error_set(err, ERR_CORRUPT,
				"'%s' is cut off in line %zu: its writer was killed, or the disk "
				"was full",
				path, line);
		if (read_line(f, path, line, p, (size_t)(stop - p), err) < 0)
			return -1;
		p = stop + 1;
	}
	return 0;
}

int fdata_read(const char *path, struct fdata *ret, struct error *err)
{
	struct buf text = BUF_INIT;
	struct fdata f = {0};
	size_t n;

	if (file_read(path, FDATA_MAX, &text, err) < 0)
		return -1;
	n = text.n;
	f.text = buf_detach(&text);
	if (read_text(&f, path, n, err) < 0) {
		fdata_release(&f);
		return -1;
	}
	*ret = f;
	return 0;
}

static int by_key(const void *a, const void *b)
{
	const struct fdata_line *x = a, *y = b;
	int r = memcmp(x->key, y->key, x->n < y->n ? x->n : y->n);

	if (r)
		return r;
	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	return (int)x->branch - (int)y->branch;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

void fdata_sum(struct fdata *f)
{
	size_t n = 0;

	if (f->n)
		qsort(f->v, f->n, sizeof(*f->v), by_key);
	for (size_t i = 0; i < f->n; i++) {
		if (n && by_key(&f->v[n - 1], &f->v[i]) == 0) {
			f->v[n - 1].count = plus(f->v[n - 1].count, f->v[i].count);
			f->v[n - 1].mispredicted =
				plus(f->v[n - 1].mispredicted, f->v[i].mispredicted);
		} else {
			f->v[n++] = f->v[i];
		}
	}
	f->n = n;
}

uint64_t fdata_executed(const struct fdata *f)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < f->n; i++)
		sum = plus(sum, f->v[i].count);
	return sum;
}

static int by_name(const void *a, const void *b)
{
	const struct fdata_place *x = a, *y = b;
	int r = memcmp(x->name, y->name, x->n < y->n ? x->n : y->n);

	return r ? r : (x->n > y->n) - (x->n < y->n);
}

static bool ends_with(const char *p, size_t n, const char *end)
{
	size_t k = strlen(end);

	return n >= k && memcmp(p + n - k, end, k) == 0;
}

/* llvm-bolt makes names of local symbols unique: "f/1", "f/file.c/1"; and says "f(*2)" of one with
 * several names. */
static const struct elf_symbol *find_name(const struct elf_names *names, const char *p, size_t n)
{
	const struct elf_symbol *s = elf_names_find(names, p, n);
	const char *at;

	if (s)
		return s;
	at = n && p[n - 1] == ')' ? memrchr(p, '(', n) : NULL;
	if (at && at > p)
		n = (size_t)(at - p);
	for (size_t k = n; !s && (at = memrchr(p, '/', k)) && at > p; k = (size_t)(at - p))
		s = elf_names_find(names, p, (size_t)(at - p));
	return s ? s : elf_names_find(names, p, n);
}

static bool belongs(const struct elf_names *names, const struct fdata_place *p, uint64_t highest)
{
	const struct elf_symbol *s = find_name(names, p->name, p->n);

	return s && (s->bytes == 0 || highest <= s->bytes);
}

void fdata_names_of(struct fdata *f, const struct elf_names *names, struct fdata_names *ret)
{
	uint64_t highest = 0;

	if (f->n_places)
		qsort(f->places, f->n_places, sizeof(*f->places), by_name);
	for (size_t i = 0; i < f->n_places; i++) {
		const struct fdata_place *p = &f->places[i];

		highest = p->offset > highest ? p->offset : highest;
		if (i + 1 < f->n_places && by_name(p, &f->places[i + 1]) == 0)
			continue;
		/* What lies in other files is called through tables of which no symbol tells, and
		 * code without a symbol gets a name of llvm-bolt's. */
		if (!ends_with(p->name, p->n, "@PLT") &&
			!(p->n > 7 && memcmp(p->name, "__BOLT_", 7) == 0)) {
			ret->functions++;
			if (!belongs(names, p, highest) && ret->unknown++ == 0)
				ret->example = xstrndup(p->name, p->n);
		}
		highest = 0;
	}
}
