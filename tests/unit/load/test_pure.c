/* The order and the histogram, without sockets. */
#include "script.h"

#include "load/h2_pool.h"
#include "load/histogram.h"
#include "load/order.h"

static void take_all(struct load_order *o, uint64_t n, uint64_t *count)
{
	order_deal(o, n);
	while (o->total_left)
		count[order_next(o)]++;
}

static void test_shares(void **state)
{
	static const uint32_t w[] = {5, 3, 0, 2};
	uint64_t count[4] = {0};
	struct load_order o;

	order_init(&o, w, 4, 7);
	take_all(&o, 1000, count);
	assert_int_equal(count[0], 500);
	assert_int_equal(count[1], 300);
	assert_int_equal(count[2], 0);
	assert_int_equal(count[3], 200);
	order_release(&o);
}

/* Over slices of odd sizes no class is ever a whole request away from its share. */
static void test_shares_over_slices(void **state)
{
	static const uint32_t w[] = {7, 1, 1, 4000000000u, 3};
	uint64_t count[5] = {0}, total = 0, weight = 0;
	struct load_order o;

	for (size_t i = 0; i < 5; i++)
		weight += w[i];
	order_init(&o, w, 5, 7);
	for (uint64_t n = 1; n < 2000; n += 1 + n % 17) {
		take_all(&o, n, count);
		total += n;
		for (size_t i = 0; i < 5; i++) {
			double due = (double)total * w[i] / (double)weight;

			assert_true(count[i] < due + 1.0001 && count[i] + 1.0001 > due);
		}
	}
	assert_int_equal(count[0] + count[1] + count[2] + count[3] + count[4], total);
	order_release(&o);
}

static void test_seed(void **state)
{
	static const uint32_t w[] = {1, 1, 1};
	struct load_order a, b, c;
	size_t same_ab = 0, same_ac = 0;

	order_init(&a, w, 3, 1);
	order_init(&b, w, 3, 1);
	order_init(&c, w, 3, 2);
	order_deal(&a, 300);
	order_deal(&b, 300);
	order_deal(&c, 300);
	for (int i = 0; i < 300; i++) {
		size_t x = order_next(&a);

		same_ab += x == order_next(&b);
		same_ac += x == order_next(&c);
	}
	assert_int_equal(same_ab, 300);
	assert_true(same_ac < 200);
	order_release(&a);
	order_release(&b);
	order_release(&c);
}

static void test_weights_of_zero(void **state)
{
	static const uint32_t w[] = {0, 0};
	uint64_t count[2] = {0};
	struct load_order o;

	order_init(&o, w, 2, 1);
	take_all(&o, 10, count);
	assert_int_equal(count[0], 5);
	assert_int_equal(count[1], 5);
	order_release(&o);
}

static void test_histogram(void **state)
{
	struct histogram *h = calloc(1, sizeof(*h));

	assert_int_equal(histogram_quantile(h, 0.5), 0);
	for (uint64_t v = 1; v <= 100000; v++)
		histogram_add(h, v);
	assert_int_equal(h->n, 100000);
	assert_in_range(histogram_quantile(h, 0.5), 50000, 51600);
	assert_in_range(histogram_quantile(h, 0.99), 99000, 100000);
	assert_int_equal(histogram_quantile(h, 1), 100000);
	histogram_clear(h);
	histogram_add(h, 3);
	assert_int_equal(histogram_quantile(h, 0.5), 3);
	histogram_add(h, UINT64_MAX);
	assert_true(histogram_quantile(h, 1) == UINT64_MAX);
	free(h);
}

/* Every value lies in its bucket, whose top is within 1/32 of it, and buckets are in order. */
static void test_buckets(void **state)
{
	for (unsigned bit = 0; bit < 64; bit++) {
		for (int d = -1; d <= 1; d++) {
			uint64_t v = (1ULL << bit) + (uint64_t)d;
			size_t b = histogram_bucket(v);

			assert_true(b < HISTOGRAM_BUCKETS);
			assert_true(histogram_bucket_top(b) >= v);
			assert_true(histogram_bucket_top(b) - v <= v / 32);
			if (b > 0)
				assert_true(histogram_bucket_top(b - 1) < v);
		}
	}
}

static void test_h2_pool(void **state)
{
	struct h2_pool *p = h2_pool_new();
	nghttp2_mem *m = h2_pool_mem(p);
	char *a = m->malloc(1, m->mem_user_data);
	char *b = m->malloc(64, m->mem_user_data);
	char *large = m->malloc(5000, m->mem_user_data);
	char *grown;

	assert_int_equal((uintptr_t)a % _Alignof(max_align_t), 0);
	memset(b, 'b', 64);
	assert_ptr_equal(m->realloc(b, 33, m->mem_user_data), b);
	grown = m->realloc(b, 65, m->mem_user_data);
	for (size_t i = 0; i < 64; i++)
		assert_int_equal(grown[i], 'b');
	/* What was given back is used again, the last first, and only for its size. */
	m->free(a, m->mem_user_data);
	assert_ptr_equal(m->malloc(2, m->mem_user_data), a);
	assert_ptr_equal(m->malloc(0, m->mem_user_data), b);
	m->free(grown, m->mem_user_data);
	assert_ptr_equal(m->calloc(1, 128, m->mem_user_data), grown);
	for (size_t i = 0; i < 128; i++)
		assert_int_equal(grown[i], 0);
	/* Sizes that overflow. */
	assert_null(m->malloc(SIZE_MAX, m->mem_user_data));
	assert_null(m->malloc(SIZE_MAX - 40, m->mem_user_data));
	assert_null(m->calloc(SIZE_MAX / 2, 3, m->mem_user_data));
	m->free(NULL, m->mem_user_data);
	m->free(a, m->mem_user_data);
	m->free(b, m->mem_user_data);
	m->free(grown, m->mem_user_data);
	m->free(large, m->mem_user_data);
	h2_pool_free(p);
}

const struct CMUnitTest pure_tests[] = {
	cmocka_unit_test(test_shares),
	cmocka_unit_test(test_shares_over_slices),
	cmocka_unit_test(test_seed),
	cmocka_unit_test(test_weights_of_zero),
	cmocka_unit_test(test_histogram),
	cmocka_unit_test(test_buckets),
	cmocka_unit_test(test_h2_pool),
};
const size_t n_pure_tests = sizeof(pure_tests) / sizeof(pure_tests[0]);
