/* Which process has the program at which addresses. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "layout/branch_internal.h"

#define MAPPINGS_MAX 64 /* of the program in one process */

static size_t bucket_of(const struct branch_processes *p, int64_t pid)
{
	return ((uint64_t)pid * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (p->n_buckets - 1);
}

static void process_free(struct branch_process *p)
{
	free(p->v);
	free(p);
}

void branch_processes_release(struct branch_processes *p)
{
	for (size_t k = 0; k < p->n_buckets; k++)
		for (struct branch_process *e = p->buckets[k], *next; e; e = next) {
			next = e->next;
			process_free(e);
		}
	free(p->buckets);
	p->buckets = NULL;
	p->n = p->n_buckets = 0;
}

static struct branch_process *find(const struct branch_processes *p, int64_t pid)
{
	struct branch_process *e = p->n_buckets ? p->buckets[bucket_of(p, pid)] : NULL;

	while (e && e->pid != pid)
		e = e->next;
	return e;
}

const struct branch_process *branch_process_find(const struct branch_processes *p, int64_t pid)
{
	return find(p, pid);
}

static void grow(struct branch_processes *p)
{
	struct branch_processes bigger = {.n = p->n, .n_buckets = p->n_buckets * 2, .max = p->max};

	if (!bigger.n_buckets)
		bigger.n_buckets = 16;
	bigger.buckets = xcalloc(bigger.n_buckets, sizeof(struct branch_process *));
	for (size_t k = 0; k < p->n_buckets; k++)
		for (struct branch_process *e = p->buckets[k], *next; e; e = next) {
			size_t to = bucket_of(&bigger, e->pid);

			next = e->next;
			e->next = bigger.buckets[to];
			bigger.buckets[to] = e;
		}
	free(p->buckets);
	*p = bigger;
}

static struct branch_process *find_or_add(
	struct branch_processes *p, int64_t pid, uint64_t *processes, struct error *err)
{
	struct branch_process *e = find(p, pid);
	size_t to;

	if (e)
		return e;
	if (p->n >= p->max) {
		error_set(err, ERR_UNSUPPORTED, "more than %zu processes have the program mapped",
			p->max);
		return NULL;
	}
	if (p->n >= p->n_buckets)
		grow(p);
	e = xcalloc(1, sizeof(*e));
	e->pid = pid;
	to = bucket_of(p, pid);
	e->next = p->buckets[to];
	p->buckets[to] = e;
	p->n++;
	++*processes;
	return e;
}

/* What was mapped in [start, end) is no more; the parts around it stay. */
static void cut_out(struct branch_process *e, uint64_t start, uint64_t end)
{
	struct branch_mapping rest[2 * MAPPINGS_MAX];
	size_t n = 0;

	for (size_t k = 0; k < e->n; k++) {
		struct branch_mapping m = e->v[k], right = m;

		if (m.end <= start || m.start >= end) {
			rest[n++] = m;
			continue;
		}
		if (m.start < start) {
			m.end = start;
			rest[n++] = m;
		}
		if (right.end > end) {
			right.offset += end - right.start;
			right.start = end;
			rest[n++] = right;
		}
	}
	n = n < MAPPINGS_MAX ? n : MAPPINGS_MAX;
	while (e->cap < n)
		array_reserve(e->v, e->cap, e->cap);
	if (n)
		memcpy(e->v, rest, n * sizeof(*rest));
	e->n = n;
}

int branch_process_map(struct branch_processes *p, int64_t pid, const struct branch_mapping *m,
	uint64_t *processes, struct error *err)
{
	struct branch_process *e = find_or_add(p, pid, processes, err);

	if (!e)
		return -1;
	cut_out(e, m->start, m->end);
	if (e->n >= MAPPINGS_MAX)
		return error_set(err, ERR_UNSUPPORTED,
			"process %" PRId64 " has the program mapped at more than %d places", pid,
			MAPPINGS_MAX);
	array_reserve(e->v, e->n, e->cap);
	e->v[e->n++] = *m;
	return 0;
}

void branch_process_unmap(struct branch_processes *p, int64_t pid, const struct branch_mapping *m)
{
	struct branch_process *e = find(p, pid);

	if (e)
		cut_out(e, m->start, m->end);
}

void branch_process_drop(struct branch_processes *p, int64_t pid)
{
	struct branch_process **at, *e;

	if (!p->n_buckets)
		return;
	at = &p->buckets[bucket_of(p, pid)];
	while (*at && (*at)->pid != pid)
		at = &(*at)->next;
	e = *at;
	if (!e)
		return;
	*at = e->next;
	process_free(e);
	p->n--;
}

int branch_process_fork(struct branch_processes *p, int64_t parent, int64_t child,
	uint64_t *processes, struct error *err)
{
	struct branch_process *from, *e;

	branch_process_drop(p, child); /* an earlier process of this pid */
	from = find(p, parent);
	if (!from || !from->n)
		return 0;
	e = find_or_add(p, child, processes, err);
	if (!e)
		return -1;
	e->v = xreallocarray(NULL, from->n, sizeof(*e->v));
	memcpy(e->v, from->v, from->n * sizeof(*e->v));
	e->n = e->cap = from->n;
	return 0;
}

uint64_t branch_process_address(
	const struct branch_process *p, const struct branch_image *i, uint64_t address)
{
	for (size_t k = 0; k < p->n; k++) {
		const struct branch_mapping *m = &p->v[k];
		uint64_t offset;

		if (address < m->start || address >= m->end)
			continue;
		offset = address - m->start + m->offset;
		for (size_t s = 0; s < i->n_segments; s++) {
			const struct branch_segment *segment = &i->segments[s];

			if (offset >= segment->offset &&
				offset - segment->offset < segment->file_size)
				return segment->address + (offset - segment->offset);
		}
	}
	return 0;
}
