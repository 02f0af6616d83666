/* Writing profiles: versions, text, traces, and for whom. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/hash.h"
#include "base/mem.h"
#include "fixture.h"
#include "profile/model.h"

static struct profile *from(const void *data, size_t n)
{
	struct profile *p = profile_new();
	struct error err = ERROR_INIT;

	if (profile_add_bytes(p, data, n, 1, NULL, &err) < 0)
		fail_msg("%s", err.msg);
	return p;
}

static struct profile *from_text(const char *text)
{
	return from(text, strlen(text));
}

static struct profile *from_fixture(const struct fixture *f)
{
	auto_buf struct buf b = BUF_INIT;

	fixture_raw(f, &b);
	return from(b.p, b.n);
}

static void expect_text(const struct profile *p, int llvm, const char *want)
{
	auto_buf struct buf b = BUF_INIT;
	struct error err = ERROR_INIT;

	if (profile_encode_text(p, llvm, &b, &err) < 0)
		fail_msg("%s", err.msg);
	assert_string_equal(buf_str(&b), want);
}

static void test_text(void **state)
{
	struct profile *p = from_fixture(&(struct fixture){0});

	expect_text(p, 22,
		"# IR level Instrumentation Flag\n:ir\n"
		"a/b.c;helper\n# Func Hash:\n34\n# Num Counters:\n2\n# Counter Values:\n10\n20\n\n"
		"main\n# Func Hash:\n17\n# Num Counters:\n4\n# Counter Values:\n1\n2\n3\n4\n"
		"# Num Value Kinds:\n2\n# ValueKind = IPVK_IndirectCallTarget:\n0\n"
		"# NumValueSites:\n1\n2\na/b.c;helper:5\n** External Symbol **:2\n"
		"# ValueKind = IPVK_MemOPSize:\n1\n# NumValueSites:\n1\n2\n8:3\n16:1\n\n"
		"other\n# Func Hash:\n51\n# Num Counters:\n1\n# Counter Values:\n0\n\n");
	profile_free(p);
}

/* Lines that an older llvm-profdata refuses are left out for it. */
static void test_text_for_older(void **state)
{
	static const char in[] = ":ir\n:single_byte_coverage\n:instrument_loop_entries\n"
				 ":temporal_prof_traces\n1\n7\n3\ng,f,\n"
				 "f\n1\n1\n5\n$2\n0xff\n3\n1\n2\n1\n1\ng:4\n"
				 "g\n2\n1\n6\n";
	static const char new[] =
		"# IR level Instrumentation Flag\n:ir\n"
		"# Instrument block coverage\n:single_byte_coverage\n"
		"# Always instrument the loop entry blocks\n:instrument_loop_entries\n"
		":temporal_prof_traces\n# Num Temporal Profile Traces:\n1\n"
		"# Temporal Profile Trace Stream Size:\n7\n# Weight:\n3\ng,f,\n\n"
		"f\n# Func Hash:\n1\n# Num Counters:\n1\n# Counter Values:\n5\n"
		"# Num Bitmap Bytes:\n$2\n# Bitmap Byte Values:\n0xff\n0x3\n\n"
		"# Num Value Kinds:\n1\n# ValueKind = IPVK_VTableTarget:\n2\n"
		"# NumValueSites:\n1\n1\ng:4\n\n"
		"g\n# Func Hash:\n2\n# Num Counters:\n1\n# Counter Values:\n6\n\n";
	static const char old[] =
		"# IR level Instrumentation Flag\n:ir\n"
		"f\n# Func Hash:\n1\n# Num Counters:\n1\n# Counter Values:\n5\n\n"
		"g\n# Func Hash:\n2\n# Num Counters:\n1\n# Counter Values:\n6\n\n";
	struct profile *p = from_text(in);

	expect_text(p, 22, new);
	expect_text(p, 14, old);
	profile_free(p);
}

static void refused(const char *text, const char *msg)
{
	struct profile *p = from_text(text);
	auto_buf struct buf b = BUF_INIT;
	struct error err = ERROR_INIT;

	assert_int_equal(profile_encode_text(p, 22, &b, &err), -1);
	assert_int_equal(err.code, ERR_UNSUPPORTED);
	assert_string_equal(err.msg, msg);
	error_release(&err);
	profile_free(p);
}

static void test_text_names(void **state)
{
	struct profile *p = from_text("$s4main\n1\n1\n5\n$s3abc\n1\n1\n6\n");

	expect_text(p, 22,
		"$s3abc\n# Func Hash:\n1\n# Num Counters:\n1\n# Counter Values:\n6\n\n"
		"$s4main\n# Func Hash:\n1\n# Num Counters:\n1\n# Counter Values:\n5\n\n");
	profile_free(p);
	refused("12\n1\n1\n5\n",
		"the text form cannot hold the name '12'; write an indexed profile");
	refused("$3\n1\n1\n5\n",
		"the text form cannot hold the name '$3'; write an indexed profile");
	refused("f\n1\n1\n5\n:g\n1\n1\n5\n",
		"the text form cannot hold the name ':g'; write an indexed profile");
	refused(":temporal_prof_traces\n1\n1\n1\na,\na,b\n1\n1\n5\n",
		"the text form cannot hold the name 'a,b'; write an indexed profile");
}

/* Versions 4 to 7 have one layout; older files are made by their version number. */
static void test_old_versions(void **state)
{
	struct profile *p = from_fixture(&(struct fixture){0});
	auto_buf struct buf b = BUF_INIT;
	struct error err = ERROR_INIT;

	assert_int_equal(profile_encode_indexed(p, 7, &b, &err), 0);
	for (char version = 4; version < 7; version++) {
		struct profile *q;
		auto_free char *dump = NULL;

		b.p[8] = version;
		q = from(b.p, b.n);
		dump = fixture_dump(q);
		assert_string_equal(
			dump, "a/b.c;helper 22: 10 20\nmain 11: 1 2 3 4\nother 33: 0\n");
		profile_free(q);
	}
	b.p[8] = 3;
	assert_int_equal(profile_add_bytes(p, b.p, b.n, 1, NULL, &err), -1);
	assert_string_equal(err.msg, "indexed version 3 is not known; versions 4 to 13 are");
	error_release(&err);
	profile_free(p);
}

static void add_traces(struct profile *p, uint64_t from_ref, uint64_t to_ref)
{
	for (uint64_t i = from_ref; i < to_ref; i++)
		profile_add_trace(p, 1, (uint64_t[]){i, i + 1}, 2);
	profile_count_traces(p, to_ref - from_ref);
}

/* 100 are kept, and which does not depend on the order, or on how they were merged. */
static void test_trace_sample(void **state)
{
	struct profile *p = profile_new(), *q = profile_new();

	add_traces(p, 0, 300);
	add_traces(q, 250, 300);
	add_traces(q, 0, 120);
	add_traces(q, 120, 250);
	assert_int_equal(p->n_traces, 100);
	assert_int_equal(q->n_traces, 100);
	assert_int_equal(p->trace_stream, 300);
	assert_int_equal(q->trace_stream, 300);
	for (size_t i = 0; i < 100; i++) {
		assert_true(p->traces[i].refs[0] == q->traces[i].refs[0]);
		assert_true(i == 0 || p->traces[i - 1].digest < p->traces[i].digest);
	}
	profile_free(p);
	profile_free(q);
}

static void test_trace_length(void **state)
{
	struct profile *p = profile_new();
	uint64_t *refs = xcalloc(10001, sizeof(*refs));

	profile_add_trace(p, 1, refs, 10001);
	profile_add_trace(p, 1, refs, 0);
	assert_int_equal(p->n_traces, 1);
	assert_int_equal(p->traces[0].n, 10000);
	free(refs);
	profile_free(p);
}

static uint64_t word(const struct buf *b, size_t at)
{
	uint64_t v;

	memcpy(&v, b->p + at, 8);
	return v;
}

/* Version 10 is the first with traces; the section stands at the end of the file. */
static void test_traces_in_index(void **state)
{
	struct profile *p = from_text(":ir\n:temporal_prof_traces\n1\n7\n3\ng,f,\nf\n1\n1\n5\n"),
		       *q;
	auto_buf struct buf v10 = BUF_INIT, v9 = BUF_INIT;

	assert_int_equal(profile_encode_indexed(p, 10, &v10, NULL), 0);
	assert_true(word(&v10, 8) == (10 | FLAG_IR | FLAG_TEMPORAL));
	assert_int_equal(word(&v10, 56), v10.n - 48);
	assert_int_equal(word(&v10, v10.n - 48), 1);
	assert_int_equal(word(&v10, v10.n - 40), 7);
	assert_int_equal(word(&v10, v10.n - 32), 3);
	assert_int_equal(word(&v10, v10.n - 24), 2);
	assert_true(word(&v10, v10.n - 16) == md5_name("g", 1));
	assert_true(word(&v10, v10.n - 8) == md5_name("f", 1));
	q = from(v10.p, v10.n);
	assert_int_equal(q->n_traces, 1);
	assert_int_equal(q->trace_stream, 7);
	profile_free(q);
	assert_int_equal(profile_encode_indexed(p, 9, &v9, NULL), 0);
	assert_true(word(&v9, 8) == (9 | FLAG_IR));
	profile_free(p);
}

static void test_traces_damaged(void **state)
{
	struct profile *p = from_text(":ir\n:temporal_prof_traces\n1\n7\n3\ng,f,\nf\n1\n1\n5\n"),
		       *q = profile_new();
	auto_buf struct buf b = BUF_INIT;
	struct error err = ERROR_INIT;

	assert_int_equal(profile_encode_indexed(p, 13, &b, NULL), 0);
	b.p[b.n - 24] = 3;
	assert_int_equal(profile_add_bytes(q, b.p, b.n, 1, NULL, &err), -1);
	assert_string_equal(
		err.msg, "temporal trace at byte 648 has 3 functions, but the file ends at 680");
	assert_int_equal(q->n_traces, 0);
	error_release(&err);
	assert_int_equal(profile_add_bytes(q, b.p, b.n - 40, 1, NULL, &err), -1);
	assert_string_equal(
		err.msg, "temporal traces at byte 632 are cut off: the file ends at 640");
	error_release(&err);
	profile_free(p);
	profile_free(q);
}

static void test_consumers(void **state)
{
	static const struct {
		const char *name;
		int llvm;
		uint32_t version;
	} cases[] = {
		{"clang-11", 11, 6},
		{"clang-14", 14, 7},
		{"llvm-15", 15, 8},
		{"clang-16", 16, 9},
		{"clang-17", 17, 10},
		{"llvm-18", 18, 11},
		{"clang-19.1.7", 19, 12},
		{"clang-21", 21, 12},
		{"clang++-22", 22, 13},
		{"clang-30", 30, 13},
		{"rustc-1.47", 11, 6},
		{"rustc-1.64.0", 14, 7},
		{"rustc-1.65", 15, 8},
		{"rustc-1.77", 17, 10},
		{"rustc-1.78", 18, 11},
		{"rustc-1.94", 21, 12},
		{"rustc-1.95", 22, 13},
		{"rustc-1.95.0", 22, 13},
	};
	static const char *const wrong[] = {"clang", "clang-", "clang-10", "clang-x", "clang-14x",
		"rustc-1", "rustc-2.0", "rustc-1.46", "rustc-1.95x", "rustc-1.99999999999", "",
		"gcc-12", "x-clang-14", "14"};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(profile_llvm_of(cases[i].name), cases[i].llvm);
		assert_int_equal(profile_version_for_llvm(cases[i].llvm), cases[i].version);
	}
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(profile_llvm_of(wrong[i]), -1);
}

/* Only an index of version 13 loses bits of front-end hashes. */
static void test_short_hashes(void **state)
{
	struct profile *p = from_text("f\n1\n1\n5\n"), *q;
	auto_buf struct buf v12 = BUF_INIT, v13 = BUF_INIT;
	struct profile_summary s;

	profile_encode_indexed(p, 12, &v12, NULL);
	profile_encode_indexed(p, 13, &v13, NULL);
	q = from(v12.p, v12.n);
	profile_summary(q, &s);
	assert_false(s.short_hashes);
	assert_int_equal(profile_add_bytes(q, v13.p, v13.n, 1, NULL, NULL), 0);
	profile_summary(q, &s);
	assert_true(s.short_hashes);
	profile_free(p);
	profile_free(q);
}

/* The order of first calls follows the keys to their new names. */
static void test_rekeyed_traces(void **state)
{
	struct profile *p = from_text(":ir\n:instrument_loop_entries\n:temporal_prof_"
				      "traces\n1\n1\n1\nx.c;f,g,\nx.c;f\n1\n1\n5\n");

	assert_int_equal(profile_rekey_for_llvm(p, 17, NULL), 0);
	assert_int_equal(p->n_traces, 1);
	assert_true(p->traces[0].refs[0] == md5_name("x.c:f", 5));
	assert_true(p->traces[0].refs[1] == md5_name("g", 1));
	assert_true(p->flags == (FLAG_IR | FLAG_TEMPORAL));
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_text_for_older),
		cmocka_unit_test(test_text_names),
		cmocka_unit_test(test_old_versions),
		cmocka_unit_test(test_trace_sample),
		cmocka_unit_test(test_trace_length),
		cmocka_unit_test(test_traces_in_index),
		cmocka_unit_test(test_traces_damaged),
		cmocka_unit_test(test_consumers),
		cmocka_unit_test(test_short_hashes),
		cmocka_unit_test(test_rekeyed_traces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
