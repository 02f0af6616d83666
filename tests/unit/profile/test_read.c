/* Reading and merging raw and indexed profiles. */
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

static void add(struct profile *p, const struct fixture *f, uint64_t weight)
{
	auto_buf struct buf b = BUF_INIT;
	struct error err = ERROR_INIT;

	fixture_raw(f, &b);
	if (profile_add_bytes(p, b.p, b.n, weight, NULL, &err) < 0)
		fail_msg("%s", err.msg);
}

static void refuse(
	struct profile *p, const struct fixture *f, enum error_code code, const char *msg)
{
	auto_buf struct buf b = BUF_INIT;
	struct error err = ERROR_INIT;

	fixture_raw(f, &b);
	assert_int_equal(profile_add_bytes(p, b.p, b.n, 1, NULL, &err), -1);
	assert_int_equal(err.code, code);
	assert_string_equal(err.msg, msg);
	error_release(&err);
}

static void expect(const struct profile *p, const char *text)
{
	auto_free char *got = fixture_dump(p);

	assert_string_equal(got, text);
}

#define PLAIN "a/b.c;helper 22: 10 20\nmain 11: 1 2 3 4\nother 33: 0\n"

static void test_versions(void **state)
{
	static const uint32_t versions[] = {5, 7, 8, 9, 10};

	for (size_t i = 0; i < ARRAY_SIZE(versions) * 4; i++) {
		struct profile *p = profile_new();
		struct fixture f = {.version = versions[i / 4], .big = i & 1, .narrow = i & 2};

		add(p, &f, 1);
		expect(p, PLAIN);
		profile_free(p);
	}
}

/* The value profile of main as the indexed file holds it: three times the same, by descending
 * count, the known target as the hash of its key. */
static void test_values(void **state)
{
	struct profile *p = profile_new();
	const struct record *r;
	struct value_datum v[SITE_MAX];

	add(p, &(struct fixture){.load = 0x5000}, 1);
	add(p, &(struct fixture){.load = 0x9000}, 2);
	add(p, &(struct fixture){.version = 8}, 1);
	r = profile_find(p, "main", 4, md5_name("main", 4))->first;
	assert_int_equal(r->n_sites[0], 1);
	assert_int_equal(r->n_sites[1], 1);
	assert_int_equal(site_order(r, &r->sites[0], v), 2);
	assert_true(v[0].value == md5_name("a/b.c;helper", 12) && v[0].count == 20);
	assert_true(v[1].value == 0 && v[1].count == 8);
	assert_int_equal(site_order(r, &r->sites[1], v), 2);
	assert_true(v[0].value == 8 && v[0].count == 12);
	assert_true(v[1].value == 16 && v[1].count == 4);
	expect(p, "a/b.c;helper 22: 40 80\nmain 11: 4 8 12 16\nother 33: 0\n");
	profile_free(p);
}

/* A value that only the later file has counts by that file's weight, too. */
static void test_weight_of_new_values(void **state)
{
	struct value_datum a[] = {{8, 4}}, b[] = {{8, 4}, {16, 9}}, out[SITE_MAX];
	struct arena arena = {0};
	struct value_site s = {0};
	struct record r = {.adds = 2};

	site_add(&arena, &s, a, 1, 1, true);
	site_add(&arena, &s, b, 2, 3, false);
	assert_int_equal(site_order(&r, &s, out), 2);
	assert_true(out[0].value == 16 && out[0].count == 27);
	assert_true(out[1].value == 8 && out[1].count == 16);
	arena_release(&arena);
}

static void test_site_limit(void **state)
{
	struct value_datum in[200], out[SITE_MAX];
	struct arena arena = {0};
	struct value_site s = {0};
	struct record r = {.adds = 2};

	for (uint64_t i = 0; i < 200; i++)
		in[i] = (struct value_datum){i, 1000 + i};
	site_add(&arena, &s, in, 200, 1, true);
	for (uint64_t i = 0; i < 200; i++)
		in[i] = (struct value_datum){1000 + i, i};
	site_add(&arena, &s, in, 200, 1, false);
	assert_int_equal(site_order(&r, &s, out), 255);
	assert_true(out[0].value == 199 && out[0].count == 1199);
	/* The 55 largest of the second file stay: 199 down to 145. */
	assert_true(out[254].value == 1145 && out[254].count == 145);
	arena_release(&arena);
}

static void test_weight_and_saturation(void **state)
{
	struct profile *p = profile_new();

	add(p, &(struct fixture){.times = 1ULL << 50}, UINT64_MAX);
	expect(p, "a/b.c;helper 22: 18446744073709551613 18446744073709551613\n"
		  "main 11: 18446744073709551613 18446744073709551613 18446744073709551613 "
		  "18446744073709551613\nother 33: 0\n");
	add(p, &(struct fixture){0}, 7);
	expect(p, "a/b.c;helper 22: 18446744073709551613 18446744073709551613\n"
		  "main 11: 18446744073709551613 18446744073709551613 18446744073709551613 "
		  "18446744073709551613\nother 33: 0\n");
	profile_free(p);
}

static void test_several_images(void **state)
{
	auto_buf struct buf b = BUF_INIT;
	struct profile *p = profile_new();
	struct profile_images images = {0};
	struct error err = ERROR_INIT;

	fixture_raw(&(struct fixture){.version = 10}, &b);
	fixture_raw(&(struct fixture){.version = 8, .no_id = true, .second = "more"}, &b);
	buf_add(&b, "\0\0\0\0\0\0\0\0", 8);
	fixture_raw(&(struct fixture){.version = 10}, &b);
	assert_int_equal(profile_add_bytes(p, b.p, b.n, 1, &images, &err), 0);
	expect(p, "a/b.c;helper 22: 30 60\nmain 11: 3 6 9 12\nmore 33: 0\nother 33: 0\n");
	assert_int_equal(images.n, 3);
	assert_int_equal(images.v[0].version, 10);
	assert_int_equal(images.v[1].version, 8);
	assert_int_equal(images.v[1].records, 3);
	assert_int_equal(images.v[1].executed, 2);
	assert_int_equal(images.v[1].counters, 7);
	assert_string_equal(images.v[0].build_id, "deadbeef");
	assert_null(images.v[1].build_id);
	assert_string_equal(images.v[0].names_sha256, images.v[2].names_sha256);
	assert_string_not_equal(images.v[0].names_sha256, images.v[1].names_sha256);
	profile_images_release(&images);
	profile_free(p);
}

static void test_byte_counters_and_temporal(void **state)
{
	struct profile *p = profile_new(), *q = profile_new();
	struct profile_summary s;

	add(p, &(struct fixture){.flags = FIXTURE_IR | 1ULL << 60, .no_values = true}, 1);
	expect(p, "a/b.c;helper 22: 1 1\nmain 11: 1 1 1 1\nother 33: 0\n");
	/* The first counter of a temporal profile is a timestamp. */
	add(q, &(struct fixture){.flags = FIXTURE_IR | 1ULL << 63}, 1);
	expect(q, "a/b.c;helper 22: 20\nmain 11: 2 3 4\nother 33:\n");
	assert_true(q->flags == (FIXTURE_IR | FLAG_TEMPORAL));
	/* main at 1, helper at 10; "other" was never called. */
	assert_int_equal(q->n_traces, 1);
	assert_int_equal(q->trace_stream, 1);
	assert_int_equal(q->traces[0].n, 2);
	assert_true(q->traces[0].refs[0] == md5_name("main", 4));
	assert_true(q->traces[0].refs[1] == md5_name("a/b.c;helper", 12));
	profile_summary(q, &s);
	assert_int_equal(s.functions, 3);
	assert_int_equal(s.executed, 2);
	assert_int_equal(s.counters, 4);
	assert_int_equal(s.total_count, 29);
	assert_int_equal(s.max_count, 20);
	assert_true(s.ir);
	profile_free(p);
	profile_free(q);
}

/* Continuous mode leaves value data out, of this image or of the next one. */
static void test_continuous(void **state)
{
	static const uint32_t versions[] = {5, 7, 8, 9, 10};

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		auto_buf struct buf b = BUF_INIT;
		struct profile *p = profile_new();
		struct profile_images images = {0};
		struct fixture f = {.version = versions[i], .continuous = true};
		const struct record *r;

		fixture_raw(&f, &b);
		fixture_raw(&(struct fixture){.no_id = true}, &b);
		fixture_raw(&f, &b);
		buf_add(&b, "\0\0\0\0\0\0\0\0\0", 9);
		assert_int_equal(profile_add_bytes(p, b.p, b.n, 1, &images, NULL), 0);
		expect(p, "a/b.c;helper 22: 30 60\nmain 11: 3 6 9 12\nother 33: 0\n");
		assert_int_equal(images.n, 3);
		assert_true(images.v[0].values_missing);
		assert_false(images.v[1].values_missing);
		assert_true(images.v[2].values_missing);
		r = profile_find(p, "main", 4, md5_name("main", 4))->first;
		assert_int_equal(r->n_sites[0], 1);
		assert_int_equal(r->sites[0].n, 2);
		profile_images_release(&images);
		profile_free(p);
	}
}

static void encode(const struct profile *p, uint32_t version, struct buf *out)
{
	struct error err = ERROR_INIT;

	if (profile_encode_indexed(p, version, out, &err) < 0)
		fail_msg("%s", err.msg);
}

static void test_round_trip(void **state)
{
	for (uint32_t version = 6; version <= 13; version++) {
		struct profile *p = profile_new(), *q = profile_new();
		auto_buf struct buf a = BUF_INIT, b = BUF_INIT;
		struct error err = ERROR_INIT;

		add(p, &(struct fixture){0}, 1);
		add(p, &(struct fixture){.load = 4096, .second = "x"}, 3);
		encode(p, version, &a);
		assert_int_equal(profile_add_bytes(q, a.p, a.n, 1, NULL, &err), 0);
		encode(q, version, &b);
		assert_int_equal(a.n, b.n);
		assert_memory_equal(a.p, b.p, a.n);
		profile_free(p);
		profile_free(q);
	}
}

/* Front-end hashes have 60 bits since index version 13: bit 60 is cut, and is no sign of a
 * context-sensitive record, so the summary counts the function. Version 12 keeps the hash. */
static void test_front_end_hash(void **state)
{
	struct profile *p = profile_new();
	auto_buf struct buf raw = BUF_INIT, v13 = BUF_INIT, v12 = BUF_INIT;
	uint64_t functions;

	fixture_raw(&(struct fixture){.front_end = true, .no_id = true}, &raw);
	raw.p[128 + 15] = 0x10;
	assert_int_equal(profile_add_bytes(p, raw.p, raw.n, 1, NULL, NULL), 0);
	encode(p, 13, &v13);
	encode(p, 12, &v12);
	memcpy(&functions, v13.p + 88, 8);
	assert_int_equal(functions, 3);
	profile_free(p);
	p = profile_new();
	assert_int_equal(profile_add_bytes(p, v13.p, v13.n, 1, NULL, NULL), 0);
	expect(p, PLAIN);
	profile_free(p);
	p = profile_new();
	assert_int_equal(profile_add_bytes(p, v12.p, v12.n, 1, NULL, NULL), 0);
	expect(p, "a/b.c;helper 22: 10 20\nmain 1000000000000011: 1 2 3 4\nother 33: 0\n");
	profile_free(p);
}

static void test_text(void **state)
{
	static const char in[] = "# a comment\n:IR\n\nmain\n0x11\n2\n1\n2\n2\n0\n2\n2\n"
				 "a/b.c;helper:5\n** External Symbol **:7\n0\n1\n1\n1\n8:3\n\n"
				 "f:1\n34\n1\n9\n$1\n0x80\n";
	struct profile *p = profile_new();
	struct value_datum v[SITE_MAX];
	const struct record *r;

	assert_int_equal(profile_add_bytes(p, in, sizeof(in) - 1, 2, NULL, NULL), 0);
	expect(p, "f:1 22: 18\nmain 11: 2 4\n");
	assert_true(p->flags == FIXTURE_IR);
	r = profile_find(p, "main", 4, md5_name("main", 4))->first;
	assert_int_equal(r->n_sites[0], 2);
	assert_int_equal(r->n_sites[1], 1);
	assert_int_equal(site_order(r, &r->sites[0], v), 2);
	assert_true(v[0].value == 0 && v[0].count == 14);
	assert_true(v[1].value == md5_name("a/b.c;helper", 12) && v[1].count == 10);
	assert_int_equal(site_order(r, &r->sites[1], v), 0);
	assert_int_equal(site_order(r, &r->sites[2], v), 1);
	assert_true(v[0].value == 8 && v[0].count == 6);
	r = profile_find(p, "f:1", 3, md5_name("f:1", 3))->first;
	assert_int_equal(r->n_bitmap, 1);
	assert_int_equal(r->bitmap[0], 0x80);
	profile_free(p);
}

static void test_write_refuses_versions(void **state)
{
	struct profile *p = profile_new();
	auto_buf struct buf b = BUF_INIT;
	struct error err = ERROR_INIT;

	assert_int_equal(profile_encode_indexed(p, 14, &b, &err), -1);
	assert_string_equal(err.msg, "index version 14 cannot be written; versions 6 to 13 can");
	error_release(&err);
	profile_free(p);
}

static void test_mismatch_leaves_profile_alone(void **state)
{
	struct profile *p = profile_new();
	auto_buf struct buf before = BUF_INIT, after = BUF_INIT;

	add(p, &(struct fixture){0}, 1);
	encode(p, 13, &before);
	refuse(p, &(struct fixture){.main_counters = 5, .second = "new"}, ERR_MISMATCH,
		"function 'main' (hash 0x0000000000000011) has 5 counters here, but 4 in the "
		"profiles merged so far; merge profiles of one build only");
	refuse(p, &(struct fixture){.no_values = true}, ERR_MISMATCH,
		"function 'main' (hash 0x0000000000000011) has 0 indirect call sites here, but 1 "
		"in "
		"the profiles merged so far; merge profiles of one build only");
	refuse(p, &(struct fixture){.front_end = true, .no_values = true, .second = "fe"},
		ERR_MISMATCH,
		"holds front-end (source coverage) counters; they cannot be merged with those read "
		"so far (IR counters): use profiles of one kind of instrumentation");
	encode(p, 13, &after);
	assert_int_equal(before.n, after.n);
	assert_memory_equal(before.p, after.p, before.n);
	add(p, &(struct fixture){.second = "new"}, 1);
	expect(p, "a/b.c;helper 22: 20 40\nmain 11: 2 4 6 8\nnew 33: 0\nother 33: 0\n");
	profile_free(p);
}

static uint64_t first_target(const struct profile *p)
{
	const struct record *r = profile_find(p, "main", 4, md5_name("main", 4))->first;
	struct value_datum v[SITE_MAX];

	site_order(r, &r->sites[0], v);
	return v[0].value;
}

static void test_rekey(void **state)
{
	struct profile *p = profile_new();
	struct error err = ERROR_INIT;

	add(p, &(struct fixture){.second = "k.1-cgu.0;f"}, 1);
	assert_int_equal(profile_rekey(p, "", "/src", &err), 0);
	expect(p, "/src/a/b.c;helper 22: 10 20\nk.1-cgu.0;f 33: 0\nmain 11: 1 2 3 4\n");
	assert_true(first_target(p) == md5_name("/src/a/b.c;helper", 17));
	assert_int_equal(profile_rekey(p, "/sr", "/x", &err), 0);
	expect(p, "/src/a/b.c;helper 22: 10 20\nk.1-cgu.0;f 33: 0\nmain 11: 1 2 3 4\n");
	assert_int_equal(profile_rekey(p, "/src/a/", "", &err), 0);
	expect(p, "b.c;helper 22: 10 20\nk.1-cgu.0;f 33: 0\nmain 11: 1 2 3 4\n");
	assert_true(first_target(p) == md5_name("b.c;helper", 10));
	assert_int_equal(profile_rekey_for_llvm(p, 18, &err), 0);
	expect(p, "b.c;helper 22: 10 20\nk.1-cgu.0;f 33: 0\nmain 11: 1 2 3 4\n");
	assert_int_equal(profile_rekey_for_llvm(p, 17, &err), 0);
	expect(p, "b.c:helper 22: 10 20\nk.1-cgu.0:f 33: 0\nmain 11: 1 2 3 4\n");
	assert_true(first_target(p) == md5_name("b.c:helper", 10));
	profile_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_versions),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_weight_of_new_values),
		cmocka_unit_test(test_site_limit),
		cmocka_unit_test(test_weight_and_saturation),
		cmocka_unit_test(test_several_images),
		cmocka_unit_test(test_byte_counters_and_temporal),
		cmocka_unit_test(test_continuous),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_front_end_hash),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_write_refuses_versions),
		cmocka_unit_test(test_mismatch_leaves_profile_alone),
		cmocka_unit_test(test_rekey),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
