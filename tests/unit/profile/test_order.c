/* Merging gives the same bytes in any order and any grouping of its inputs. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "profile/model.h"

static void add_bytes(struct profile *p, const struct buf *b, uint64_t weight)
{
	struct error err = ERROR_INIT;

	if (profile_add_bytes(p, b->p, b->n, weight, NULL, &err) < 0)
		fail_msg("%s\n%s", err.msg, b->p);
}

static void add_text(struct profile *p, const char *text, uint64_t weight)
{
	auto_buf struct buf b = BUF_INIT;

	buf_adds(&b, text);
	add_bytes(p, &b, weight);
}

static void index_of(const struct profile *p, struct buf *out)
{
	struct error err = ERROR_INIT;

	if (profile_encode_indexed(p, 13, out, &err) < 0)
		fail_msg("%s", err.msg);
}

static void expect_same(const struct buf *a, const struct buf *b, const char *what, unsigned seed)
{
	if (a->n != b->n || memcmp(a->p, b->p, a->n) != 0)
		fail_msg("%s, seed %u: %zu bytes and %zu bytes differ", what, seed, a->n, b->n);
}

/* The text form of what the text inputs give together, up to its first empty line; caller frees. */
static char *sum_of(const char *const *texts, size_t n, bool backwards, bool by_file)
{
	auto_buf struct buf b = BUF_INIT;
	struct profile *p = profile_new();
	struct error err = ERROR_INIT;

	for (size_t i = 0; i < n; i++) {
		const char *text = texts[backwards ? n - 1 - i : i];

		if (by_file) {
			auto_buf struct buf file = BUF_INIT;
			struct profile *one = profile_new();

			add_text(one, text, 1);
			index_of(one, &file);
			add_bytes(p, &file, 1);
			profile_free(one);
		} else {
			add_text(p, text, 1);
		}
	}
	if (profile_encode_text(p, 22, &b, &err) < 0)
		fail_msg("%s", err.msg);
	profile_free(p);
	return buf_detach(&b);
}

/* Targets that the program has no record of are all 0, and a process counts each of them apart. */
static void test_unknown_targets(void **state)
{
	const char *const texts[] = {
		":ir\nf\n1\n1\n2\n1\n0\n1\n2\n** External Symbol **:3\n** External Symbol **:5\n",
		":ir\nf\n1\n1\n2\n1\n0\n1\n2\n** External Symbol **:10\n** External Symbol **:1\n"};

	for (int way = 0; way < 4; way++) {
		auto_free char *s = sum_of(texts, 2, way & 1, way & 2);

		assert_non_null(strstr(s,
			"# NumValueSites:\n1\n2\n** External Symbol **:15\n** External Symbol "
			"**:4\n\n"));
	}
}

/* 300 values of one site: which 255 are written is known when all were counted. */
static void test_many_values(void **state)
{
	auto_buf struct buf a = BUF_INIT, b = BUF_INIT;
	auto_free char *there = NULL, *back = NULL;
	const char *texts[3];

	buf_adds(&a, ":ir\nf\n1\n1\n2\n1\n1\n1\n200\n");
	buf_adds(&b, ":ir\nf\n1\n1\n2\n1\n1\n1\n200\n");
	for (int i = 0; i < 200; i++) {
		buf_addf(&a, "%d:%d\n", i, 1000 - i);
		buf_addf(&b, "%d:%d\n", i + 100, 2 * i + 1);
	}
	texts[0] = buf_str(&a);
	texts[1] = buf_str(&b);
	texts[2] = ":ir\nf\n1\n1\n2\n1\n1\n1\n1\n101:100000\n";
	there = sum_of(texts, 3, false, false);
	back = sum_of(texts, 3, true, false);
	assert_string_equal(there, back);
	/* 900 - 1 + 2 * 1 + 1 + 100000 */
	assert_non_null(strstr(there, "# NumValueSites:\n1\n255\n101:100902\n"));
}

static void test_pseudo_counts(void **state)
{
	static const char *const hot = ":ir\nf\n1\n2\n18446744073709551615\n0\n",
				 *const warm = ":ir\nf\n1\n2\n18446744073709551614\n0\n";
	static const struct {
		const char *texts[2];
		const char *want;
	} cases[] = {
		{{hot, warm}, "18446744073709551615\n0\n\n"},
		{{warm, warm}, "18446744073709551614\n0\n\n"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		for (int way = 0; way < 4; way++) {
			auto_free char *s = sum_of(cases[i].texts, 2, way & 1, way & 2);

			assert_non_null(strstr(s, cases[i].want));
		}
	}
	for (int first = 0; first < 2; first++) {
		struct profile *p = profile_new();

		add_text(p, hot, first ? 3 : 1);
		add_text(p, warm, first ? 1 : 3);
		assert_true(p->records[0]->counts[0] == UINT64_MAX);
		profile_free(p);
	}
}

/* ---------------------------------------------------------------- random profiles */

static unsigned below(unsigned *seed, unsigned n)
{
	return (unsigned)rand_r(seed) % n;
}

/* Keys with several hashes that share buckets, counts up to the limit, sites with equal values. */
static void put_record(struct buf *b, unsigned *seed, unsigned f)
{
	unsigned sites = f % 3;

	buf_addf(b, "f%u\n%u\n2\n", f, 1 + below(seed, 9) * 64);
	for (int i = 0; i < 2; i++) {
		if (below(seed, 20) == 0)
			buf_adds(b, "18446744073709551613\n");
		else
			buf_addf(b, "%u\n", below(seed, 1000));
	}
	if (!sites)
		return;
	buf_addf(b, "2\n0\n%u\n", sites);
	for (unsigned i = 0; i < sites; i++) {
		unsigned n = below(seed, 6);

		buf_addf(b, "%u\n", n);
		for (; n; n--) {
			if (below(seed, 3) == 0)
				buf_addf(b, "** External Symbol **:%u\n", below(seed, 5));
			else
				buf_addf(b, "f%u:%u\n", below(seed, 8), below(seed, 5));
		}
	}
	buf_adds(b, "1\n1\n1\n8:18446744073709551615\n");
}

static void random_profile(struct buf *b, unsigned *seed)
{
	buf_adds(b, ":ir\n:temporal_prof_traces\n1\n1\n1\nf0,f1,");
	buf_addf(b, "f%u,\n", 2 + below(seed, 6));
	for (unsigned f = 0; f < 12; f++)
		for (unsigned n = below(seed, 3); n; n--)
			put_record(b, seed, f);
}

#define INPUTS 6

/* Merges inputs[0..n) in a random grouping, each group through a file, and gives its index. */
static void merge_any_way(
	const struct buf *const *inputs, size_t n, unsigned *seed, struct buf *out)
{
	struct profile *p = profile_new();

	for (size_t i = 0; i < n;) {
		size_t k = 1 + below(seed, (unsigned)(n - i));

		if (k == n || below(seed, 2))
			k = 1;
		if (k == 1) {
			add_bytes(p, inputs[i], 1);
		} else {
			auto_buf struct buf part = BUF_INIT;

			merge_any_way(inputs + i, k, seed, &part);
			add_bytes(p, &part, 1);
		}
		i += k;
	}
	index_of(p, out);
	profile_free(p);
}

static void test_any_order_and_grouping(void **state)
{
	for (unsigned run = 1; run <= 300; run++) {
		auto_buf struct buf want = BUF_INIT;
		struct buf inputs[INPUTS] = {0};
		const struct buf *order[INPUTS];
		unsigned seed = run;

		for (size_t i = 0; i < INPUTS; i++) {
			random_profile(&inputs[i], &seed);
			order[i] = &inputs[i];
		}
		merge_any_way(order, INPUTS, &seed, &want);
		for (int turn = 0; turn < 4; turn++) {
			auto_buf struct buf got = BUF_INIT;

			for (size_t i = INPUTS - 1; i > 0; i--) {
				size_t k = below(&seed, (unsigned)i + 1);
				const struct buf *t = order[i];

				order[i] = order[k];
				order[k] = t;
			}
			merge_any_way(order, INPUTS, &seed, &got);
			expect_same(&want, &got, "another order or grouping", run);
		}
		for (size_t i = 0; i < INPUTS; i++)
			buf_release(&inputs[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unknown_targets),
		cmocka_unit_test(test_many_values),
		cmocka_unit_test(test_pseudo_counts),
		cmocka_unit_test(test_any_order_and_grouping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
