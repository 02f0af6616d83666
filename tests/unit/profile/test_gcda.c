/* GCC's files: what is read, written back, added up and compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "gcc_fixture.h"
#include "profile/gcc/gcno.h"
#include "profile/gcc/objects.h"
#include "profile/gcc/sites.h"

static struct gcda *read_it(const struct buf *b)
{
	struct error err = ERROR_INIT;
	struct gcda *g = gcda_read(b->p, b->n, &err);

	if (!g)
		fail_msg("not read: %s", err.msg);
	return g;
}

static void add_it(struct gcda *to, const struct gcda *from, uint64_t weight)
{
	struct error err = ERROR_INIT;

	if (gcda_merge(to, from, weight, &err) < 0)
		fail_msg("not merged: %s", err.msg);
}

static void write_it(const struct gcda *g, struct buf *b)
{
	buf_clear(b);
	assert_int_equal(gcda_write(g, b, NULL), 0);
}

static void same_bytes(const struct buf *a, const struct buf *b)
{
	assert_int_equal(a->n, b->n);
	assert_memory_equal(a->p, b->p, a->n);
}

static void test_read(void **state)
{
	auto_buf struct buf b = BUF_INIT;
	const struct gcda_function *f;
	const struct gcda_site *s;
	struct gcda *g;

	gcda_sample(&b, 12, false, 1);
	g = read_it(&b);
	assert_int_equal(g->major, 12);
	assert_int_equal(g->stamp, 0x5747a3c1);
	assert_int_equal(g->checksum, 0xc0ffee);
	assert_int_equal(g->runs, 1);
	assert_int_equal(g->sum_max, 7);
	assert_int_equal(g->n_functions, 3);
	f = &g->functions[0];
	assert_int_equal(f->ident, 1000);
	assert_int_equal(f->cfg_checksum, 0x22);
	assert_int_equal(f->n, 6);
	assert_int_equal(gcda_find(f, GCDA_ARCS)->v[1], 7);
	s = &gcda_find(f, GCDA_TOPN)->sites[0];
	assert_int_equal(s->total, 10);
	assert_int_equal(s->n, 2);
	assert_int_equal(s->v[1].value, 4);
	assert_int_equal(s->v[1].count, 7);
	assert_null(gcda_find(f, GCDA_POW2));
	assert_false(g->functions[1].present);
	assert_true(gcda_find(&g->functions[2], GCDA_TIME)->elided);
	assert_int_equal(gcda_find(&g->functions[2], GCDA_INDIRECT)->n, 0);
	gcda_free(g);
}

/* What was only read is written as it was, whatever version and byte order. */
static void test_round_trip(void **state)
{
	for (unsigned major = 11; major <= 15; major++)
		for (int big = 0; big < 2; big++) {
			auto_buf struct buf b = BUF_INIT, out = BUF_INIT;
			struct gcda *g;
			size_t n;

			gcda_sample(&b, major, big, 1);
			n = b.n;
			/* Left of a longer file: GCC does not shorten one that it writes anew. */
			buf_adds(&b, "rest");
			g = read_it(&b);
			assert_int_equal(g->end, n);
			b.n = n;
			write_it(g, &out);
			same_bytes(&b, &out);
			gcda_scale(g, 1);
			write_it(g, &out);
			same_bytes(&b, &out);
			gcda_free(g);
		}
}

static void sum_file(struct buf *out, unsigned major, bool big)
{
	struct gcc_maker m = gcda_begin(out, major, big);

	put_summary(&m, 4, 28);
	put_data_function(&m, 1000, 0x11, 0x22);
	put_counters(&m, 0, (uint64_t[]){20, 28, 0}, 3);
	put_counters(&m, 3, (uint64_t[]){40, 2, 4, 28, 8, 12}, 6); /* by descending count now */
	put_counters(&m, 4, (uint64_t[]){8, 1, 3000, 8}, 4);
	put_counters(&m, 5, (uint64_t[]){48, 16}, 2);
	put_counters(&m, 6, (uint64_t[]){6}, 1);
	put_counters(&m, 7, (uint64_t[]){2}, 1);
	put_record(&m, 0x01000000, 0);
	put_data_function(&m, 3000, 0x33, 0x44);
	put_record(&m, 0x01a10000, -8);
	put_counters(&m, 3, (uint64_t[]){0, 0}, 2);
	put_counters(&m, 4, NULL, 0);
	put_record(&m, 0x01ab0000, -16);
	put_record(&m, 0x01ad0000, -8);
	put_record(&m, 0x01af0000, -8);
	put_word(&m, 0);
}

static void test_merge(void **state)
{
	for (int i = 0; i < 4; i++) {
		auto_buf struct buf one = BUF_INIT, want = BUF_INIT, out = BUF_INIT;
		unsigned major = i & 1 ? 11 : 12;
		struct gcda *a, *b;

		gcda_sample(&one, major, i & 2, 1);
		sum_file(&want, major, i & 2);
		a = read_it(&one);
		b = read_it(&one);
		add_it(a, b, 3);
		write_it(a, &out);
		same_bytes(&want, &out);
		gcda_scale(b, 4);
		write_it(b, &out);
		same_bytes(&want, &out);
		gcda_free(a);
		gcda_free(b);
	}
}

/* One function with one array of this kind. */
static void single(struct buf *b, unsigned kind, const uint64_t *v, size_t n)
{
	struct gcc_maker m;

	buf_clear(b);
	m = gcda_begin(b, 12, false);
	put_summary(&m, 1, 1);
	put_data_function(&m, 1, 2, 3);
	put_counters(&m, kind, v, n);
	put_word(&m, 0);
}

static struct gcda *sum_of(
	unsigned kind, const uint64_t *x, size_t xn, const uint64_t *y, size_t yn, uint64_t weight)
{
	auto_buf struct buf b = BUF_INIT;
	struct gcda *a, *c;

	single(&b, kind, x, xn);
	a = read_it(&b);
	single(&b, kind, y, yn);
	c = read_it(&b);
	add_it(a, c, weight);
	gcda_free(c);
	return a;
}

static void sums_to(unsigned kind, uint64_t x, uint64_t y, uint64_t weight, uint64_t want)
{
	struct gcda *g = sum_of(kind, &x, 1, &y, 1, weight);

	assert_int_equal(g->functions[0].v[0].v[0], want);
	gcda_free(g);
}

static void test_rules_by_kind(void **state)
{
	sums_to(GCDA_ARCS, 3, 4, 5, 23);
	sums_to(GCDA_INTERVAL, 3, 4, 5, 23);
	sums_to(GCDA_POW2, 3, 4, 5, 23);
	sums_to(GCDA_AVERAGE, 3, 4, 5, 23);
	sums_to(GCDA_IOR, 3, 4, 5, 7);
	sums_to(GCDA_TIME, 3, 4, 5, 3);
	sums_to(GCDA_TIME, 4, 3, 5, 3);
	sums_to(GCDA_TIME, 0, 4, 5, 4);
	sums_to(GCDA_TIME, 4, 0, 5, 4);
	sums_to(GCDA_ARCS, INT64_MAX - 1, 2, 1, INT64_MAX);
	sums_to(GCDA_ARCS, 1, INT64_MAX / 2, 9, INT64_MAX);
}

static void test_summary_saturates(void **state)
{
	auto_buf struct buf b = BUF_INIT;
	struct gcda *g;

	single(&b, GCDA_ARCS, (uint64_t[]){1}, 1);
	g = read_it(&b);
	gcda_scale(g, 1ULL << 40);
	assert_int_equal(g->runs, UINT32_MAX);
	assert_int_equal(g->sum_max, UINT32_MAX);
	assert_int_equal(g->functions[0].v[0].v[0], 1ULL << 40);
	gcda_free(g);
}

/* gcov-tool 12 turns -240 and 100 into 140, and two of -240 into 0. */
static void test_sites(void **state)
{
	static const uint64_t first[] = {-240ULL, 2, 5, 100, (uint64_t)-9, 3},
			      second[] = {100, 3, 7, 40, 5, 60, 7, 1};
	struct gcda *g = sum_of(GCDA_TOPN, first, 6, second, 8, 2);
	const struct gcda_site *s = &g->functions[0].v[0].sites[0];
	auto_buf struct buf want = BUF_INIT, out = BUF_INIT;

	assert_int_equal(s->total, 440);
	assert_true(s->dropped);
	assert_int_equal(s->n, 3);
	single(&want, GCDA_TOPN, (uint64_t[]){-440ULL, 3, 5, 220, 7, 82, (uint64_t)-9, 3}, 8);
	want.p[24] = 3; /* runs: 1 + 2 */
	want.p[28] = 3;
	write_it(g, &out);
	same_bytes(&want, &out);
	gcda_free(g);
}

/* More values than the runtime keeps: all stay, and equal counts come by descending value. */
static void test_many_values(void **state)
{
	uint64_t first[2 + 2 * 32] = {32, 32}, second[2 + 2 * 32] = {32, 32};
	const struct gcda_site *s;
	struct gcda_value *v;
	struct gcda *g;

	for (uint64_t i = 0; i < 32; i++) {
		first[2 + 2 * i] = i;
		second[2 + 2 * i] = i + 20;
		first[3 + 2 * i] = second[3 + 2 * i] = 1;
	}
	g = sum_of(GCDA_INDIRECT, first, 66, second, 66, 1);
	s = &g->functions[0].v[0].sites[0];
	assert_int_equal(s->n, 52);
	assert_false(s->dropped);
	for (uint32_t i = 0; i < 52; i++) {
		assert_int_equal(s->v[i].value, i);
		assert_int_equal(s->v[i].count, i >= 20 && i < 32 ? 2 : 1);
	}
	v = site_in_order(s);
	assert_int_equal(v[0].value, 31);
	assert_int_equal(v[11].value, 20);
	assert_int_equal(v[12].value, 51);
	assert_int_equal(v[51].value, 0);
	free(v);
	gcda_free(g);
}

/* A function that one program contains and another does not is taken from where it is. */
static void test_placeholder(void **state)
{
	auto_buf struct buf with = BUF_INIT, without = BUF_INIT, x = BUF_INIT, y = BUF_INIT;
	struct gcc_maker m = gcda_begin(&without, 12, false);
	struct gcda *a, *b;

	single(&with, GCDA_ARCS, (uint64_t[]){9, 8}, 2);
	put_summary(&m, 1, 1);
	put_record(&m, 0x01000000, 0);
	put_word(&m, 0);
	a = read_it(&with);
	b = read_it(&without);
	add_it(a, b, 1);
	write_it(a, &x);
	assert_int_equal(a->functions[0].v[0].v[0], 9);
	gcda_free(a);
	a = read_it(&with);
	add_it(b, a, 1);
	write_it(b, &y);
	same_bytes(&x, &y);
	gcda_free(a);
	gcda_free(b);
}

/* Pseudo-random files of one shape, with what a run may leave: zeros, elided or not, equal counts,
 * a value twice in one site, lost values, counts near the limit. */
struct noise {
	uint64_t x;
};

static uint64_t next(struct noise *r, uint64_t below)
{
	r->x ^= r->x << 13;
	r->x ^= r->x >> 7;
	r->x ^= r->x << 17;
	return r->x % below;
}

static void random_array(struct gcc_maker *m, struct noise *r, unsigned kind, size_t n)
{
	uint64_t v[8] = {0};

	if (next(r, 4) == 0) {
		put_record(m, 0x01a10000 + (kind << 17), -8 * (int64_t)n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		v[i] = next(r, 3) ? next(r, 5) : next(r, 4) ? 0 : INT64_MAX - next(r, 9);
	put_counters(m, kind, v, n);
}

static void random_sites(struct gcc_maker *m, struct noise *r, unsigned kind, size_t n)
{
	uint64_t v[3 * (2 + 2 * 12)];
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t values = next(r, 13);

		v[k++] = next(r, 5) ? next(r, 100) : -next(r, 100);
		v[k++] = values;
		for (uint64_t j = 0; j < values; j++) {
			v[k++] = next(r, 9) - 4;
			v[k++] = next(r, 20) ? next(r, 6) : INT64_MAX - next(r, 3);
		}
	}
	put_counters(m, kind, v, k);
}

static void random_file(struct buf *out, struct noise *r, unsigned major, bool big)
{
	struct gcc_maker m = gcda_begin(out, major, big);

	put_summary(&m, (uint32_t)next(r, 3), (uint32_t)next(r, UINT32_MAX));
	for (uint32_t f = 0; f < 4; f++) {
		if (next(r, 4) == 0) {
			put_record(&m, 0x01000000, 0);
			continue;
		}
		put_data_function(&m, f + 1, 2 * f, 3 * f);
		random_array(&m, r, GCDA_ARCS, f + 2);
		random_sites(&m, r, GCDA_TOPN, f % 3);
		random_sites(&m, r, GCDA_INDIRECT, 2);
		random_array(&m, r, GCDA_AVERAGE, 2);
		random_array(&m, r, GCDA_IOR, 1);
		random_array(&m, r, GCDA_TIME, 1);
	}
	put_word(&m, 0);
}

/* Adds file[i] to the sum that out holds (empty: to nothing), by way of bytes. */
static void add_bytes(struct buf *out, const struct buf *file, uint64_t weight)
{
	struct gcda *g = read_it(file), *sum;

	if (out->n == 0) {
		gcda_scale(g, weight);
		write_it(g, out);
		gcda_free(g);
		return;
	}
	sum = read_it(out);
	add_it(sum, g, weight);
	write_it(sum, out);
	gcda_free(sum);
	gcda_free(g);
}

/* (a+b)+c, c+(b+a), a+(c+b) with weights, through files: the same bytes. */
static void test_any_grouping(void **state)
{
	static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {0, 2, 1}};
	struct noise r = {88172645463325252ULL};

	for (int round = 0; round < 400; round++) {
		struct buf f[3] = {BUF_INIT, BUF_INIT, BUF_INIT};
		auto_buf struct buf first = BUF_INIT, pair = BUF_INIT;
		uint64_t w[3] = {1 + next(&r, 3), 1, 1 + next(&r, 2)};

		for (int i = 0; i < 3; i++)
			random_file(&f[i], &r, round & 1 ? 11 : 12, round & 2);
		for (size_t o = 0; o < ARRAY_SIZE(orders); o++) {
			auto_buf struct buf sum = BUF_INIT;

			for (int i = 0; i < 3; i++)
				add_bytes(&sum, &f[orders[o][i]], w[orders[o][i]]);
			if (o == 0)
				buf_add(&first, sum.p, sum.n);
			same_bytes(&first, &sum);
		}
		add_bytes(&pair, &f[1], w[1]);
		add_bytes(&pair, &f[2], w[2]);
		add_bytes(&pair, &f[0], w[0]);
		same_bytes(&first, &pair);
		buf_clear(&pair);
		for (int i = 0; i < 3; i++)
			for (uint64_t k = 0; k < w[i]; k++)
				add_bytes(&pair, &f[i], 1);
		same_bytes(&first, &pair);
		for (int i = 0; i < 3; i++)
			buf_release(&f[i]);
	}
}

static void test_notes(void **state)
{
	for (int i = 0; i < 4; i++) {
		auto_buf struct buf b = BUF_INIT, d = BUF_INIT;
		uint64_t arcs[6], blocks[5];
		struct error err = ERROR_INIT;
		const struct gcno_function *f;
		struct gcno *g;
		struct gcda *data;

		gcno_sample(&b, i & 1 ? 11 : 12, i & 2);
		g = gcno_read(b.p, b.n, &err);
		if (!g)
			fail_msg("not read: %s", err.msg);
		assert_string_equal(g->cwd, "/w");
		assert_int_equal(g->n_functions, 1);
		f = gcno_find(g, 1000);
		assert_string_equal(f->name, "loop");
		assert_string_equal(f->source, "a.c");
		assert_int_equal(f->start_line, 3);
		assert_int_equal(f->end_column, 2);
		assert_int_equal(f->n_blocks, 5);
		assert_int_equal(f->n_arcs, 6);
		assert_int_equal(f->n_counted, 3);
		/* In 4 times, round 9 times, out by an exception once. */
		assert_int_equal(gcno_solve(f, (uint64_t[]){4, 9, 1}, arcs, blocks, &err), 0);
		assert_memory_equal(arcs, ((uint64_t[]){4, 4, 9, 3, 8, 1}), sizeof(arcs));
		assert_memory_equal(blocks, ((uint64_t[]){4, 4, 4, 12, 9}), sizeof(blocks));
		assert_int_equal(gcno_solve(f, (uint64_t[]){1, 9, 3}, arcs, blocks, &err), -1);
		assert_string_equal(err.msg, "'loop': counts around block 3 do not add up: threads "
					     "counted at once without "
					     "-fprofile-update=atomic, or the file is damaged");
		gcda_sample(&d, i & 1 ? 11 : 12, i & 2, 1);
		data = read_it(&d);
		assert_int_equal(gcno_check(g, data, &err), -1);
		assert_string_equal(
			err.msg, "function 2 has ident 3000, which the .gcno does not have");
		data->n_functions = 2;
		assert_int_equal(gcno_check(g, data, &err), 0);
		error_release(&err);
		gcno_free(g);
		gcda_free(data);
	}
}

static void test_summarise(void **state)
{
	auto_buf struct buf b = BUF_INIT;
	struct gcda_summary s = {0};
	struct gcda *g;

	gcda_sample(&b, 12, false, 1);
	g = read_it(&b);
	gcda_summarise(g, &s);
	assert_int_equal(s.functions, 2);
	assert_int_equal(s.executed, 1);
	assert_int_equal(s.counters, 4);
	assert_int_equal(s.total_count, 12);
	assert_int_equal(s.max_count, 7);
	assert_int_equal(s.sites, 3);
	assert_int_equal(s.values, 3);
	gcda_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_rules_by_kind),
		cmocka_unit_test(test_summary_saturates),
		cmocka_unit_test(test_sites),
		cmocka_unit_test(test_many_values),
		cmocka_unit_test(test_placeholder),
		cmocka_unit_test(test_any_grouping),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_summarise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
