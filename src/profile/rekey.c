/* New keys for local functions. Value profiles name their targets by a hash of the key, so they
 * change along. */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "profile/model.h"

struct rename {
	uint64_t from, to;
};

static int rename_compare(const void *a, const void *b)
{
	const struct rename *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static uint64_t renamed(const struct rename *v, size_t n, uint64_t ref)
{
	struct rename want = {.from = ref};
	const struct rename *r = bsearch(&want, v, n, sizeof(*v), rename_compare);

	return r ? r->to : ref;
}

/* Adds a record of one profile to another under a new name. */
static int add_renamed(struct profile *to, const struct record *r, const char *name,
	const struct rename *v, size_t n, struct error *err)
{
	struct record_shape s = {.hash = r->hash, .n_counts = r->n_counts, .n_bitmap = r->n_bitmap};
	size_t len = strlen(name), sites = 0, calls = r->n_sites[VALUE_INDIRECT_CALL];
	struct record *d;

	memcpy(s.n_sites, r->n_sites, sizeof(s.n_sites));
	d = profile_resolve(to, name, len, md5_name(name, len), &s, err);
	if (!d)
		return -1;
	record_add_counts(d, (const uint8_t *)r->counts, 1);
	for (uint32_t i = 0; i < r->n_bitmap; i++)
		d->bitmap[i] |= r->bitmap[i];
	for (int k = 0; k < VALUE_KINDS; k++)
		sites += r->n_sites[k];
	for (size_t i = 0; i < sites; i++) {
		struct value_datum in[SITE_MAX];
		uint32_t m = site_order(r, &r->sites[i], in);

		for (uint32_t j = 0; j < m && i < calls; j++)
			in[j].value = renamed(v, n, in[j].value);
		site_add(&to->arena, &d->sites[i], in, m, 1, d->adds == 0);
	}
	/* Whether the order of a site is by file or by value is a matter of how often it was read.
	 */
	d->adds += r->adds;
	return 0;
}

static void rename_traces(
	struct profile *to, const struct profile *from, const struct rename *v, size_t n)
{
	for (size_t i = 0; i < from->n_traces; i++) {
		const struct trace *t = &from->traces[i];
		auto_free uint64_t *refs = xreallocarray(NULL, t->n, sizeof(*refs));

		for (size_t k = 0; k < t->n; k++)
			refs[k] = renamed(v, n, t->refs[k]);
		profile_add_trace(to, t->weight, refs, t->n);
	}
	profile_count_traces(to, from->trace_stream);
}

typedef char *new_name(const void *ctx, const char *name); /* NULL: unchanged; malloc'ed */

static int rebuild(struct profile *p, new_name *fn, const void *ctx, struct error *err)
{
	struct profile *to = profile_new(), old;
	char **names = xcalloc(p->n_keys + 1, sizeof(*names));
	struct rename *v = xreallocarray(NULL, p->n_keys + 1, sizeof(*v));
	size_t n = 0, n_names = p->n_keys;
	int rc = 0;

	for (size_t i = 0; i < n_names; i++) {
		names[i] = fn(ctx, p->keys[i]->name);
		if (names[i])
			v[n++] = (struct rename){
				p->keys[i]->ref, md5_name(names[i], strlen(names[i]))};
	}
	qsort(v, n, sizeof(*v), rename_compare);
	for (size_t i = 0; i < p->n_keys && n; i++)
		for (const struct record *r = p->keys[i]->first; r && rc == 0; r = r->next)
			rc = add_renamed(to, r, names[i] ? names[i] : p->keys[i]->name, v, n, err);
	for (size_t i = 0; i < p->n_ids && n; i++)
		profile_add_id(to, p->ids[i].p, p->ids[i].n);
	if (rc == 0 && n) {
		rename_traces(to, p, v, n);
		to->flags = p->flags;
		to->has_records = p->has_records;
		to->short_hashes = p->short_hashes;
		old = *p;
		*p = *to;
		*to = old;
	}
	for (size_t i = 0; i < n_names; i++)
		free(names[i]);
	free(names);
	free(v);
	profile_free(to);
	return rc;
}

/* Where the path of a local function's key ends, or NULL for an external one. Since LLVM 18 it is
 * the first ';'; before, and in front-end profiles, ':', which external names may hold as well, so
 * there a path must show itself by a slash or a suffix in front. */
const char *key_path_end(const char *name)
{
	const char *semi = strchr(name, ';'), *colon;

	if (semi)
		return semi;
	colon = strchr(name, ':');
	if (!colon || colon[1] == ':' || colon == name)
		return NULL;
	for (const char *s = name; s < colon; s++)
		if (*s == '/' || *s == '.')
			return colon;
	return NULL;
}

/* rustc puts the code generation unit where C has the path: not a file, so never moved. */
bool key_path_is_unit(const char *name, const char *end)
{
	static const char mark[] = "-cgu.";

	if (name[0] == '<')
		return true;
	return !memchr(name, '/', (size_t)(end - name)) &&
	       memmem(name, (size_t)(end - name), mark, sizeof(mark) - 1);
}

struct prefix {
	const char *from, *to;
	size_t from_n, to_n;
};

static char *replace_prefix(const void *ctx, const char *name)
{
	const struct prefix *x = ctx;
	const char *end = key_path_end(name), *rest;

	if (!end || key_path_is_unit(name, end))
		return NULL;
	if (x->from_n == 0)
		return name[0] == '/' || x->to_n == 0 ? NULL : xasprintf("%s/%s", x->to, name);
	if ((size_t)(end - name) <= x->from_n || memcmp(name, x->from, x->from_n) != 0 ||
		name[x->from_n] != '/')
		return NULL;
	rest = name + x->from_n + 1;
	return x->to_n ? xasprintf("%s/%s", x->to, rest) : xstrdup(rest);
}

int profile_rekey(struct profile *p, const char *from, const char *to, struct error *err)
{
	auto_free char *f = xstrdup(from), *t = xstrdup(to);
	struct prefix x = {f, t, strlen(f), strlen(t)};

	while (x.from_n && f[x.from_n - 1] == '/')
		f[--x.from_n] = 0;
	while (x.to_n && t[x.to_n - 1] == '/')
		t[--x.to_n] = 0;
	if (strcmp(f, t) == 0)
		return 0;
	return rebuild(p, replace_prefix, &x, err);
}

static char *colon_for_semicolon(const void *ctx, const char *name)
{
	const char *semi = strchr(name, ';');
	char *s;

	(void)ctx;
	if (!semi)
		return NULL;
	s = xstrdup(name);
	s[semi - name] = ':';
	return s;
}

int profile_rekey_for_llvm(struct profile *p, int llvm_major, struct error *err)
{
	if (llvm_major < 20)
		p->flags &= ~FLAG_LOOP_ENTRIES; /* not known there */
	return llvm_major >= 18 ? 0 : rebuild(p, colon_for_semicolon, NULL, err);
}
