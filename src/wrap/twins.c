#include "wrap/twins.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "elf/elf_facts.h"

/* One link and what becomes of it. */
struct twin {
	struct link_input *in;
	bool linked; /* one of its functions is in the output */
};

static int by_archive_and_member(const void *a, const void *b)
{
	const struct link_input *x = ((const struct twin *)a)->in,
				*y = ((const struct twin *)b)->in;
	int c = strcmp(x->path, y->path);

	return c ? c : strcmp(x->member, y->member);
}

static size_t members_of(struct compile_record *r, struct twin *v)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_links; i++)
		if (r->links[i].member)
			v[n++] = (struct twin){.in = &r->links[i]};
	if (n)
		qsort(v, n, sizeof(*v), by_archive_and_member);
	return n;
}

static size_t same_name(const struct twin *v, size_t n)
{
	size_t k = 1;

	while (k < n && by_archive_and_member(&v[0], &v[k]) == 0)
		k++;
	return k;
}

static bool shares_function(const struct link_input *in, const struct strv *functions)
{
	for (size_t i = 0; i < in->functions.n; i++)
		if (strv_has(functions, in->functions.v[i]))
			return true;
	return false;
}

/* Releases those that were not linked, when it is known of another that it was. */
static void drop_of_group(struct twin *v, size_t n, const struct strv *functions)
{
	size_t linked = 0;

	for (size_t i = 0; i < n; i++) {
		v[i].linked = shares_function(v[i].in, functions);
		linked += v[i].linked;
	}
	for (size_t i = 0; linked && i < n; i++)
		if (!v[i].linked)
			link_input_release(v[i].in);
}

static void close_gaps(struct compile_record *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_links; i++)
		if (r->links[i].path)
			r->links[n++] = r->links[i];
	r->n_links = n;
}

void twins_drop_unloaded(struct compile_record *r)
{
	auto_strv struct strv functions = STRV_INIT;
	auto_free struct twin *v = xcalloc(r->n_links + 1, sizeof(*v));
	size_t n = members_of(r, v), k;
	bool looked = false;

	for (size_t i = 0; i < n; i += k) {
		k = same_name(v + i, n - i);
		if (k == 1)
			continue;
		if (!looked && r->output)
			elf_functions_of_file(r->output, &functions);
		looked = true;
		drop_of_group(v + i, k, &functions);
	}
	close_gaps(r);
}
