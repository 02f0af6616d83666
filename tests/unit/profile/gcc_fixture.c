#include "gcc_fixture.h"

#include <string.h>

void put_word(struct gcc_maker *m, uint32_t v)
{
	for (unsigned i = 0; i < 4; i++)
		buf_addc(m->out, (char)(v >> 8 * (m->big ? 3 - i : i)));
}

void put_long(struct gcc_maker *m, uint64_t v)
{
	put_word(m, (uint32_t)v);
	put_word(m, (uint32_t)(v >> 32));
}

static struct gcc_maker begin(struct buf *out, uint32_t magic, unsigned major, bool big)
{
	struct gcc_maker m = {out, big, major};
	uint32_t version = (uint32_t)('A' + major / 10) << 24 | (uint32_t)('0' + major % 10) << 16 |
			   '2' << 8 | '*';

	put_word(&m, magic);
	put_word(&m, version);
	put_word(&m, 0x5747a3c1);
	if (major >= 12)
		put_word(&m, magic == 0x67636461 ? 0xc0ffee : 0);
	return m;
}

struct gcc_maker gcda_begin(struct buf *out, unsigned major, bool big)
{
	return begin(out, 0x67636461, major, big);
}

struct gcc_maker gcno_begin(struct buf *out, unsigned major, bool big)
{
	struct gcc_maker m = begin(out, 0x67636e6f, major, big);

	put_notes_text(&m, "/w");
	put_word(&m, 1);
	return m;
}

void put_record(struct gcc_maker *m, uint32_t tag, int64_t bytes)
{
	put_word(m, tag);
	put_word(m, (uint32_t)(m->major >= 12 ? bytes : bytes / 4));
}

void put_summary(struct gcc_maker *m, uint32_t runs, uint32_t sum_max)
{
	put_record(m, 0xa1000000, 8);
	put_word(m, runs);
	put_word(m, sum_max);
}

void put_data_function(struct gcc_maker *m, uint32_t ident, uint32_t lineno, uint32_t cfg)
{
	put_record(m, 0x01000000, 12);
	put_word(m, ident);
	put_word(m, lineno);
	put_word(m, cfg);
}

void put_counters(struct gcc_maker *m, unsigned kind, const uint64_t *v, size_t n)
{
	put_record(m, 0x01a10000 + (kind << 17), 8 * (int64_t)n);
	for (size_t i = 0; i < n; i++)
		put_long(m, v[i]);
}

static size_t text_size(const struct gcc_maker *m, const char *s)
{
	size_t n = strlen(s) + 1;

	return m->major >= 12 ? n : (n + 3) / 4 * 4;
}

void put_notes_text(struct gcc_maker *m, const char *s)
{
	size_t n = text_size(m, s);

	put_word(m, (uint32_t)(m->major >= 12 ? n : n / 4));
	buf_adds(m->out, s);
	for (size_t i = strlen(s); i < n; i++)
		buf_addc(m->out, 0);
}

void put_notes_function(
	struct gcc_maker *m, uint32_t ident, uint32_t lineno, uint32_t cfg, const char *name)
{
	size_t bytes = 12 + 4 + text_size(m, name) + 4 + 4 + text_size(m, "a.c") + 16;

	put_record(m, 0x01000000, (int64_t)bytes);
	put_word(m, ident);
	put_word(m, lineno);
	put_word(m, cfg);
	put_notes_text(m, name);
	put_word(m, 0);
	put_notes_text(m, "a.c");
	put_word(m, 3);
	put_word(m, 1);
	put_word(m, 9);
	put_word(m, 2);
}

void gcda_sample(struct buf *out, unsigned major, bool big, uint64_t times)
{
	struct gcc_maker m = gcda_begin(out, major, big);
	uint32_t t = (uint32_t)times;

	put_summary(&m, t, 7 * t);
	put_data_function(&m, 1000, 0x11, 0x22);
	put_counters(&m, 0, (uint64_t[]){5 * times, 7 * times, 0}, 3);
	put_counters(&m, 3, (uint64_t[]){10 * times, 2, 8, 3 * times, 4, 7 * times}, 6);
	put_counters(&m, 4, (uint64_t[]){2 * times, 1, 3000, 2 * times}, 4);
	put_counters(&m, 5, (uint64_t[]){12 * times, 4 * times}, 2);
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

void gcno_sample(struct buf *out, unsigned major, bool big)
{
	/* Entry, a loop of 3 and 4 behind 2, exit. The counted arcs are 0-2, 3-4 and a fake one. */
	static const uint32_t arcs[][3] = {
		{0, 2, 4}, {2, 3, 5}, {3, 4, 4}, {3, 1, 1}, {4, 3, 1}, {4, 1, 2}};
	struct gcc_maker m = gcno_begin(out, major, big);

	put_notes_function(&m, 1000, 0x11, 0x22, "loop");
	put_record(&m, 0x01410000, 4);
	put_word(&m, 5);
	for (size_t i = 0; i < 6; i++) {
		put_record(&m, 0x01430000, 12);
		for (int k = 0; k < 3; k++)
			put_word(&m, arcs[i][k]);
	}
	put_record(&m, 0x01450000, 12);
	put_word(&m, 2);
	put_word(&m, 0);
	put_word(&m, 0);
}
