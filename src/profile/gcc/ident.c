#include "profile/gcc/ident.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "profile/gcc/sites.h"

#define POLYNOMIAL 0x04c11db7U

/* Over the text and its NUL. */
static uint32_t crc_text(uint32_t crc, const char *text)
{
	for (const char *p = text;; p++) {
		crc ^= (uint32_t)(unsigned char)*p << 24;
		for (int i = 0; i < 8; i++)
			crc = crc << 1 ^ (crc >> 31 ? POLYNOMIAL : 0);
		if (!*p)
			return crc;
	}
}

static uint32_t finish(uint32_t crc)
{
	crc &= 0x7fffffffU;
	return crc ? crc : 1;
}

uint32_t gcc_ident(const char *name)
{
	return finish(crc_text(0, name));
}

uint32_t gcc_ident_local(const char *source, const char *name, const char *object)
{
	return finish(crc_text(crc_text(crc_text(0, source), name), object));
}

uint32_t gcc_lines(uint32_t line, const char *source, const char *name)
{
	return crc_text(crc_text(line, source), name);
}

/* What crc_text() started with. */
static uint32_t crc_before(uint32_t crc, const char *text)
{
	for (size_t i = strlen(text) + 1; i-- > 0;) {
		for (int k = 0; k < 8; k++)
			crc = crc & 1 ? (crc ^ POLYNOMIAL) >> 1 | 0x80000000U : crc >> 1;
		crc ^= (uint32_t)(unsigned char)text[i] << 24;
	}
	return crc;
}

uint32_t gcc_line_of(uint32_t checksum, const char *source, const char *name)
{
	return crc_before(crc_before(checksum, name), source);
}

static int by_from(const void *a, const void *b)
{
	const struct gcc_rename *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

void gcc_renames_sort(struct gcc_rename *v, size_t n)
{
	if (n)
		qsort(v, n, sizeof(*v), by_from);
}

static const struct gcc_rename *find(struct gcc_renames r, uint32_t ident)
{
	struct gcc_rename key = {.from = ident};

	return r.n ? bsearch(&key, r.v, r.n, sizeof(key), by_from) : NULL;
}

static void rename_function(struct gcda_function *f, struct gcc_renames own)
{
	const struct gcc_rename *found = f->present ? find(own, f->ident) : NULL;

	if (!found)
		return;
	f->ident = found->to;
	if (found->lines)
		f->lineno_checksum = found->lines;
}

static void rename_target(struct gcda_value *v, struct gcc_renames all)
{
	const struct gcc_rename *found = find(all, (uint32_t)v->value);

	if (found)
		v->value = found->to;
}

static void rename_targets(struct gcda_counters *c, struct gcc_renames all)
{
	for (uint32_t s = 0; c->sites && s < c->n; s++) {
		struct gcda_site *site = &c->sites[s];

		for (uint32_t k = 0; c->kind == GCDA_INDIRECT && k < site->n; k++)
			rename_target(&site->v[k], all);
		site->normalised = false;
		site_normalise(site);
	}
}

void gcda_rename(struct gcda *g, struct gcc_renames own, struct gcc_renames all)
{
	g->merged = true;
	for (size_t i = 0; i < g->n_functions; i++) {
		struct gcda_function *f = &g->functions[i];

		rename_function(f, own);
		for (uint32_t k = 0; k < f->n; k++)
			rename_targets(&f->v[k], all);
	}
}

void gcda_forget_addresses(struct gcda *g)
{
	for (size_t i = 0; i < g->n_functions; i++) {
		const struct gcda_counters *c = gcda_find(&g->functions[i], GCDA_IOR);

		for (uint32_t k = 0; c && c->v && k < c->n; k++)
			c->v[k] &= -c->v[k];
	}
}

char *gcc_mangled(const char *path)
{
	char *ret = xmalloc(strlen(path) + 1), *to = ret;

	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && path[0] == '.' && path[1] == '.') {
			*to++ = '^';
		} else {
			memcpy(to, path, n);
			to += n;
		}
		path += n;
		if (*path) {
			*to++ = '#';
			path++;
		}
	}
	*to = '\0';
	return ret;
}
