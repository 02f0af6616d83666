/* Functions that several objects have a copy of (C++ templates and inline functions). The linker
 * keeps one, which alone counts; the .gcda of the others say that it never ran, and there gcc would
 * take it for cold, and put it out of the way of its callers. They get the counts of the copy that
 * ran. What was inlined was counted where it is, so a copy with counts of its own keeps them. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "pipeline/gcc_profile.h"

struct copy {
	uint32_t ident;
	uint64_t largest;
	const struct gcda_function *f;
};

static int by_ident_and_count(const void *a, const void *b)
{
	const struct copy *x = a, *y = b;

	if (x->ident != y->ident)
		return x->ident < y->ident ? -1 : 1;
	return x->largest > y->largest ? -1 : x->largest < y->largest;
}

static uint64_t largest_of(const struct gcda_function *f)
{
	return gcda_largest(gcda_find(f, GCDA_ARCS));
}

/* The names of such functions are C++'s; in C a name stands for another function in another
 * program. */
static bool may_have_copies(const struct gcc_indexed *o, uint32_t ident)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->v[i].ident == ident)
			return o->v[i].name && !o->v[i].object &&
			       strncmp(o->v[i].name, "_Z", 2) == 0;
	return false;
}

static bool same_shape(const struct gcda_function *a, const struct gcda_function *b)
{
	if (a->cfg_checksum != b->cfg_checksum || a->n != b->n)
		return false;
	for (uint32_t i = 0; i < a->n; i++)
		if (a->v[i].kind != b->v[i].kind || a->v[i].n != b->v[i].n)
			return false;
	return true;
}

/* The counters stay the other's: nothing of them is written any more. */
static void take_counts(struct gcda_function *f, const struct gcda_function *from)
{
	for (uint32_t i = 0; i < f->n; i++)
		f->v[i] = from->v[i];
}

static const struct gcda_function *find(
	const struct copy *v, size_t n, const struct gcda_function *f)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (v[mid].ident < f->ident)
			low = mid + 1;
		else
			high = mid;
	}
	for (; low < n && v[low].ident == f->ident; low++)
		if (same_shape(v[low].f, f))
			return v[low].f;
	return NULL;
}

static size_t collect(const struct gcc_index *x, struct gcda *const *data, struct copy **ret)
{
	struct copy *v = NULL;
	size_t n = 0, cap = 0;

	for (size_t i = 0; i < x->n; i++)
		for (size_t k = 0; k < data[i]->n_functions; k++) {
			const struct gcda_function *f = &data[i]->functions[k];
			uint64_t largest = f->present ? largest_of(f) : 0;

			if (!largest)
				continue;
			array_reserve(v, n, cap);
			v[n++] = (struct copy){f->ident, largest, f};
		}
	if (n)
		qsort(v, n, sizeof(*v), by_ident_and_count);
	*ret = v;
	return n;
}

void gcc_fill_copies(const struct gcc_index *x, struct gcda *const *data)
{
	auto_free struct copy *v = NULL;
	size_t n = collect(x, data, &v);

	for (size_t i = 0; i < x->n; i++)
		for (size_t k = 0; k < data[i]->n_functions; k++) {
			struct gcda_function *f = &data[i]->functions[k];
			const struct gcda_function *ran =
				f->present && !largest_of(f) ? find(v, n, f) : NULL;

			if (ran && may_have_copies(&x->v[i], f->ident))
				take_counts(f, ran);
		}
}
