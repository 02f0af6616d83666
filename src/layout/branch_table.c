/* The traces of a program, counted; and as text for perf2bolt. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "layout/branch_internal.h"

void branch_table_release(struct branch_table *t)
{
	free(t->v);
	t->v = NULL;
	t->n = t->slots = 0;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

static struct branch_trace *slot_of(
	struct branch_trace *v, size_t slots, const struct branch_trace *trace)
{
	size_t at = mix(mix(mix(0, trace->branch), trace->start), trace->end) & (slots - 1);

	while (v[at].count && (v[at].branch != trace->branch || v[at].start != trace->start ||
				      v[at].end != trace->end))
		at = (at + 1) & (slots - 1);
	return &v[at];
}

static int grow(struct branch_table *t, struct error *err)
{
	size_t slots = t->slots ? t->slots * 2 : 1024;
	struct branch_trace *v = calloc(slots, sizeof(*v));

	if (!v)
		return error_set(err, ERR_IO, "no memory for a table of %zu traces", slots);
	for (size_t k = 0; k < t->slots; k++)
		if (t->v[k].count)
			*slot_of(v, slots, &t->v[k]) = t->v[k];
	free(t->v);
	t->v = v;
	t->slots = slots;
	return 0;
}

int branch_table_add(struct branch_table *t, const struct branch_trace *trace, struct error *err)
{
	struct branch_trace *slot;

	if (t->n >= t->slots - t->slots / 4 && grow(t, err) < 0)
		return -1;
	slot = slot_of(t->v, t->slots, trace);
	if (slot->count) {
		slot->count += trace->count;
		slot->mispredicted += trace->mispredicted;
		return 0;
	}
	if (t->n >= t->max)
		return error_set(err, ERR_UNSUPPORTED,
			"more than %zu different stretches between branches: no program of this "
			"size "
			"can be read",
			t->max);
	*slot = *trace;
	t->n++;
	return 0;
}

static int by_addresses(const void *a, const void *b)
{
	const struct branch_trace *x = a, *y = b;

	if (x->branch != y->branch)
		return x->branch < y->branch ? -1 : 1;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

void branch_table_sort(struct branch_table *t)
{
	size_t n = 0;

	for (size_t k = 0; k < t->slots; k++)
		if (t->v[k].count)
			t->v[n++] = t->v[k];
	if (n)
		qsort(t->v, n, sizeof(*t->v), by_addresses);
	t->slots = n;
}

/* "T BRANCH START END COUNT"; R when the branch is a return. LLVM 22 takes no mispredictions there,
 * but adds those of "B FROM TO COUNT MISPREDICTED"; of returns it uses none. */
static void write_trace(struct buf *b, const struct branch_trace *t)
{
	bool is_return = t->branch & BRANCH_RETURN;
	uint64_t from = t->branch & ~BRANCH_RETURN;

	buf_addf(b, "%c %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", is_return ? 'R' : 'T',
		from, t->start, t->end, t->count);
	if (t->mispredicted && !is_return)
		buf_addf(b, "B %" PRIx64 " %" PRIx64 " 0 %" PRIu64 "\n", from, t->start,
			t->mispredicted);
}

/* "B FROM TO COUNT MISPREDICTED" and "F START END COUNT", f when the branch came from outside of
 * the function that the stretch lies in. */
static void write_pair(struct buf *b, const struct branch_trace *t, const struct branch_image *i)
{
	uint64_t from = t->branch & ~BRANCH_RETURN;
	size_t function = branch_image_function(i, t->start);

	buf_addf(b, "B %" PRIx64 " %" PRIx64 " %" PRIu64 " %" PRIu64 "\n", from, t->start, t->count,
		t->mispredicted);
	if (!t->start || !t->end || t->end == BRANCH_NO_END)
		return;
	buf_addf(b, "%c %" PRIx64 " %" PRIx64 " %" PRIu64 "\n",
		function != SIZE_MAX && branch_image_function(i, from) == function ? 'F' : 'f',
		t->start, t->end, t->count);
}

#define PIECE ((size_t)256 << 10)

static int write_all(struct atomic_file *f, const struct branch_table *t,
	const struct branch_image *i, enum branch_format format, struct error *err)
{
	auto_buf struct buf b = BUF_INIT;

	for (size_t k = 0; k < t->slots; k++) {
		if (format == BRANCH_TRACES)
			write_trace(&b, &t->v[k]);
		else
			write_pair(&b, &t->v[k], i);
		if (b.n < PIECE && k + 1 < t->slots)
			continue;
		if (atomic_write(f, b.p, b.n, err) < 0)
			return -1;
		buf_clear(&b);
	}
	return 0;
}

int branch_table_write(const struct branch_table *t, const struct branch_image *i,
	enum branch_format format, const char *path, struct error *err)
{
	auto_atomic struct atomic_file f = ATOMIC_FILE_INIT;

	if (atomic_open(&f, path, 0644, err) < 0 || write_all(&f, t, i, format, err) < 0)
		return -1;
	return atomic_commit(&f, err);
}
