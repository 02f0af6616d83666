/* The engine's entry points: files in, questions about the merged set. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "profile/llvm/blocks.h"
#include "profile/model.h"

void profile_images_release(struct profile_images *i)
{
	for (size_t k = 0; k < i->n; k++)
		free(i->v[k].build_id);
	free(i->v);
	*i = (struct profile_images){0};
}

int profile_add_bytes(struct profile *p, const void *data, size_t n, uint64_t weight,
	struct profile_images *images, struct error *err)
{
	p->values_missing = p->mixed = false;
	if (weight < 1)
		return error_set(err, ERR_USAGE, "weight must be 1 or more");
	if (n == 0)
		return error_set(err, ERR_CORRUPT,
			"is empty: the process that should have written it was killed, or never "
			"reached its exit");
	if (raw_magic(data, n))
		return raw_add(p, data, n, weight, images, err);
	if (indexed_magic(data, n))
		return indexed_add(p, data, n, weight, err);
	if (text_magic(data, n))
		return text_add(p, data, n, weight, err);
	return error_set(err, ERR_CORRUPT,
		"is no LLVM profile: its first bytes are those of no raw, indexed or text one");
}

int profile_add_file(struct profile *p, const char *path, uint64_t weight,
	struct profile_images *images, struct error *err)
{
	struct file_map m = {0};
	int rc;

	if (file_map(path, &m, err) < 0)
		return -1;
	rc = profile_add_bytes(p, m.p, m.n, weight, images, err);
	file_unmap(&m);
	return rc < 0 ? error_context(err, "profile '%s'", path) : 0;
}

static int check_raw(const struct file_map *m, struct profile_images *ret, struct error *err)
{
	struct profile *p = profile_new();
	size_t before = ret->n;
	int rc;

	if (m->n && !raw_magic(m->p, m->n))
		rc = error_set(err, ERR_CORRUPT, "is no raw profile: bad magic");
	else
		rc = profile_add_bytes(p, m->p, m->n, 1, ret, err);
	profile_free(p);
	for (size_t i = before; i < ret->n && rc == 0; i++)
		if (ret->v[i].values_missing)
			rc = error_set(err, ERR_CORRUPT,
				"has value sites, but no value data: it is cut off, or was written "
				"in continuous mode (%%c), which leaves them out");
	return rc;
}

int profile_check_raw(const char *path, struct profile_images *ret, struct error *err)
{
	struct file_map m = {0};
	int rc;

	if (file_map(path, &m, err) < 0)
		return -1;
	rc = check_raw(&m, ret, err);
	file_unmap(&m);
	return rc < 0 ? error_context(err, "profile '%s'", path) : 0;
}

static void add_values(const struct record *r, struct profile_summary *s)
{
	const struct value_site *site = r->sites;

	for (int k = 0; k < VALUE_KINDS; k++)
		for (uint32_t i = 0; i < r->n_sites[k]; i++, s->sites++)
			s->values += site_size(site++);
}

void profile_summary(const struct profile *p, struct profile_summary *ret)
{
	struct profile_summary s = {.functions = p->n_records,
		.ir = p->flags & FLAG_IR,
		.context_sensitive = p->flags & FLAG_CS,
		.short_hashes = p->short_hashes};

	for (size_t i = 0; i < p->n_records; i++) {
		const struct record *r = p->records[i];
		uint64_t any = 0;

		s.counters += r->n_counts;
		for (uint32_t c = 0; c < r->n_counts; c++) {
			any |= r->counts[c];
			if (r->counts[c] > COUNT_MAX)
				continue;
			s.total_count = saturating_add(s.total_count, r->counts[c]);
			if (r->counts[c] > s.max_count)
				s.max_count = r->counts[c];
		}
		s.executed += any != 0;
		add_values(r, &s);
	}
	*ret = s;
}

static int record_compare(const void *a, const void *b)
{
	const struct record *x = *(struct record *const *)a, *y = *(struct record *const *)b;

	return x->hash < y->hash ? -1 : x->hash > y->hash;
}

static int visit_key(const struct key *k, record_visit *fn, void *ctx)
{
	auto_free struct record **v = NULL;
	size_t n = 0;
	int rc = 0;

	if (k->first == k->last)
		return fn(ctx, k->first);
	for (struct record *r = k->first; r; r = r->next)
		n++;
	v = xreallocarray(NULL, n, sizeof(*v));
	n = 0;
	for (struct record *r = k->first; r; r = r->next)
		v[n++] = r;
	qsort(v, n, sizeof(*v), record_compare);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = fn(ctx, v[i]);
	return rc;
}

int profile_each_record(const struct profile *p, record_visit *fn, void *ctx)
{
	auto_free struct key **keys = profile_sorted_keys(p);
	int rc = 0;

	for (size_t i = 0; i < p->n_keys && rc == 0; i++)
		rc = visit_key(keys[i], fn, ctx);
	return rc;
}

struct visitor {
	profile_visit *fn;
	void *ctx;
};

static int visit(void *ctx, const struct record *r)
{
	const struct visitor *v = ctx;

	return v->fn(v->ctx, r->key->name, r->hash, r->counts, r->n_counts);
}

int profile_each(const struct profile *p, profile_visit *fn, void *ctx)
{
	struct visitor v = {fn, ctx};

	return profile_each_record(p, visit, &v);
}
