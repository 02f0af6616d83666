#include "profile/llvm/raw.h"

#include <inttypes.h>

#include "base/mem.h"

#define MAGIC64 0xff6c70726f667281ULL /* ff "lprofr" 81, in the producer's byte order */
#define MAGIC32 0xff6c70726f665281ULL

static bool magic_of(const uint8_t *p, bool *big, uint8_t *ptr)
{
	uint64_t le, be;

	memcpy(&le, p, 8);
	be = __builtin_bswap64(le);
	*big = be == MAGIC64 || be == MAGIC32;
	*ptr = le == MAGIC64 || be == MAGIC64 ? 8 : 4;
	return *big || le == MAGIC64 || le == MAGIC32;
}

bool raw_magic(const uint8_t *data, size_t n)
{
	bool big;
	uint8_t ptr;

	return n >= 8 && magic_of(data, &big, &ptr);
}

bool raw_shape_of(uint32_t version, uint8_t ptr, struct raw_shape *ret)
{
	static const struct raw_shape shapes[][2] = {
		/* size, bitmap_ptr, function_ptr, n_counters, n_sites, n_bitmap, kinds */
		{{48, 0, 24, 40, 44, 0, 2}, {40, 0, 20, 28, 32, 0, 2}},     /* 5, 7, 8 */
		{{64, 24, 32, 48, 52, 56, 2}, {48, 20, 24, 32, 36, 40, 2}}, /* 9 */
		{{64, 24, 32, 48, 52, 60, 3}, {48, 20, 24, 32, 36, 44, 3}}, /* 10 */
	};
	int i = version == 5 || version == 7 || version == 8 ? 0
		: version == 9                               ? 1
		: version == 10                              ? 2
							     : -1;

	if (i < 0)
		return false;
	*ret = shapes[i][ptr == 4];
	return true;
}

struct header {
	uint64_t pad_before_counters, pad_after_counters, pad_after_bitmap, vnames_n, last_kind;
};

static void read_header(struct reader *r, struct raw_image *i, struct header *h)
{
	i->ids = (struct build_ids){
		.n = i->version >= 7 ? rd_u64(r) : 0, .big = i->big, .packed = i->version == 7};
	i->n_data = rd_u64(r);
	h->pad_before_counters = rd_u64(r);
	i->n_counters = rd_u64(r);
	h->pad_after_counters = rd_u64(r);
	if (i->version >= 9) {
		i->bitmap_n = rd_u64(r);
		h->pad_after_bitmap = rd_u64(r);
	}
	i->names_n = rd_u64(r);
	i->counters_delta = rd_u64(r);
	if (i->version >= 9)
		i->bitmap_delta = rd_u64(r);
	rd_u64(r); /* the address of the names: of no use here */
	if (i->version >= 10) {
		i->n_vtables = rd_u64(r);
		h->vnames_n = rd_u64(r);
	}
	h->last_kind = rd_u64(r);
}

static int section(struct reader *r, const char *name, uint64_t count, uint64_t width,
	const uint8_t **ret, struct error *err)
{
	size_t at = r->off;
	uint64_t bytes;

	if (__builtin_mul_overflow(count, width, &bytes))
		return error_set(err, ERR_CORRUPT,
			"%s section at byte %zu claims %" PRIu64 " elements of %" PRIu64
			" bytes; the file has %zu bytes",
			name, at, count, width, r->n);
	*ret = rd_bytes(r, bytes);
	if (r->failed)
		return error_set(err, ERR_CORRUPT,
			"%s section starts at byte %zu and has %" PRIu64
			" bytes, but the file ends at %zu",
			name, at, bytes, r->n);
	return 0;
}

/* All sections follow each other directly. */
static int sections(
	struct reader *r, struct raw_image *i, const struct header *h, struct error *err)
{
	const uint8_t *skip;
	uint64_t width = i->flags & FLAG_BYTE_COVERAGE ? 1 : 8, vtable = i->ptr == 8 ? 24 : 16;
	const struct {
		const char *name;
		uint64_t count, width;
		const uint8_t **at;
	} parts[] = {
		{"binary id", i->ids.n, 1, &i->ids.p},
		{"data", i->n_data, i->shape.size, &i->data},
		{"padding before the counter", h->pad_before_counters, 1, &skip},
		{"counter", i->n_counters, width, &i->counters},
		{"padding after the counter", h->pad_after_counters, 1, &skip},
		{"bitmap", i->bitmap_n, 1, &i->bitmap},
		{"padding after the bitmap", h->pad_after_bitmap, 1, &skip},
		{"names", i->names_n, 1, &i->names},
		{"padding after the names", -i->names_n & 7, 1, &skip},
		{"vtable", i->n_vtables, vtable, &i->vtables},
		{"padding after the vtable", -(i->n_vtables * vtable) & 7, 1, &skip},
		{"vtable names", h->vnames_n, 1, &skip},
		{"padding after the vtable names", -h->vnames_n & 7, 1, &skip},
	};

	for (size_t k = 0; k < ARRAY_SIZE(parts); k++)
		if (section(r, parts[k].name, parts[k].count, parts[k].width, parts[k].at, err) < 0)
			return -1;
	i->counters_n = i->n_counters * width;
	i->values = r->p + r->off;
	return 0;
}

static int check_header(const struct raw_image *i, const struct header *h, struct error *err)
{
	if (h->last_kind + 1 != i->shape.kinds)
		return error_set(err, ERR_CORRUPT,
			"header says that value kind %" PRIu64
			" is the last, but in version %u it is %d",
			h->last_kind, i->version, i->shape.kinds - 1);
	if (i->ids.n % 8 && !i->ids.packed)
		return error_set(err, ERR_CORRUPT,
			"binary id section has %zu bytes, which is no multiple of 8", i->ids.n);
	if (i->flags & FLAG_MEMPROF)
		return error_set(err, ERR_CORRUPT,
			"header has the memory profile flag, which no raw profile has");
	if ((i->flags & FLAG_DEBUG_CORRELATE) || (i->n_data == 0 && i->n_counters != 0))
		return error_set(err, ERR_UNSUPPORTED,
			"holds counters only (built with profile correlation); build without "
			"-profile-correlate");
	return 0;
}

int raw_image_open(
	struct raw_image *ret, const uint8_t *file, size_t n, uint64_t off, struct error *err)
{
	struct reader r = reader_of(file, n);
	struct raw_image i = {.off = off};
	struct header h = {0};
	uint64_t word;

	if (n - off < 16)
		return error_set(err, ERR_CORRUPT,
			"header at byte %" PRIu64 " is cut off: the file ends at %zu", off, n);
	if (!magic_of(file + off, &i.big, &i.ptr))
		return error_set(err, ERR_CORRUPT,
			"no raw profile header at byte %" PRIu64 ": bad magic", off);
	r.off = off + 8;
	r.big = i.big;
	word = rd_u64(&r);
	i.version = (uint32_t)(word & VERSION_MASK);
	i.flags = word & ~VERSION_MASK;
	if (!raw_shape_of(i.version, i.ptr, &i.shape))
		return error_set(err, ERR_UNSUPPORTED,
			"raw version %u is not known; versions 5 and 7 to 10 (LLVM 11 to 22) are",
			i.version);
	read_header(&r, &i, &h);
	if (r.failed)
		return error_set(err, ERR_CORRUPT,
			"header at byte %" PRIu64 " is cut off: the file ends at %zu", off, n);
	if (check_header(&i, &h, err) < 0 || sections(&r, &i, &h, err) < 0)
		return -1;
	i.values_n = n - r.off;
	i.end = r.off;
	*ret = i;
	return 0;
}

bool raw_may_start(const struct raw_image *i, uint64_t off)
{
	return off % 8 == 0 || i->ids.packed || i->off % 8 != 0;
}

uint64_t raw_next(const uint8_t *file, size_t n, uint64_t off)
{
	while (off < n && file[off] == 0)
		off++;
	return off;
}
