/* Data sections in which records of 48 and of 64 bytes lie, as a program with objects of LLVM 14
 * and of LLVM 22 leaves them. The header has the version of the runtime, and as many records as
 * make up the bytes, rounded up; what the linker put behind the section fills the last one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/hash.h"
#include "base/mem.h"
#include "fixture.h"
#include "profile/model.h"

#define COUNTERS_AT 0x8000
#define DATA_AT 0x4000

struct mix {
	const char
		*kinds; /* 'n' a narrow record, 'w' a wide one; the function is its place: "f0" */
	uint32_t version;
	bool big;
	uint64_t load;    /* address randomisation */
	bool sites;       /* f0 has a value site; garbage stands where values should */
	const void *tail; /* what lies behind the section; NULL: zeros */
	size_t more;      /* bytes that belong to no record, at the end */
	size_t skip;      /* bytes between the first two records, as no linker puts them */
};

static void put(const struct mix *m, struct buf *b, uint64_t v, size_t width)
{
	for (size_t i = 0; i < width; i++)
		buf_addc(b, (char)(v >> 8 * (m->big ? width - 1 - i : i)));
}

/* Function k has two counters, 10k+1 and 10k+2. */
static void record(const struct mix *m, size_t k, struct buf *b)
{
	bool wide = m->kinds[k] == 'w';
	uint64_t self = DATA_AT + b->n;
	auto_free char *name = xasprintf("f%zu", k);
	bool site = m->sites && k == 0;

	put(m, b, md5_name(name, strlen(name)), 8);
	put(m, b, 0x100 + k, 8);
	put(m, b, COUNTERS_AT + 16 * k - self, 8);
	if (wide)
		put(m, b, 0, 8);
	put(m, b, k % 2 ? 0 : 0x1000 + m->load + 16 * k, 8);
	put(m, b, site ? 0x7000 + m->load : 0, 8);
	put(m, b, 2, 4);
	put(m, b, site, 2);
	put(m, b, 0, 2);
	if (wide) {
		put(m, b, 0, 2);
		put(m, b, 0, 2);
		put(m, b, 0, 4);
	}
}

static void data_section(const struct mix *m, struct buf *data)
{
	size_t size = m->version >= 9 ? 64 : 48;

	for (size_t k = 0; m->kinds[k]; k++) {
		record(m, k, data);
		for (size_t i = 0; k == 0 && i < m->skip; i++)
			buf_addc(data, 0);
	}
	if (m->tail)
		buf_add(data, m->tail, -data->n % size);
	while (data->n % size)
		buf_addc(data, 0);
	for (size_t i = 0; i < m->more; i++)
		buf_addc(data, 0);
}

static void make(const struct mix *m, struct buf *b)
{
	auto_buf struct buf data = BUF_INIT, names = BUF_INIT;
	size_t n = strlen(m->kinds);

	data_section(m, &data);
	for (size_t k = 0; k < n; k++)
		buf_addf(&names, "%sf%zu", k ? "\1" : "", k);
	put(m, b, 0xff6c70726f667281ULL, 8);
	put(m, b, FIXTURE_IR | m->version, 8);
	put(m, b, 0, 8);
	put(m, b, data.n / (m->version >= 9 ? 64 : 48), 8);
	put(m, b, 0, 8);
	put(m, b, 2 * n, 8);
	put(m, b, 0, 8);
	for (int i = 0; m->version >= 9 && i < 2; i++)
		put(m, b, 0, 8);
	put(m, b, names.n + 2, 8);
	put(m, b, COUNTERS_AT - DATA_AT, 8);
	if (m->version >= 9)
		put(m, b, -(uint64_t)DATA_AT, 8);
	put(m, b, 0x9000, 8);
	for (int i = 0; m->version >= 10 && i < 2; i++)
		put(m, b, 0, 8);
	put(m, b, m->version >= 10 ? 2 : 1, 8);
	buf_add(b, data.p, data.n);
	for (size_t k = 0; k < n; k++) {
		put(m, b, 10 * k + 1, 8);
		put(m, b, 10 * k + 2, 8);
	}
	buf_addc(b, (char)names.n);
	buf_addc(b, 0);
	buf_add(b, names.p, names.n);
	while (b->n % 8)
		buf_addc(b, 0);
	if (m->sites)
		buf_add(b, "\x77\1\2\3\4\5\6\7\1\1\1\1\1\1\1\1", 16);
}

static void expect(const struct profile *p, const char *text)
{
	auto_free char *dump = fixture_dump(p);

	assert_string_equal(dump, text);
}

static void read_as(const struct mix *m, const char *text)
{
	auto_buf struct buf b = BUF_INIT;
	struct profile *p = profile_new();
	struct profile_images images = {0};
	struct error err = ERROR_INIT;

	make(m, &b);
	if (profile_add_bytes(p, b.p, b.n, 1, &images, &err) < 0)
		fail_msg("%s of version %u: %s", m->kinds, m->version, err.msg);
	expect(p, text);
	assert_int_equal(images.n, 1);
	assert_true(images.v[0].mixed);
	assert_int_equal(images.v[0].records, strlen(m->kinds));
	assert_int_equal(images.v[0].values_missing, m->sites);
	profile_images_release(&images);
	profile_free(p);
}

static void test_divided(void **state)
{
	static const char four[] = "f0 100: 1 2\nf1 101: 11 12\nf2 102: 21 22\nf3 103: 31 32\n";
	static const char *const orders[] = {
		"wnnw", "nwww", "wwwn", "nnnw", "wnwn", "nwnw", "wwnn", "nnww"};

	for (size_t i = 0; i < ARRAY_SIZE(orders); i++)
		for (uint32_t version = 8; version <= 10; version += 2) {
			read_as(&(struct mix){.kinds = orders[i], .version = version}, four);
			read_as(&(struct mix){.kinds = orders[i], .version = version, .big = true},
				four);
			read_as(
				&(struct mix){
					.kinds = orders[i], .version = version, .sites = true},
				four);
		}
	/* all of the other kind */
	read_as(&(struct mix){.kinds = "nnnn", .version = 10}, four);
	read_as(&(struct mix){.kinds = "wwww", .version = 8}, four);
	/* behind the section lies something that makes no sense as the end of a record */
	read_as(&(struct mix){.kinds = "wn",
			.version = 10,
			.tail = "\xff\xff\xff\xff\xff\xff\xff"
				"\xff\xff\xff\xff\xff\xff\xff\xff\xff"},
		"f0 100: 1 2\nf1 101: 11 12\n");
}

/* Several runs of one program, at other addresses, and another profile in the same file. */
static void test_merged(void **state)
{
	struct mix m = {.kinds = "wnw", .version = 10, .sites = true};
	auto_buf struct buf first = BUF_INIT, second = BUF_INIT;
	struct profile *p = profile_new();
	struct profile_images images = {0};

	make(&m, &first);
	fixture_raw(&(struct fixture){.no_id = true}, &first);
	m.load = 0x555500000000;
	make(&m, &second);
	assert_int_equal(profile_add_bytes(p, first.p, first.n, 1, &images, NULL), 0);
	assert_int_equal(profile_add_bytes(p, second.p, second.n, 10, NULL, NULL), 0);
	expect(p, "a/b.c;helper 22: 10 20\nf0 100: 11 22\nf1 101: 121 132\nf2 102: 231 242\n"
		  "main 11: 1 2 3 4\nother 33: 0\n");
	assert_int_equal(images.n, 2);
	assert_true(images.v[0].mixed);
	assert_false(images.v[1].mixed);
	profile_images_release(&images);
	profile_free(p);
}

static void rejected(const struct mix *m, const char *msg)
{
	auto_buf struct buf b = BUF_INIT;
	struct profile *p = profile_new();
	struct error err = ERROR_INIT;

	make(m, &b);
	assert_int_equal(profile_add_bytes(p, b.p, b.n, 1, NULL, &err), -1);
	assert_string_equal(err.msg, msg);
	assert_int_equal(p->n_records, 0);
	assert_int_equal(p->n_keys, 0);
	error_release(&err);
	profile_free(p);
}

static void test_rejected(void **state)
{
	/* 2 counters and a value site, where a wide record has them: the last record, a narrow one,
	 * could as well be a wide one */
	static const uint8_t both[32] = {2, 0, 0, 0, 1};

	rejected(&(struct mix){.kinds = "nwn", .version = 10, .tail = both},
		"data section of 192 bytes can be divided into records of 48 and of 64 bytes in "
		"more than one way: which functions ran cannot be told");
	/* the section does not end where a record ends */
	rejected(&(struct mix){.kinds = "wnw", .version = 10, .more = 64},
		/* its number is the beginning of the next record's reference */
		"data record 1 has counters from byte 16 to 21604022720 of the counter section, "
		"which has 48 bytes");
	rejected(&(struct mix){.kinds = "wnw", .version = 10, .skip = 8},
		"data record 1 refers to name 0x0000000000000000, which the names section does not "
		"hold");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_divided),
		cmocka_unit_test(test_merged),
		cmocka_unit_test(test_rejected),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
