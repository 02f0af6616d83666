/* Value blocks: u32 size, u32 kinds; per kind u32 kind, u32 sites, u8 values[sites], padding to 8,
 * then pairs of u64 (value, count). */
#include <inttypes.h>

#include "profile/llvm/blocks.h"

static size_t pad8(size_t n)
{
	return -n & 7;
}

static int read_kind(
	struct reader *r, uint32_t *next_kind, struct value_block *b, struct error *err)
{
	size_t at = r->off;
	uint32_t kind = rd_u32(r), sites = rd_u32(r);
	const uint8_t *per_site;
	uint64_t values = 0;

	if (r->failed)
		return error_set(
			err, ERR_CORRUPT, "value block ends inside a kind at byte %zu", at);
	if (kind < *next_kind || kind >= VALUE_KINDS)
		return error_set(err, ERR_CORRUPT,
			"value block has kind %u at byte %zu, expected %u to %d in ascending order",
			kind, at, *next_kind, VALUE_KINDS - 1);
	*next_kind = kind + 1;
	per_site = rd_bytes(r, sites);
	rd_bytes(r, pad8(8 + (size_t)sites));
	for (uint32_t i = 0; i < sites && per_site; i++)
		values += per_site[i];
	b->data[kind] = rd_bytes(r, values * 16);
	if (r->failed)
		return error_set(err, ERR_CORRUPT,
			"value block has %u sites at byte %zu, more than fit into it", sites, at);
	b->n_sites[kind] = sites;
	b->per_site[kind] = per_site;
	b->filled |= values != 0;
	return 0;
}

int value_block_read(struct reader *r, struct value_block *ret, struct error *err)
{
	struct value_block b = {0};
	size_t at = r->off;
	uint32_t kinds, next = 0;
	struct reader in;

	b.size = rd_u32(r);
	kinds = rd_u32(r);
	if (r->failed)
		return error_set(err, ERR_CORRUPT,
			"value data expected at byte %zu, but the file ends at %zu", at, r->n);
	if (b.size < 8 || b.size % 8 || b.size > r->n - at)
		return error_set(err, ERR_CORRUPT,
			"value block at byte %zu has size %u; %zu bytes are left in the file", at,
			b.size, r->n - at);
	in = *r;
	in.n = at + b.size;
	for (uint32_t i = 0; i < kinds; i++)
		if (read_kind(&in, &next, &b, err) < 0)
			return -1;
	r->off = at + b.size;
	*ret = b;
	return 0;
}

static uint64_t load64(const uint8_t *p, bool big)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return big ? __builtin_bswap64(v) : v;
}

void value_block_add(struct arena *a, struct record *r, const struct value_block *b, bool big,
	const struct value_map *map, uint64_t weight)
{
	struct value_site *site = r->sites;

	for (int kind = 0; kind < VALUE_KINDS; kind++) {
		const uint8_t *p = b->data[kind];

		for (uint32_t s = 0; s < b->n_sites[kind]; s++, site++) {
			struct value_datum in[SITE_MAX];
			uint32_t n = b->per_site[kind][s];

			if (!n)
				continue;
			for (uint32_t i = 0; i < n; i++, p += 16) {
				in[i].value = load64(p, big);
				in[i].count = load64(p + 8, big);
				if (map)
					in[i].value = map->fn(map->ctx, kind, in[i].value);
			}
			site_add(a, site, in, n, weight, r->adds == 0);
		}
	}
}

size_t value_block_size(const struct record *r, int kinds)
{
	const struct value_site *site = r->sites;
	size_t size = 8;

	for (int kind = 0; kind < kinds; kind++) {
		if (!r->n_sites[kind])
			continue;
		size += 8 + r->n_sites[kind] + pad8(8 + (size_t)r->n_sites[kind]);
		for (uint32_t s = 0; s < r->n_sites[kind]; s++)
			size += 16 * (size_t)site_size(site++);
	}
	return size;
}

static uint8_t *put32(uint8_t *to, uint32_t v)
{
	memcpy(to, &v, 4);
	return to + 4;
}

static uint8_t *write_kind(
	const struct record *r, int kind, const struct value_site *site, uint8_t *to)
{
	uint32_t n = r->n_sites[kind];
	size_t pad = pad8(8 + (size_t)n);

	to = put32(to, (uint32_t)kind);
	to = put32(to, n);
	for (uint32_t s = 0; s < n; s++)
		*to++ = (uint8_t)site_size(&site[s]);
	memset(to, 0, pad);
	to += pad;
	for (uint32_t s = 0; s < n; s++) {
		struct value_datum v[SITE_MAX];
		uint32_t m = site_order(r, &site[s], v);

		memcpy(to, v, m * sizeof(*v));
		to += m * sizeof(*v);
	}
	return to;
}

uint8_t *value_block_write(const struct record *r, int kinds, uint8_t *to)
{
	const struct value_site *site = r->sites;
	uint8_t *start = to;
	uint32_t used = 0;

	to += 8;
	for (int kind = 0; kind < kinds; kind++) {
		if (r->n_sites[kind]) {
			used++;
			to = write_kind(r, kind, site, to);
			site += r->n_sites[kind];
		}
	}
	put32(put32(start, (uint32_t)(to - start)), used);
	return to;
}
