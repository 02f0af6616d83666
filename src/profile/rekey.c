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

/* v: how call targets are renamed, or NULL when the values are none. */
static void add_renamed_site(struct arena *a, struct value_site *to, const struct record *r,
	size_t i, const struct rename *v, size_t n, bool first)
{
	const struct value_site *from = &r->sites[i];
	struct value_datum few[SITE_MAX];
	auto_free struct value_datum *many = from->n > SITE_MAX ? site_by_value(from) : NULL;
	struct value_datum *in = many ? many : few;
	uint32_t m = many ? from->n : site_order(r, from, few);

	for (uint32_t j = 0; j < m && v; j++)
		in[j].value = renamed(v, n, in[j].value);
	site_add(a, to, in, m, 1, first);
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
	for (size_t i = 0; i < sites; i++)
		add_renamed_site(
			&to->arena, &d->sites[i], r, i, calls > i ? v : NULL, n, d->adds == 0);
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

/* The new names in the order of the keys, and, sorted, what becomes of references to them. */
struct renames {
	char **names;
	struct rename *v;
	size_t n, n_names;
};

static struct renames renames_make(const struct profile *p, new_name *fn, const void *ctx)
{
	struct renames r = {.n_names = p->n_keys};

	r.names = xcalloc(p->n_keys + 1, sizeof(*r.names));
	r.v = xreallocarray(NULL, p->n_keys + 1, sizeof(*r.v));
	for (size_t i = 0; i < p->n_keys && fn; i++) {
		r.names[i] = fn(ctx, p->keys[i]->name);
		if (r.names[i])
			r.v[r.n++] = (struct rename){
				p->keys[i]->ref, md5_name(r.names[i], strlen(r.names[i]))};
	}
	qsort(r.v, r.n, sizeof(*r.v), rename_compare);
	return r;
}

static void renames_release(struct renames *r)
{
	for (size_t i = 0; i < r->n_names; i++)
		free(r->names[i]);
	free(r->names);
	free(r->v);
}

/* A copy of p under the new names, or NULL. */
static struct profile *renamed_copy(
	const struct profile *p, const struct renames *x, struct error *err)
{
	struct profile *to = profile_new();

	for (size_t i = 0; i < p->n_keys; i++)
		for (const struct record *r = p->keys[i]->first; r; r = r->next)
			if (add_renamed(to, r, x->names[i] ? x->names[i] : p->keys[i]->name, x->v,
				    x->n, err) < 0) {
				profile_free(to);
				return NULL;
			}
	for (size_t i = 0; i < p->n_ids; i++)
		profile_add_id(to, p->ids[i].p, p->ids[i].n);
	rename_traces(to, p, x->v, x->n);
	to->flags = p->flags;
	to->has_records = p->has_records;
	to->short_hashes = p->short_hashes;
	return to;
}

static int rebuild(struct profile *p, new_name *fn, const void *ctx, struct error *err)
{
	struct renames x = renames_make(p, fn, ctx);
	struct profile *to = x.n ? renamed_copy(p, &x, err) : NULL;
	int rc = x.n && !to ? -1 : 0;

	if (to) {
		struct profile old = *p;

		*p = *to;
		*to = old;
	}
	renames_release(&x);
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

static bool has_old_keys(int llvm_major)
{
	return llvm_major < 18;
}

static void drop_unknown_flags(struct profile *p, int llvm_major)
{
	if (llvm_major < 20)
		p->flags &= ~FLAG_LOOP_ENTRIES;
}

int profile_rekey_for_llvm(struct profile *p, int llvm_major, struct error *err)
{
	drop_unknown_flags(p, llvm_major);
	return has_old_keys(llvm_major) ? rebuild(p, colon_for_semicolon, NULL, err) : 0;
}

int profile_copy_for_llvm(
	const struct profile *p, int llvm_major, struct profile **ret, struct error *err)
{
	struct renames x =
		renames_make(p, has_old_keys(llvm_major) ? colon_for_semicolon : NULL, NULL);
	struct profile *to = renamed_copy(p, &x, err);

	renames_release(&x);
	if (!to)
		return -1;
	drop_unknown_flags(to, llvm_major);
	*ret = to;
	return 0;
}
