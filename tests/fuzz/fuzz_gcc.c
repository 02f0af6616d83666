/* Fuzz target for GCC's profile files. Whatever the input, reading ends with a profile or an error;
 * what was read is written byte for byte, and adding it up gives the same bytes in any grouping. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "profile/gcc/gcno.h"

#ifndef MAGIC
#define MAGIC(data, n) true
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(bool holds, const char *what)
{
	if (!holds) {
		write(2, what, strlen(what));
		abort();
	}
}

static void same(const struct gcda *a, const struct gcda *b, const char *what)
{
	auto_buf struct buf x = BUF_INIT, y = BUF_INIT;

	must(gcda_write(a, &x, NULL) == 0 && gcda_write(b, &y, NULL) == 0, "not written\n");
	must(x.n == y.n && memcmp(x.p, y.p, x.n) == 0, what);
}

static struct gcda *again(const uint8_t *data, size_t n, uint64_t weight)
{
	struct gcda *g = gcda_read(data, n, NULL);

	must(g != NULL, "not read twice\n");
	gcda_scale(g, weight);
	return g;
}

/* 1+1+1, 1+2, 2+1 and 3 are the same, through bytes too. */
static void add_up(const uint8_t *data, size_t n)
{
	struct gcda *ones = again(data, n, 1), *left = again(data, n, 1),
		    *right = again(data, n, 2), *three = again(data, n, 3), *back;
	struct buf b = BUF_INIT;

	must(gcda_merge(ones, left, 1, NULL) == 0 && gcda_merge(ones, left, 1, NULL) == 0,
		"does not merge with itself\n");
	same(ones, three, "1+1+1 is not 3\n");
	must(gcda_merge(left, right, 1, NULL) == 0, "does not merge\n");
	same(left, three, "1+2 is not 3\n");
	gcda_free(left);
	left = again(data, n, 1);
	must(gcda_merge(right, left, 1, NULL) == 0, "does not merge\n");
	same(right, three, "2+1 is not 3\n");
	must(gcda_write(three, &b, NULL) == 0, "not written\n");
	back = gcda_read(b.p, b.n, NULL);
	must(back != NULL, "what was written is not read\n");
	same(back, three, "what was written is read as something else\n");
	buf_release(&b);
	gcda_free(ones);
	gcda_free(left);
	gcda_free(right);
	gcda_free(three);
	gcda_free(back);
}

static void try_data(const uint8_t *data, size_t n)
{
	struct error err = ERROR_INIT;
	struct gcda_summary s = {0};
	struct gcda *g = gcda_read(data, n, &err);
	struct buf b = BUF_INIT;

	if (g) {
		gcda_summarise(g, &s);
		must(gcda_write(g, &b, NULL) == 0, "what was read is not written\n");
		must(b.n == g->end && memcmp(b.p, data, b.n) == 0, "it is written otherwise\n");
		add_up(data, n);
	} else {
		must(err.msg != NULL, "no reason is given\n");
	}
	buf_release(&b);
	gcda_free(g);
	error_release(&err);
}

/* The counts of all arcs, from counters that are all 1. */
static void solve(const struct gcno_function *f)
{
	auto_free uint64_t *counters = xcalloc((size_t)f->n_counted + 1, sizeof(*counters)),
			   *arcs = xcalloc((size_t)f->n_arcs + 1, sizeof(*arcs)),
			   *blocks = xcalloc((size_t)f->n_blocks + 1, sizeof(*blocks));
	struct error err = ERROR_INIT;

	for (uint32_t i = 0; i < f->n_counted; i++)
		counters[i] = 1;
	if (gcno_solve(f, counters, arcs, blocks, &err) < 0)
		must(err.msg != NULL, "no reason is given\n");
	error_release(&err);
}

static void try_notes(const uint8_t *data, size_t n)
{
	struct error err = ERROR_INIT;
	struct gcno *g = gcno_read(data, n, &err);

	must(g || err.msg, "no reason is given\n");
	for (size_t i = 0; g && i < g->n_functions; i++)
		solve(&g->functions[i]);
	gcno_free(g);
	error_release(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	if (!MAGIC(data, n))
		return -1;
	if (gcno_magic(data, n))
		try_notes(data, n);
	else
		try_data(data, n);
	return 0;
}
