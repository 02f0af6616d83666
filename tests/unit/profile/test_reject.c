/* Damaged files: each is made from a valid one, and the message is the one a user reads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "fixture.h"
#include "profile/model.h"

/* Offsets in the version 10 fixture. */
enum {
	AT_VERSION = 8,
	AT_IDS = 16,
	AT_DATA_N = 24,
	AT_COUNTERS_N = 40,
	AT_NAMES_N = 72,
	AT_LAST_KIND = 120,
	HEADER = 128,
	DATA = 144, /* after 16 bytes of build id */
	COUNTERS = DATA + 192,
	NAMES = COUNTERS + 56,
	NAMES_N = 2 + 23,
	VALUES = NAMES + 32,
	SIZE = VALUES + 104,
};

static void make(struct buf *b)
{
	fixture_raw(&(struct fixture){0}, b);
	assert_int_equal(b->n, SIZE);
}

static void rejected(const void *data, size_t n, const char *msg)
{
	struct profile *p = profile_new();
	struct error err = ERROR_INIT;
	/* A copy of exact size, so that a sanitizer sees the first byte behind it. */
	char *copy = xmalloc(n ? n : 1);

	memcpy(copy, data, n);
	assert_int_equal(profile_add_bytes(p, copy, n, 1, NULL, &err), -1);
	assert_string_equal(err.msg, msg);
	assert_int_equal(p->n_records, 0);
	assert_int_equal(p->n_keys, 0);
	assert_int_equal(p->n_ids, 0);
	error_release(&err);
	free(copy);
	profile_free(p);
}

static void test_truncated(void **state)
{
	static const struct {
		size_t n;
		const char *msg;
	} cases[] = {
		{0, "is empty: the process that should have written it was killed, or never "
		    "reached "
		    "its exit"},
		{7, "is no LLVM profile: its first bytes are those of no raw, indexed or text one"},
		{15, "header at byte 0 is cut off: the file ends at 15"},
		{HEADER - 1, "header at byte 0 is cut off: the file ends at 127"},
		{DATA - 1,
			"binary id section starts at byte 128 and has 16 bytes, but the file ends "
			"at 143"},
		{COUNTERS - 1,
			"data section starts at byte 144 and has 192 bytes, but the file ends "
			"at 335"},
		{NAMES - 1,
			"counter section starts at byte 336 and has 56 bytes, but the file ends "
			"at 391"},
		{NAMES + NAMES_N - 1, "names section starts at byte 392 and has 25 bytes, but the "
				      "file ends at 416"},
		{VALUES - 1, "padding after the names section starts at byte 417 and has 7 bytes, "
			     "but the file ends at 423"},
		{VALUES + 4, "'main': value data expected at byte 424, but the file ends at 428"},
		{SIZE - 1,
			"'main': value block at byte 424 has size 104; 103 bytes are left in the "
			"file"},
	};
	auto_buf struct buf b = BUF_INIT;

	make(&b);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		rejected(b.p, cases[i].n, cases[i].msg);
}

/* No shorter file is valid, whatever the version, but one that ends where its values begin: so do
 * those of continuous mode. */
static void test_every_truncation(void **state)
{
	static const uint32_t versions[] = {5, 7, 8, 9, 10};

	for (size_t v = 0; v < ARRAY_SIZE(versions); v++) {
		auto_buf struct buf b = BUF_INIT;

		fixture_raw(&(struct fixture){.version = versions[v]}, &b);
		for (size_t n = 0; n < b.n; n++) {
			struct profile *p = profile_new();
			char *copy = xmalloc(n + 1);
			bool no_values = n == b.n - 104;

			memcpy(copy, b.p, n);
			assert_int_equal(
				profile_add_bytes(p, copy, n, 1, NULL, NULL), no_values ? 0 : -1);
			assert_int_equal(p->n_records, no_values ? 3 : 0);
			free(copy);
			profile_free(p);
		}
	}
}

static void patched(size_t at, uint64_t value, size_t width, const char *msg)
{
	auto_buf struct buf b = BUF_INIT;

	make(&b);
	memcpy(b.p + at, &value, width);
	rejected(b.p, b.n, msg);
}

static void test_header_fields(void **state)
{
	patched(0, 0x68, 1,
		"is no LLVM profile: its first bytes are those of no raw, indexed or text one");
	patched(AT_VERSION, 6, 1,
		"raw version 6 is not known; versions 5 and 7 to 10 (LLVM 11 to 22) are");
	patched(AT_VERSION, 11, 1,
		"raw version 11 is not known; versions 5 and 7 to 10 (LLVM 11 to 22) are");
	patched(AT_VERSION + 7, 0x41, 1,
		"header has the memory profile flag, which no raw profile has");
	patched(AT_VERSION + 7, 0x09, 1,
		"holds counters only (built with profile correlation); build without "
		"-profile-correlate");
	patched(AT_IDS, 12, 8, "binary id section has 12 bytes, which is no multiple of 8");
	patched(AT_LAST_KIND, 1, 8,
		"header says that value kind 1 is the last, but in version 10 it is 2");
	patched(AT_DATA_N, UINT64_MAX / 8, 8,
		"data section at byte 144 claims 2305843009213693951 elements of 64 bytes; the "
		"file "
		"has 528 bytes");
	patched(AT_COUNTERS_N, 1000000, 8,
		"counter section starts at byte 336 and has 8000000 bytes, but the file ends at "
		"528");
	patched(AT_NAMES_N, 1ULL << 60, 8,
		"names section starts at byte 392 and has 1152921504606846976 bytes, but the file "
		"ends at 528");
}

static void test_records(void **state)
{
	patched(HEADER, 9, 1, "build id at byte 0 of 16 has length 9");
	patched(DATA, 0, 8,
		"data record 0 refers to name 0x0000000000000000, which the names section does not "
		"hold");
	patched(DATA + 48, 0, 4, "data record 0 ('main') has no counters");
	patched(DATA + 48, 8, 4,
		"data record 0 has counters from byte 0 to 64 of the counter section, which has 56 "
		"bytes");
	patched(DATA + 16, 0x3ff8, 8,
		"data record 0 has counters from byte -8 to 24 of the counter section, which has "
		"56 "
		"bytes");
	patched(DATA + 52, 60000, 2,
		"'main' has 60000, 1 and 0 value sites in its data record, but 1, 1 and 0 in its "
		"value data");
	patched(DATA + 60, 1, 4,
		"data record 0 has bitmap bytes from 16384 to 16385 of the bitmap section, which "
		"has 0 bytes");
	patched(COUNTERS + 8, (1ULL << 56) + 1, 8,
		"counter 1 of 'main' is 72057594037927937, which no program counts to: the file is "
		"damaged");
}

/* Sites cost memory before their data are seen: more than the file can hold are not believed. */
static void test_many_sites(void **state)
{
	auto_buf struct buf b = BUF_INIT;

	make(&b);
	memset(b.p + DATA + 52, 0xff, 6);
	memset(b.p + DATA + 64 + 52, 0xff, 6);
	rejected(b.p, b.n,
		"data records up to 1 have 393210 value sites; only 104 bytes of value data "
		"follow");
}

static void test_names(void **state)
{
	patched(NAMES, 100, 1, "name chunk 0 at byte 0 of the names is longer than they are (25)");
	patched(NAMES + 1, 23, 1, "name chunk 0 does not inflate to 23 bytes");
	patched(NAMES + 4, 0, 1, "name chunk 0 holds a NUL byte");
	patched(NAMES + 2, 1, 1, "name chunk 0 holds an empty name");
}

static void test_values(void **state)
{
	patched(VALUES, 4, 4,
		"'main': value block at byte 424 has size 4; 104 bytes are left in "
		"the file");
	patched(VALUES + 8, 3, 4,
		"'main': value block has kind 3 at byte 432, expected 0 to 2 in ascending order");
	patched(VALUES + 8 + 48, 0, 4,
		"'main': value block has kind 0 at byte 480, expected 1 to 2 in ascending order");
	patched(VALUES + 16, 200, 1,
		"'main': value block has 1 sites at byte 432, more than fit into it");
	patched(VALUES + 4, 1, 4,
		"'main' has 1, 1 and 0 value sites in its data record, but 1, 0 and 0 in its value "
		"data");
}

static void test_second_image(void **state)
{
	auto_buf struct buf b = BUF_INIT;

	make(&b);
	buf_add(&b, "\0\0\0x", 4);
	rejected(b.p, b.n, "no raw profile header at byte 531: it must start at a multiple of 8");
	b.n = SIZE;
	buf_add(&b, "\0\0\0\0\0\0\0\0rubbish, 16 bytes or more", 32);
	rejected(b.p, b.n, "no raw profile header at byte 536: bad magic");
	b.n = SIZE;
	fixture_raw(&(struct fixture){0}, &b);
	b.n -= 1;
	rejected(b.p, b.n,
		"image 2: 'main': value block at byte 952 has size 104; 103 bytes are left in the "
		"file");
}

/* Whatever one byte is changed to, the file is refused, or what was read can be written and read
 * again. */
static void mutate(const struct buf *good, uint8_t change)
{
	auto_buf struct buf b = BUF_INIT;

	buf_add(&b, good->p, good->n);
	for (size_t i = 0; i < b.n; i++) {
		struct profile *p = profile_new(), *q = profile_new();
		auto_buf struct buf out = BUF_INIT;

		b.p[i] = (char)(b.p[i] ^ change);
		if (profile_add_bytes(p, b.p, b.n, 1, NULL, NULL) == 0) {
			struct error err = ERROR_INIT;

			assert_int_equal(profile_encode_indexed(p, 13, &out, &err), 0);
			if (profile_add_bytes(q, out.p, out.n, 1, NULL, &err) < 0)
				fail_msg("byte %zu: %s", i, err.msg);
			assert_int_equal(p->n_records, q->n_records);
		}
		b.p[i] = (char)(b.p[i] ^ change);
		profile_free(p);
		profile_free(q);
	}
}

static void test_mutations(void **state)
{
	auto_buf struct buf raw = BUF_INIT, out = BUF_INIT;
	struct profile *p = profile_new();

	make(&raw);
	assert_int_equal(profile_add_bytes(p, raw.p, raw.n, 1, NULL, NULL), 0);
	assert_int_equal(profile_encode_indexed(p, 13, &out, NULL), 0);
	for (int bit = 0; bit < 8; bit++) {
		mutate(&raw, (uint8_t)(1 << bit));
		mutate(&out, (uint8_t)(1 << bit));
	}
	profile_free(p);
}

static void test_indexed(void **state)
{
	auto_buf struct buf raw = BUF_INIT, out = BUF_INIT;
	struct profile *p = profile_new();
	uint64_t table;

	make(&raw);
	assert_int_equal(profile_add_bytes(p, raw.p, raw.n, 1, NULL, NULL), 0);
	assert_int_equal(profile_encode_indexed(p, 13, &out, NULL), 0);
	memcpy(&table, out.p + 32, 8);
	for (size_t n = 0; n < out.n - 8; n++) { /* the last 8 bytes are the vtable names' length */
		struct profile *q = profile_new();

		assert_int_equal(profile_add_bytes(q, out.p, n, 1, NULL, NULL), -1);
		assert_int_equal(q->n_records, 0);
		profile_free(q);
	}
	rejected(out.p, 40, "header is cut off: the file ends at 40");
	rejected(out.p, 100,
		"summary at byte 72 has 6 fields and 16 cutoffs, more than the file "
		"holds");
	out.p[8] = 14;
	rejected(out.p, out.n, "indexed version 14 is not known; versions 4 to 13 are");
	out.p[8] = 13;
	out.p[table + 8] = 9; /* entries */
	rejected(out.p, out.n, "hash table holds 3 of 9 entries; the next is missing at byte 867");
	profile_free(p);
}

static void text(const char *in, const char *msg)
{
	rejected(in, strlen(in), msg);
}

static void test_text(void **state)
{
	text(":irr\n", "line 1: unknown header ':irr'");
	text(":ir\n# comment\nf\n", "line 3: structural hash expected, but the file ends");
	text("f\nx\n", "line 2: structural hash expected, not 'x'");
	text("f\n1\n0\n", "line 3: 'f' has no counters");
	text("f\n1\n2\n5\n", "line 4: counter expected, but the file ends");
	text("f\n1\n1\n18446744073709551616\n",
		"line 4: counter expected, not '18446744073709551616'");
	text("f\n1\n1\n5\n$2\n0xff\n0x100\n", "line 7: bitmap byte expected, not '0x100'");
	text("f\n1\n1\n5\n4\n", "line 5: 1 to 3 value kinds expected");
	text("f\n1\n1\n5\n1\n0\n1\n256\n",
		"line 8: number of values (at most 255) expected, not '256'");
	text("f\n1\n1\n5\n1\n0\n1\n1\ng\n", "line 9: VALUE:COUNT expected");
	text("f\n1\n1\n5\n1\n1\n1\n1\ng:1\n", "line 9: a size expected before ':'");
	text("f\n1\n1\n5\nf\n1\n2\n5\n6\n",
		"function 'f' (hash 0x0000000000000001) has 2 counters here, but 1 in the profiles "
		"merged so far; merge profiles of one build only");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_header_fields),
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_many_sites),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_second_image),
		cmocka_unit_test(test_mutations),
		cmocka_unit_test(test_indexed),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
