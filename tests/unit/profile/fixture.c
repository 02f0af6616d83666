#include "fixture.h"

#include <inttypes.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

#define DATA_AT 0x4000
#define COUNTERS_AT 0x8000
#define CODE_AT 0x1000

struct maker {
	const struct fixture *f;
	struct buf *out;
	uint32_t version;
	uint32_t n_counters[3];
	size_t shift; /* by build ids without padding */
};

static void put(struct maker *m, uint64_t v, size_t width)
{
	for (size_t i = 0; i < width; i++)
		buf_addc(m->out, (char)(v >> 8 * (m->f->big ? width - 1 - i : i)));
}

static void pad8(struct maker *m)
{
	while ((m->out->n - m->shift) % 8)
		buf_addc(m->out, 0);
}

static size_t pointer(const struct maker *m)
{
	return m->f->narrow ? 4 : 8;
}

static void record(struct maker *m, int i, const char *name)
{
	size_t size = m->version >= 9 ? (m->f->narrow ? 48 : 64) : m->f->narrow ? 40 : 48;
	size_t start = m->out->n;
	uint64_t at = COUNTERS_AT + m->f->load;
	uint64_t self = DATA_AT + m->f->load + (uint64_t)i * size;
	static const uint64_t hashes[] = {0x11, 0x22, 0x33};
	unsigned width = m->f->flags & (1ULL << 60) ? 1 : 8;

	for (int k = 0; k < i; k++)
		at += m->n_counters[k] * width;
	put(m, md5_name(name, strlen(name)), 8);
	put(m, hashes[i], 8);
	put(m, m->version >= 8 ? at - self : at, pointer(m));
	if (m->version >= 9)
		put(m, 0, pointer(m));
	put(m, CODE_AT + m->f->load + 16 * (uint64_t)i, pointer(m));
	put(m, 0x7000 + m->f->load, pointer(m));
	put(m, m->n_counters[i], 4);
	put(m, i == 0 && !m->f->no_values, 2);
	put(m, i == 0 && !m->f->no_values, 2);
	if (m->version >= 10)
		put(m, 0, 2);
	if (m->version >= 9) {
		while (m->out->n % 4)
			buf_addc(m->out, 0);
		put(m, 0, 4);
	}
	while (m->out->n - start < size)
		buf_addc(m->out, 0);
}

static void header(struct maker *m, size_t names_n)
{
	uint64_t flags = m->f->front_end ? 0 : m->f->flags ? m->f->flags : FIXTURE_IR;
	uint64_t counters = m->n_counters[0] + m->n_counters[1] + m->n_counters[2];
	uint64_t pad = flags & (1ULL << 60) ? -counters & 7 : 0;

	put(m, m->f->narrow ? 0xff6c70726f665281ULL : 0xff6c70726f667281ULL, 8);
	put(m, flags | m->version, 8);
	if (m->version >= 7)
		put(m, m->f->no_id ? 0 : m->version == 7 ? 12 : 16, 8);
	put(m, 3, 8);
	put(m, 0, 8);
	put(m, counters, 8);
	put(m, pad, 8);
	if (m->version >= 9) {
		put(m, 0, 8);
		put(m, 0, 8);
	}
	put(m, names_n, 8);
	put(m, m->version >= 8 ? COUNTERS_AT - DATA_AT : COUNTERS_AT + m->f->load, 8);
	if (m->version >= 9)
		put(m, -(DATA_AT + m->f->load), 8);
	put(m, 0x9000 + m->f->load, 8);
	if (m->version >= 10) {
		put(m, 0, 8);
		put(m, 0, 8);
	}
	put(m, m->version >= 10 ? 2 : 1, 8);
}

static void counters(struct maker *m)
{
	static const uint64_t values[3][4] = {{1, 2, 3, 4}, {10, 20}, {0}};
	uint64_t times = m->f->times ? m->f->times : 1;

	for (int i = 0; i < 3; i++)
		for (uint32_t k = 0; k < m->n_counters[i]; k++) {
			uint64_t v = k < 4 ? values[i][k] * times : 0;

			if (m->f->flags & (1ULL << 60))
				put(m, v ? 0 : 0xff, 1);
			else
				put(m, v, 8);
		}
	pad8(m);
}

static void values(struct maker *m)
{
	uint64_t times = m->f->times ? m->f->times : 1;

	put(m, 8 + 2 * (16 + 32), 4);
	put(m, 2, 4);
	for (uint32_t kind = 0; kind < 2; kind++) {
		put(m, kind, 4);
		put(m, 1, 4);
		put(m, 2, 1);
		for (int i = 0; i < 7; i++)
			put(m, 0, 1);
		put(m, kind ? 8 : 0xdead, 8);
		put(m, (kind ? 3 : 2) * times, 8);
		put(m, kind ? 16 : CODE_AT + m->f->load + 16, 8);
		put(m, (kind ? 1 : 5) * times, 8);
	}
}

void fixture_raw(const struct fixture *f, struct buf *out)
{
	struct maker m = {.f = f,
		.out = out,
		.version = f->version ? f->version : 10,
		.n_counters = {f->main_counters ? f->main_counters : 4, 2, 1}};
	const char *other = f->second ? f->second : "other";
	auto_free char *text = xasprintf("main\1a/b.c;helper\1%s", other);

	header(&m, strlen(text) + 2);
	m.shift = out->n;
	if (m.version >= 7 && !f->no_id) {
		put(&m, 4, 8);
		buf_add(out, "\xde\xad\xbe\xef\0\0\0\0", m.version == 7 ? 4 : 8);
		m.shift = out->n;
	}
	record(&m, 0, "main");
	record(&m, 1, "a/b.c;helper");
	record(&m, 2, other);
	counters(&m);
	buf_addc(out, (char)strlen(text));
	buf_addc(out, 0);
	buf_adds(out, text);
	pad8(&m);
	if (!f->no_values && !f->continuous)
		values(&m);
}

static int dump(void *ctx, const char *key, uint64_t hash, const uint64_t *counts, size_t n)
{
	buf_addf(ctx, "%s %" PRIx64 ":", key, hash);
	for (size_t i = 0; i < n; i++)
		buf_addf(ctx, " %" PRIu64, counts[i]);
	buf_addc(ctx, '\n');
	return 0;
}

char *fixture_dump(const struct profile *p)
{
	struct buf b = BUF_INIT;

	profile_each(p, dump, &b);
	return buf_detach(&b);
}
