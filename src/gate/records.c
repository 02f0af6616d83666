#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "gate/rules.h"

void records_release(struct records *r)
{
	free(r->v);
	memset(r, 0, sizeof(*r));
}

static void records_add(struct records *r, const struct compile_record *one)
{
	array_reserve(r->v, r->n, r->cap);
	r->v[r->n++] = one;
}

static int by_id(const void *a, const void *b)
{
	const struct compile_record *const *x = a, *const *y = b;

	return strcmp((*x)->id, (*y)->id);
}

void records_by_id(const struct compile_log *log, struct records *ret)
{
	struct records r = {0};

	for (size_t i = 0; i < log->n; i++)
		records_add(&r, &log->v[i]);
	if (r.n)
		qsort(r.v, r.n, sizeof(*r.v), by_id);
	*ret = r;
}

const struct compile_record *record_find(const struct records *ids, const char *id)
{
	const struct compile_record key = {.id = (char *)(uintptr_t)id}, *wanted = &key;
	const struct compile_record **found;

	if (!id || !ids->n)
		return NULL;
	found = bsearch(&wanted, ids->v, ids->n, sizeof(*ids->v), by_id);
	return found ? *found : NULL;
}

static void add_of_binary(
	const struct binary_fact *b, const struct records *ids, struct records *to)
{
	const struct compile_record *link = record_find(ids, b->link);

	if (link)
		records_add(to, link);
	for (size_t i = 0; i < b->n_objects; i++) {
		const struct object_fact *o = &b->objects[i];
		const struct compile_record *r = record_find(ids, o->record);

		if (r && o->class != OBJECT_TOOLCHAIN && o->class != OBJECT_WHET)
			records_add(to, r);
	}
}

static void drop_doubles(struct records *r)
{
	size_t kept = 0;

	if (r->n)
		qsort(r->v, r->n, sizeof(*r->v), by_id);
	for (size_t i = 0; i < r->n; i++) {
		if (!kept || r->v[kept - 1] != r->v[i])
			r->v[kept++] = r->v[i];
	}
	r->n = kept;
}

void records_reached(
	const struct build_facts *b, const struct binary_fact *binary, struct records *ret)
{
	auto_records struct records ids = {0};
	struct records r = {0};

	records_by_id(&b->log, &ids);
	for (size_t i = 0; i < b->n_binaries; i++) {
		if (!binary || binary == &b->binaries[i])
			add_of_binary(&b->binaries[i], &ids, &r);
	}
	drop_doubles(&r);
	*ret = r;
}

char *record_label(const struct compile_record *r)
{
	const char *source = r->source ? r->source : r->inputs.n ? r->inputs.v[0] : NULL;

	if (r->crate_name)
		return xasprintf("crate '%s' (%s)", r->crate_name, source ? source : "no source");
	if (r->kind == CALL_LINK || r->kind == CALL_PARTIAL_LINK || !source)
		return xasprintf(
			"%s of '%s'", call_kind_name(r->kind), r->output ? r->output : "no output");
	return xasprintf("'%s'", source);
}

char *object_label(const struct object_fact *o)
{
	if (o->member)
		return xasprintf("%s(%s)", o->path, o->member);
	return xstrdup(o->path);
}

const struct binary_fact *binary_named(const struct build_facts *b, const char *name)
{
	for (size_t i = 0; b && i < b->n_binaries; i++) {
		if (strcmp(b->binaries[i].name, name) == 0)
			return &b->binaries[i];
	}
	return NULL;
}
