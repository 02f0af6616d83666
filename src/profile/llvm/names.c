/* Names blocks: chunks of ULEB128 length, ULEB128 compressed length (0: stored), bytes; the text is
 * names joined by the byte 1. Zero bytes between chunks are padding. And build-id lists. */
#include <stdlib.h>
#include <zlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "profile/llvm/blocks.h"

/* Deflate cannot do better than this, so a larger claim is a lie that would cost memory. */
#define DEFLATE_RATIO_MAX 1032

static uint64_t rd_uleb(struct reader *r)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t b = rd_u8(r);

		if (r->failed)
			return 0;
		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return v;
	}
	r->failed = true;
	return 0;
}

static int add_text(struct names *s, const char *p, size_t n, size_t chunk, struct error *err)
{
	const char *end = p + n;

	if (memchr(p, 0, n))
		return error_set(err, ERR_CORRUPT, "name chunk %zu holds a NUL byte", chunk);
	for (;;) {
		const char *stop = memchr(p, 1, (size_t)(end - p));
		size_t len = (size_t)((stop ? stop : end) - p);

		if (!len)
			return error_set(
				err, ERR_CORRUPT, "name chunk %zu holds an empty name", chunk);
		array_reserve(s->v, s->n, s->cap);
		s->v[s->n++] = (struct name){p, len, md5_name(p, len)};
		if (!stop)
			return 0;
		p = stop + 1;
	}
}

static int inflate_chunk(
	struct names *s, const uint8_t *p, size_t n, uint64_t length, struct error *err)
{
	uLongf got = length;
	auto_free char *text = NULL;

	if (length / DEFLATE_RATIO_MAX > n || length > UINT32_MAX)
		return error_set(err, ERR_CORRUPT,
			"name chunk %zu claims %llu bytes out of %zu compressed ones", s->n_texts,
			(unsigned long long)length, n);
	text = malloc(length ? length : 1);
	if (!text)
		return error_set(err, ERR_ENVIRONMENT, "out of memory for %llu bytes of names",
			(unsigned long long)length);
	if (uncompress((Bytef *)text, &got, p, n) != Z_OK || got != length)
		return error_set(err, ERR_CORRUPT, "name chunk %zu does not inflate to %llu bytes",
			s->n_texts, (unsigned long long)length);
	array_reserve(s->texts, s->n_texts, s->cap_texts);
	s->texts[s->n_texts++] = text;
	if (add_text(s, take_ptr(text), length, s->n_texts - 1, err) < 0)
		return -1;
	return 0;
}

static int read_chunk(struct names *s, struct reader *r, size_t chunk, struct error *err)
{
	size_t at = r->off;
	uint64_t length = rd_uleb(r), packed = rd_uleb(r);
	const uint8_t *p;

	if (r->failed || (packed ? packed : length) > r->n - r->off)
		return error_set(err, ERR_CORRUPT,
			"name chunk %zu at byte %zu of the names is longer than they are (%zu)",
			chunk, at, r->n);
	p = rd_bytes(r, packed ? packed : length);
	if (!length)
		return 0;
	return packed ? inflate_chunk(s, p, packed, length, err)
		      : add_text(s, (const char *)p, length, chunk, err);
}

static void build_slots(struct names *s)
{
	s->n_slots = 16;
	while (s->n_slots < 2 * s->n)
		s->n_slots *= 2;
	s->slots = xcalloc(s->n_slots, sizeof(*s->slots));
	for (size_t k = 0; k < s->n; k++) {
		size_t i = s->v[k].ref & (s->n_slots - 1);

		while (s->slots[i] && s->v[s->slots[i] - 1].ref != s->v[k].ref)
			i = (i + 1) & (s->n_slots - 1);
		if (!s->slots[i])
			s->slots[i] = (uint32_t)k + 1;
	}
}

int names_read(struct names *ret, const uint8_t *p, size_t n, struct error *err)
{
	struct reader r = reader_of(p, n);
	struct names s = {0};

	for (size_t chunk = 0; r.off < r.n; chunk++) {
		if (r.p[r.off] == 0) {
			r.off++;
			continue;
		}
		if (read_chunk(&s, &r, chunk, err) < 0) {
			names_release(&s);
			return -1;
		}
	}
	build_slots(&s);
	*ret = s;
	return 0;
}

const struct name *names_find(const struct names *s, uint64_t ref)
{
	size_t i = ref & (s->n_slots - 1);

	while (s->slots[i] && s->v[s->slots[i] - 1].ref != ref)
		i = (i + 1) & (s->n_slots - 1);
	return s->slots[i] ? &s->v[s->slots[i] - 1] : NULL;
}

void names_release(struct names *s)
{
	for (size_t i = 0; i < s->n_texts; i++)
		free(s->texts[i]);
	free(s->texts);
	free(s->v);
	free(s->slots);
	*s = (struct names){0};
}

int build_ids_each(const struct build_ids *ids, void (*fn)(void *ctx, const uint8_t *id, size_t n),
	void *ctx, struct error *err)
{
	struct reader r = reader_of(ids->p, ids->n);

	r.big = ids->big;
	while (r.off < r.n) {
		size_t at = r.off;
		uint64_t len = rd_u64(&r), room = ids->packed ? len : (len + 7) & ~7ULL;
		const uint8_t *id = len <= ids->n ? rd_bytes(&r, room) : NULL;

		if (!id || len == 0)
			return error_set(err, ERR_CORRUPT,
				"build id at byte %zu of %zu has length %llu", at, ids->n,
				(unsigned long long)len);
		if (fn)
			fn(ctx, id, len);
	}
	return 0;
}
