/* Damaged .gcda and .gcno files, and files that do not belong together: each is made from a valid
 * one, and the message is the one a user reads. */
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

/* Offsets in the sample of gcc 12. */
enum {
	AT_VERSION = 4,
	AT_SUMMARY = 16,
	AT_FUNCTION = 32,
	AT_IDENT = 40,
	AT_ARCS = 52,
	AT_TOPN = 84,
	AT_TOTAL = 92,
	AT_VALUES = 100,
	AT_INDIRECT = 140,
	SIZE = 332,
};

static void rejected(const void *data, size_t n, const char *msg)
{
	struct error err = ERROR_INIT;
	/* A copy of exact size, so that a sanitizer sees the first byte behind it. */
	char *copy = xmalloc(n ? n : 1);

	memcpy(copy, data, n);
	assert_null(gcda_read(copy, n, &err));
	assert_string_equal(err.msg, msg);
	error_release(&err);
	free(copy);
}

static void test_truncated(void **state)
{
	static const struct {
		size_t n;
		const char *msg;
	} cases[] = {
		{0, "is empty: the process that should have written it was killed, or never "
		    "reached its exit"},
		{3, "is no .gcda file: its first bytes are not 'adcg' or 'gcda'"},
		{11, "header is cut off: the file ends at byte 11"},
		{15, "header is cut off: the file ends at byte 15"},
		{AT_SUMMARY, "is cut off: a record or the end mark is expected at byte 16, but the "
			     "file ends at 16"},
		{AT_SUMMARY + 9,
			"is cut off: record 0xa1000000 at byte 16 has 8 bytes, but the file "
			"ends at 25"},
		{AT_ARCS - 1, "is cut off: record 0x01000000 at byte 32 has 12 bytes, but the file "
			      "ends at 51"},
		{AT_TOPN - 8,
			"function 0: is cut off: record 0x01a10000 at byte 52 has 24 bytes, but "
			"the file ends at 76"},
		{SIZE - 1,
			"function 2: is cut off: a record or the end mark is expected at byte 328, "
			"but the file ends at 331"},
	};
	auto_buf struct buf b = BUF_INIT;

	gcda_sample(&b, 12, false, 1);
	assert_int_equal(b.n, SIZE);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		rejected(b.p, cases[i].n, cases[i].msg);
}

/* No shorter file is valid, whatever the version and byte order. */
static void test_every_truncation(void **state)
{
	for (int i = 0; i < 4; i++) {
		auto_buf struct buf b = BUF_INIT;

		gcda_sample(&b, i & 1 ? 11 : 12, i & 2, 1);
		for (size_t n = 0; n < b.n; n++) {
			char *copy = xmalloc(n + 1);

			memcpy(copy, b.p, n);
			assert_null(gcda_read(copy, n, NULL));
			free(copy);
		}
	}
}

static void patched(size_t at, uint64_t value, size_t width, const char *msg)
{
	auto_buf struct buf b = BUF_INIT;

	gcda_sample(&b, 12, false, 1);
	memcpy(b.p + at, &value, width);
	rejected(b.p, b.n, msg);
}

static void test_header(void **state)
{
	patched(0, 'x', 1, "is no .gcda file: its first bytes are not 'adcg' or 'gcda'");
	patched(0, 0x67636e6f, 4, "is a .gcno file, which holds no counts: name the .gcda");
	patched(AT_VERSION, 0x4230322a, 4,
		"was written by gcc 10.2 (B02*); files of gcc 11 to 15 are read");
	patched(AT_VERSION, 0x4236322a, 4,
		"was written by gcc 16.2 (B62*); files of gcc 11 to 15 are read");
	patched(AT_VERSION, 0x12345678, 4,
		"was written by version word 0x12345678; files of gcc 11 to 15 are read");
	patched(AT_SUMMARY, 0xa3000000, 4,
		"object summary of 8 bytes expected at byte 16, not record 0xa3000000 of 8");
	patched(AT_SUMMARY + 4, -8ULL, 4,
		"object summary of 8 bytes expected at byte 16, not record 0xa1000000 of -8");
}

static void test_functions(void **state)
{
	patched(AT_FUNCTION + 4, 8, 4,
		"function record at byte 32 has 8 bytes, expected 12 or none");
	patched(AT_FUNCTION + 4, 0x7fffffff, 4,
		"is cut off: record 0x01000000 at byte 32 has 2147483647 bytes, but the file ends "
		"at 332");
	patched(AT_ARCS, 0x01a30001, 4,
		"record at byte 52 has tag 0x01a30001; expected a function (0x01000000), counters "
		"of "
		"it, or the end mark (0)");
	patched(AT_ARCS, 0x01b10000, 4,
		"record at byte 52 has tag 0x01b10000; expected a function (0x01000000), counters "
		"of "
		"it, or the end mark (0)");
	patched(AT_INDIRECT, 0x01a10000, 4,
		"function 0: arcs counters at byte 140 follow those of topn: they are out of "
		"order");
}

static void test_counters(void **state)
{
	patched(AT_ARCS + 4, 20, 4,
		"function 0: arcs counters at byte 52 have 20 bytes, which is no multiple of 8");
	patched(AT_ARCS + 4, -20ULL, 4,
		"function 0: arcs counters at byte 52 have 20 bytes, which is no multiple of 8");
	patched(AT_TOPN + 4, -24ULL, 4,
		"function 0: topn counters at byte 84 have 24 bytes, which is no multiple of 16");
	patched(AT_ARCS + 8 + 15, 0x80, 1,
		"function 0: arcs counter 1 at byte 68 is negative (-9223372036854775801): the "
		"file is "
		"damaged");
	patched(AT_VALUES, 3, 8,
		"function 0: value site at byte 92 has a total of 10 and 3 values, which do not "
		"fit "
		"into its record (it ends at byte 140)");
	patched(AT_VALUES, UINT64_MAX, 8,
		"function 0: value site at byte 92 has a total of 10 and 18446744073709551615 "
		"values, "
		"which do not fit into its record (it ends at byte 140)");
	patched(AT_TOTAL, 1ULL << 63, 8,
		"function 0: value site at byte 92 has a total of -9223372036854775808 and 2 "
		"values, "
		"which do not fit into its record (it ends at byte 140)");
	patched(AT_VALUES + 16, -1ULL, 8,
		"function 0: value 0 of the site at byte 92 has a negative count: the file is "
		"damaged");
}

/* A record that says "all zeros" may claim any number: it costs nothing until data justify it. */
static void test_claimed_zeros(void **state)
{
	auto_buf struct buf b = BUF_INIT, out = BUF_INIT;
	struct gcc_maker m = gcda_begin(&b, 12, false);
	struct gcda *g;

	put_summary(&m, 1, 1);
	put_data_function(&m, 1, 2, 3);
	put_record(&m, 0x01a10000, -0x7ffffff8LL);
	put_record(&m, 0x01a70000, -0x7ffffff0LL);
	put_word(&m, 0);
	g = gcda_read(b.p, b.n, NULL);
	assert_non_null(g);
	assert_int_equal(g->functions[0].v[0].n, 0x0fffffff);
	gcda_scale(g, 3);
	assert_int_equal(gcda_merge(g, g, 1, NULL), 0);
	assert_int_equal(gcda_write(g, &out, NULL), 0);
	assert_int_equal(out.n, b.n);
	gcda_free(g);
}

/* Merges a sample that change() damaged into a good one: refused, and nothing is added. */
static void mismatched(size_t at, uint64_t value, size_t width, const char *msg)
{
	auto_buf struct buf good = BUF_INIT, bad = BUF_INIT, out = BUF_INIT;
	struct error err = ERROR_INIT;
	struct gcda *a, *b;

	gcda_sample(&good, 12, false, 1);
	buf_add(&bad, good.p, good.n);
	memcpy(bad.p + at, &value, width);
	a = gcda_read(good.p, good.n, NULL);
	b = gcda_read(bad.p, bad.n, &err);
	if (!b)
		fail_msg("%s", err.msg);
	assert_int_equal(gcda_merge(a, b, 1, &err), -1);
	assert_string_equal(err.msg, msg);
	assert_int_equal(gcda_write(a, &out, NULL), 0);
	assert_int_equal(out.n, good.n);
	assert_memory_equal(out.p, good.p, out.n);
	error_release(&err);
	gcda_free(a);
	gcda_free(b);
}

#define REMEDY "; merge profiles of one build only, and train again after each instrumented build"

static void test_mismatches(void **state)
{
	mismatched(AT_VERSION, 0x4233322a, 4,
		"was written by gcc 13.2 (B32*), but the profiles merged so far by gcc 12.2 "
		"(B22*)" REMEDY);
	mismatched(8, 1, 4,
		"has stamp 0x00000001, but the profiles merged so far have 0x5747a3c1: the object "
		"was compiled again in between" REMEDY);
	mismatched(12, 1, 4,
		"has checksum 0x00000001, but the profiles merged so far have 0x00c0ffee: another "
		"object was compiled under this name" REMEDY);
	mismatched(AT_IDENT, 1001, 4,
		"function 0: ident 1001 with checksums 0x00000011 and 0x00000022 here, but ident "
		"1000 with 0x00000011 and 0x00000022 in the profiles merged so far" REMEDY);
	mismatched(SIZE - 16, -24ULL, 4,
		"function 2: 3 ior counters here, but 1 ior counters in the profiles merged so "
		"far" REMEDY);
	mismatched(AT_TOPN, 0x01a50000, 4,
		"function 0: 6 pow2 counters here, but 1 topn counters in the profiles merged so "
		"far" REMEDY);
}

static void test_mismatched_shape(void **state)
{
	auto_buf struct buf x = BUF_INIT, y = BUF_INIT;
	struct error err = ERROR_INIT;
	struct gcc_maker m = gcda_begin(&y, 12, false);
	struct gcda *a, *b;

	gcda_sample(&x, 12, true, 1);
	put_summary(&m, 1, 1);
	put_word(&m, 0);
	a = gcda_read(y.p, y.n, NULL);
	b = gcda_read(x.p, x.n, NULL);
	assert_int_equal(gcda_merge(a, b, 1, &err), -1);
	assert_string_equal(
		err.msg, "is big-endian, but the profiles merged so far are little-endian" REMEDY);
	b->big = false;
	assert_int_equal(gcda_merge(a, b, 1, &err), -1);
	assert_string_equal(
		err.msg, "has 3 functions, but the profiles merged so far have 0" REMEDY);
	gcda_free(a);
	a = gcda_read(x.p, x.n, NULL);
	a->big = false;
	a->functions[0].n--;
	assert_int_equal(gcda_merge(a, b, 1, &err), -1);
	assert_string_equal(err.msg,
		"function 0: 6 kinds of counters here, but 5 in the profiles merged so far" REMEDY);
	gcda_free(a);
	gcda_free(b);
	error_release(&err);
}

/* Whatever one byte is changed to, the file is refused, or it is written as it was read. */
static void test_mutations(void **state)
{
	for (int i = 0; i < 8; i++) {
		auto_buf struct buf b = BUF_INIT;

		gcda_sample(&b, i & 1 ? 11 : 12, i & 2, 1);
		for (size_t k = 0; k < b.n; k++) {
			auto_buf struct buf out = BUF_INIT;
			struct gcda *g;

			b.p[k] = (char)(b.p[k] ^ 1 << i);
			g = gcda_read(b.p, b.n, NULL);
			if (g) {
				assert_int_equal(gcda_write(g, &out, NULL), 0);
				assert_int_equal(out.n, g->end);
				assert_memory_equal(out.p, b.p, out.n);
			}
			gcda_free(g);
			b.p[k] = (char)(b.p[k] ^ 1 << i);
		}
	}
}

static void bad_notes(size_t at, uint64_t value, size_t width, size_t cut, const char *msg)
{
	auto_buf struct buf b = BUF_INIT;
	struct error err = ERROR_INIT;
	char *copy;

	gcno_sample(&b, 12, false);
	memcpy(b.p + at, &value, width);
	copy = xmalloc(b.n - cut);
	memcpy(copy, b.p, b.n - cut);
	assert_null(gcno_read(copy, b.n - cut, &err));
	assert_string_equal(err.msg, msg);
	error_release(&err);
	free(copy);
}

/* In the sample of gcc 12: function at 27, blocks at 84, first arc at 96, lines at 216. */
static void test_notes(void **state)
{
	bad_notes(0, 'x', 1, 0, "is no .gcno file: its first bytes are not 'oncg' or 'gcno'");
	bad_notes(AT_VERSION + 2, '0', 1, 0,
		"was written by gcc 10.2 (B02*); files of gcc 11 to 15 are read");
	bad_notes(16, 300, 4, 0, "header is cut off: the file ends at byte 236");
	bad_notes(27 + 4, 40, 4, 0, "function record at byte 27 needs more than its 40 bytes");
	bad_notes(27 + 20, 400, 4, 0, "function record at byte 27 needs more than its 49 bytes");
	bad_notes(27, 0x01450000, 4, 0,
		"record at byte 27 has tag 0x01450000; expected a function (0x01000000)");
	bad_notes(84, 0x02000000, 4, 0,
		"record at byte 84 has tag 0x02000000; expected a function (0x01000000) or what "
		"belongs to one");
	bad_notes(92, 1, 4, 0,
		"block record at byte 84 of 'loop' has 1 blocks; expected one record of 2 to 236");
	bad_notes(92, 237, 4, 0,
		"block record at byte 84 of 'loop' has 237 blocks; expected one record of 2 to "
		"236");
	bad_notes(104, 5, 4, 0,
		"arc record at byte 96 of 'loop' leads from block 5 to 2; the function has 5 "
		"blocks");
	bad_notes(108, 9, 4, 0,
		"arc record at byte 96 of 'loop' leads from block 0 to 9; the function has 5 "
		"blocks");
	bad_notes(0, 'o', 1, 1,
		"is cut off: record 0x01450000 at byte 216 has 12 bytes, but the file ends at 235");
}

static void test_notes_checked(void **state)
{
	auto_buf struct buf b = BUF_INIT, d = BUF_INIT;
	struct error err = ERROR_INIT;
	struct gcno *g;
	struct gcda *data;

	gcno_sample(&b, 12, false);
	gcda_sample(&d, 12, false, 1);
	g = gcno_read(b.p, b.n, NULL);
	data = gcda_read(d.p, d.n, NULL);
	data->n_functions = 1;
	g->stamp++;
	assert_int_equal(gcno_check(g, data, &err), -1);
	assert_string_equal(err.msg,
		"has stamp 0x5747a3c1, but the .gcno beside it has 0x5747a3c2: they are of two "
		"compilations; remove the .gcda and train again");
	g->stamp--;
	g->functions[0].cfg_checksum = 0x23;
	assert_int_equal(gcno_check(g, data, &err), -1);
	assert_string_equal(err.msg,
		"function 'loop' has checksums 0x00000011 and 0x00000022, but 0x00000011 and "
		"0x00000023 in the .gcno");
	g->functions[0].cfg_checksum = 0x22;
	g->functions[0].n_counted = 2;
	assert_int_equal(gcno_check(g, data, &err), -1);
	assert_string_equal(
		err.msg, "function 'loop' has 3 arc counters, but 2 arcs in the .gcno need one");
	error_release(&err);
	gcno_free(g);
	gcda_free(data);
}

/* Arcs without a counter that form a circle have no count that follows. */
static void test_no_tree(void **state)
{
	auto_buf struct buf b = BUF_INIT;
	struct error err = ERROR_INIT;
	uint64_t arcs[6], blocks[5];
	struct gcno *g;

	gcno_sample(&b, 12, false);
	g = gcno_read(b.p, b.n, NULL);
	g->functions[0].arcs[2].flags = GCNO_ON_TREE;
	assert_int_equal(gcno_solve(&g->functions[0], (uint64_t[]){4, 1}, arcs, blocks, &err), -1);
	assert_string_equal(err.msg, "'loop': 2 arcs have no counter and no count that follows "
				     "from others: the .gcno is "
				     "damaged");
	error_release(&err);
	gcno_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_functions),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_claimed_zeros),
		cmocka_unit_test(test_mismatches),
		cmocka_unit_test(test_mismatched_shape),
		cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_notes),
		cmocka_unit_test(test_notes_checked),
		cmocka_unit_test(test_no_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
