/* Raw profiles made from sections in memory: a profile taken apart and put together again. */
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
#include "profile/raw_write.h"

#define DATA_AT 0x4000 /* as the fixture has it */
#define HEADS_AT 0x7000

/* The value lists of the fixture's first record in memory: two heads, two elements each. */
struct node {
	uint64_t value, count, next;
};
struct lists {
	uint64_t heads[3];
	struct node nodes[4];
};
static const struct lists lists = {
	{HEADS_AT + 24, HEADS_AT + 72},
	{{0xdead, 2, HEADS_AT + 48}, {0x1010, 5, 0}, {8, 3, HEADS_AT + 96}, {16, 1, 0}},
};

static const uint8_t *look(const void *ctx, uint64_t at, size_t n)
{
	const struct lists *l = ctx;

	return l && at >= HEADS_AT && at + n <= HEADS_AT + sizeof(*l)
		       ? (const uint8_t *)l + (at - HEADS_AT)
		       : NULL;
}

static uint64_t word(const struct buf *b, size_t i)
{
	uint64_t v;

	memcpy(&v, b->p + 8 * i, 8);
	return v;
}

static void part(struct raw_part *p, const struct buf *b, size_t *at, uint64_t address, size_t n)
{
	*p = (struct raw_part){address, (const uint8_t *)b->p + *at, n};
	*at += n + (-n & 7);
}

/* Takes a fixture's file apart by its header. */
static void take_apart(const struct buf *b, struct raw_sections *s)
{
	uint32_t version = (uint32_t)word(b, 1);
	bool wide = version >= 9;
	size_t at = version == 8 ? 88 : version == 9 ? 112 : 128;

	*s = (struct raw_sections){.version = word(b, 1), .ids_n = word(b, 2)};
	s->ids = (const uint8_t *)b->p + at;
	at += s->ids_n;
	part(&s->data, b, &at, DATA_AT, word(b, 3) * (wide ? 64 : 48));
	part(&s->counters, b, &at, DATA_AT + word(b, wide ? 10 : 8),
		word(b, 5) * (word(b, 1) >> 60 & 1 ? 1 : 8));
	part(&s->names, b, &at, word(b, wide ? 12 : 9), word(b, wide ? 9 : 7));
}

static void write_again(const struct raw_sections *s, const struct lists *l, struct buf *out)
{
	struct raw_records r = {0};
	struct error err = ERROR_INIT;

	if (raw_records_find(s, &r, &err) < 0 || raw_write(out, s, &r, look, l, &err) < 0)
		fail_msg("%s", err.msg);
	raw_records_release(&r);
}

static void same_again(const struct fixture *f)
{
	auto_buf struct buf file = BUF_INIT, again = BUF_INIT;
	struct raw_sections s;

	fixture_raw(f, &file);
	take_apart(&file, &s);
	write_again(&s, &lists, &again);
	assert_int_equal(again.n, file.n);
	assert_memory_equal(again.p, file.p, file.n);
}

static void test_same(void **state)
{
	static const uint32_t versions[] = {8, 9, 10};

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		same_again(&(struct fixture){.version = versions[i]});
		same_again(&(struct fixture){.version = versions[i], .no_values = true});
		same_again(&(struct fixture){.version = versions[i], .no_id = true});
		same_again(&(struct fixture){.version = versions[i],
			.flags = FIXTURE_IR | 1ULL << 60,
			.no_values = true});
	}
}

/* Without a version the size of the records tells it: 8, or 10. */
static void test_unknown_version(void **state)
{
	static const uint32_t versions[] = {8, 10};

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		auto_buf struct buf file = BUF_INIT, again = BUF_INIT;
		struct raw_sections s;

		fixture_raw(&(struct fixture){.version = versions[i]}, &file);
		take_apart(&file, &s);
		s.version = FIXTURE_IR;
		write_again(&s, &lists, &again);
		assert_int_equal(again.n, file.n);
		assert_memory_equal(again.p, file.p, file.n);
	}
}

static void count_lists(void *ctx, uint64_t heads, size_t n)
{
	uint64_t *seen = ctx;

	seen[0]++;
	seen[1] = heads;
	seen[2] = n;
}

static void test_lists(void **state)
{
	auto_buf struct buf file = BUF_INIT;
	struct raw_records r = {0};
	struct raw_sections s;
	uint64_t seen[3] = {0};

	fixture_raw(&(struct fixture){.version = 10}, &file);
	take_apart(&file, &s);
	assert_int_equal(raw_records_find(&s, &r, NULL), 0);
	assert_int_equal(r.n[0], 0);
	assert_int_equal(r.n[1], 3);
	raw_lists_each(&s, &r, count_lists, seen);
	assert_int_equal(seen[0], 1);
	assert_int_equal(seen[1], HEADS_AT);
	assert_int_equal(seen[2], 2);
	raw_records_release(&r);
}

/* A list that leads to memory that was not read is an error, not an empty list; one that never ends
 * is cut at 255. */
static void test_bad_lists(void **state)
{
	auto_buf struct buf file = BUF_INIT, out = BUF_INIT, again = BUF_INIT;
	struct lists round = lists;
	struct raw_records r = {0};
	struct raw_sections s;
	struct error err = ERROR_INIT;

	fixture_raw(&(struct fixture){.version = 10}, &file);
	take_apart(&file, &s);
	assert_int_equal(raw_records_find(&s, &r, NULL), 0);
	assert_int_equal(raw_write(&out, &s, &r, look, NULL, &err), -1);
	assert_int_equal(err.code, ERR_CORRUPT);
	assert_string_equal(
		err.msg, "record 0 has value lists at address 0x7000, which was not read");
	round.nodes[1].next = 0xbad0;
	assert_int_equal(raw_write(&out, &s, &r, look, &round, &err), -1);
	assert_string_equal(err.msg, "a value list leads to address 0xbad0, which was not read");
	error_release(&err);
	round.nodes[1].next = HEADS_AT + 24;
	write_again(&s, &round, &again);
	assert_int_equal(again.n, file.n + (255 - 2) * 16);
	raw_records_release(&r);
}

/* Three records of 64 bytes between which three of 48 stand, over one counters section: two
 * profiles, each of which the reader understands. */
static void test_two_sizes(void **state)
{
	auto_buf struct buf new = BUF_INIT, old = BUF_INIT, names = BUF_INIT, out = BUF_INIT;
	auto_free uint8_t *data = xmalloc(3 * 64 + 3 * 48), *counters = xmalloc(2 * 7 * 8);
	auto_free char *dump = NULL;
	struct profile *p = profile_new();
	struct profile_images images = {0};
	struct raw_sections s, t, both;
	struct error err = ERROR_INIT;
	uint64_t pointer;

	fixture_raw(&(struct fixture){.version = 10, .no_values = true}, &new);
	fixture_raw(&(struct fixture){.version = 8, .no_values = true, .second = "old", .times = 3},
		&old);
	take_apart(&new, &s);
	take_apart(&old, &t);
	for (int i = 0; i < 3; i++) {
		memcpy(data + i * 112, s.data.p + i * 64, 64);
		memcpy(data + i * 112 + 64, t.data.p + i * 48, 48);
		/* Both kinds have the same place in the counters as before, those of the old ones
		 * behind those of the new ones. */
		memcpy(&pointer, s.data.p + i * 64 + 16, 8);
		pointer += (uint64_t)i * 64 - (uint64_t)i * 112;
		memcpy(data + i * 112 + 16, &pointer, 8);
		memcpy(&pointer, t.data.p + i * 48 + 16, 8);
		pointer += (uint64_t)i * 48 - ((uint64_t)i * 112 + 64) + 56;
		memcpy(data + i * 112 + 64 + 16, &pointer, 8);
	}
	/* The names of both; only the third differs, so the first two have other hashes. */
	for (int i = 0; i < 2; i++)
		data[i * 112 + 64 + 8] = (uint8_t)(0x44 + i);
	memcpy(counters, s.counters.p, 56);
	memcpy(counters + 56, t.counters.p, 56);
	buf_add(&names, s.names.p, s.names.n);
	buf_add(&names, t.names.p, t.names.n);
	both = s;
	both.data = (struct raw_part){s.data.at, data, 3 * 64 + 3 * 48};
	both.counters = (struct raw_part){s.counters.at, counters, 112};
	both.names = (struct raw_part){s.names.at, (const uint8_t *)names.p, names.n};
	write_again(&both, NULL, &out);
	if (profile_add_bytes(p, out.p, out.n, 1, &images, &err) < 0)
		fail_msg("%s", err.msg);
	dump = fixture_dump(p);
	assert_string_equal(dump,
		"a/b.c;helper 22: 10 20\na/b.c;helper 45: 30 60\nmain 11: 1 2 3 4\n"
		"main 44: 3 6 9 12\nold 33: 0\nother 33: 0\n");
	assert_int_equal(images.n, 2);
	assert_int_equal(images.v[0].version, 10);
	assert_int_equal(images.v[1].version, 8);
	profile_images_release(&images);
	profile_free(p);
}

static void test_no_records(void **state)
{
	auto_buf struct buf file = BUF_INIT;
	struct raw_records r = {0};
	struct raw_sections s;
	struct error err = ERROR_INIT;

	fixture_raw(&(struct fixture){.version = 10}, &file);
	take_apart(&file, &s);
	s.data.p += 8; /* starts in the middle of a record */
	s.data.n -= 8;
	assert_int_equal(raw_records_find(&s, &r, &err), -1);
	assert_int_equal(err.code, ERR_CORRUPT);
	assert_string_equal(err.msg,
		"its data section holds no record that whet knows at byte 0 of 184 (name "
		"0x0000000000000011)");
	error_release(&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_unknown_version),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_bad_lists),
		cmocka_unit_test(test_two_sizes),
		cmocka_unit_test(test_no_records),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
