/* Reading a .gcno: header, then for each function its name, blocks and arcs; lines are skipped. */
#include "profile/gcc/gcno.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "profile/gcc/format.h"
#include "profile/model.h"

bool gcno_magic(const uint8_t *data, size_t n)
{
	struct reader r = reader_of(data, n);
	uint32_t word = rd_u32(&r);

	return !r.failed && (word == GCNO_MAGIC || word == __builtin_bswap32(GCNO_MAGIC));
}

/* A length (bytes with the NUL, before gcc 12 words with padding; 0: none), then the text. */
static const char *read_string(struct gcno *g, struct reader *r)
{
	uint64_t n = (uint64_t)rd_u32(r) * (unsigned)gcc_unit(g->major);
	const uint8_t *p = rd_bytes(r, n);
	char *copy;

	if (!p || !n)
		return "";
	n = strnlen((const char *)p, n);
	copy = arena_alloc(g->arena, n + 1);
	memcpy(copy, p, n);
	copy[n] = '\0';
	return copy;
}

static int cut_off(const struct reader *in, size_t at, const char *what, struct error *err)
{
	return error_set(err, ERR_CORRUPT, "%s record at byte %zu needs more than its %zu bytes",
		what, at, in->n - at - 8);
}

static int read_function(struct gcno *g, struct reader *in, size_t at, struct error *err)
{
	struct gcno_function f = {.ident = rd_u32(in)};

	f.lineno_checksum = rd_u32(in);
	f.cfg_checksum = rd_u32(in);
	f.name = read_string(g, in);
	f.artificial = rd_u32(in) != 0;
	f.source = read_string(g, in);
	f.start_line = rd_u32(in);
	f.start_column = rd_u32(in);
	f.end_line = rd_u32(in);
	f.end_column = rd_u32(in);
	if (in->failed)
		return cut_off(in, at, "function", err);
	array_reserve(g->functions, g->n_functions, g->cap_functions);
	g->functions[g->n_functions++] = f;
	return 0;
}

static int read_blocks(struct gcno *g, struct gcno_function *f, struct reader *in, size_t at,
	size_t file_n, struct error *err)
{
	uint32_t n = rd_u32(in);

	if (in->failed)
		return cut_off(in, at, "block", err);
	/* Each has an arc of 8 bytes at least, so a file cannot have more of them than bytes. */
	if (f->n_blocks || n < 2 || n > file_n - g->n_blocks)
		return error_set(err, ERR_CORRUPT,
			"block record at byte %zu of '%s' has %" PRIu32
			" blocks; expected one record of 2 to %zu",
			at, f->name, n, (size_t)(file_n - g->n_blocks));
	g->n_blocks += n;
	f->n_blocks = n;
	return 0;
}

/* The arcs of one function lie in several records, one for each block; they are gathered. */
struct gathering {
	struct gcno_arc *v;
	size_t n, cap;
};

static int read_arcs(const struct gcno_function *f, struct gathering *to, struct reader *in,
	size_t at, struct error *err)
{
	uint32_t from = rd_u32(in);

	if (in->failed)
		return cut_off(in, at, "arc", err);
	while (in->off < in->n) {
		struct gcno_arc a = {.from = from, .to = rd_u32(in)};

		a.flags = rd_u32(in);
		if (in->failed)
			return cut_off(in, at, "arc", err);
		if (a.from >= f->n_blocks || a.to >= f->n_blocks)
			return error_set(err, ERR_CORRUPT,
				"arc record at byte %zu of '%s' leads from block %" PRIu32
				" to %" PRIu32 "; the function has %" PRIu32 " blocks",
				at, f->name, a.from, a.to, f->n_blocks);
		array_reserve(to->v, to->n, to->cap);
		to->v[to->n++] = a;
	}
	return 0;
}

/* Hands the arcs to the function that was read last. */
static void end_function(struct gcno *g, struct gathering *arcs)
{
	struct gcno_function *f;

	if (!g->n_functions)
		return;
	f = &g->functions[g->n_functions - 1];
	f->n_arcs = (uint32_t)arcs->n;
	if (arcs->n) {
		f->arcs = arena_alloc(g->arena, arcs->n * sizeof(*f->arcs));
		memcpy(f->arcs, arcs->v, arcs->n * sizeof(*f->arcs));
	}
	for (size_t i = 0; i < arcs->n; i++)
		f->n_counted += !(arcs->v[i].flags & GCNO_ON_TREE);
	arcs->n = 0;
}

static int read_record(struct gcno *g, struct gathering *arcs, uint32_t tag, struct reader *in,
	size_t at, size_t file_n, struct error *err)
{
	struct gcno_function *f = g->n_functions ? &g->functions[g->n_functions - 1] : NULL;

	if (tag == TAG_FUNCTION) {
		end_function(g, arcs);
		return read_function(g, in, at, err);
	}
	/* Lines, and what newer versions add inside a function. */
	if (tag >> 16 < TAG_BLOCKS >> 16 || tag >> 16 > 0x019f || (tag & 0xffff) || !f)
		return error_set(err, ERR_CORRUPT,
			"record at byte %zu has tag 0x%08" PRIx32
			"; expected a function (0x01000000)%s",
			at, tag, f ? " or what belongs to one" : "");
	if (tag == TAG_BLOCKS)
		return read_blocks(g, f, in, at, file_n, err);
	if (tag == TAG_ARCS)
		return read_arcs(f, arcs, in, at, err);
	return 0;
}

static int read_records(struct gcno *g, struct gathering *arcs, struct reader *r, struct error *err)
{
	while (r->off < r->n) {
		struct reader in = *r;
		size_t at = r->off;
		uint32_t tag = rd_u32(r);
		uint64_t n = (uint64_t)rd_u32(r) * (unsigned)gcc_unit(g->major);

		if (!rd_bytes(r, n))
			return error_set(err, ERR_CORRUPT,
				"is cut off: record 0x%08" PRIx32 " at byte %zu has %" PRIu64
				" bytes, but the file ends at %zu",
				tag, at, n, r->n);
		in.off = at + 8;
		in.n = at + 8 + (size_t)n;
		if (read_record(g, arcs, tag, &in, at, r->n, err) < 0)
			return -1;
	}
	end_function(g, arcs);
	return 0;
}

static int by_ident(const void *a, const void *b, void *functions)
{
	const struct gcno_function *f = functions;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	if (f[x].ident != f[y].ident)
		return f[x].ident < f[y].ident ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void sort_idents(struct gcno *g)
{
	g->by_ident = xcalloc(g->n_functions + 1, sizeof(*g->by_ident));
	for (size_t i = 0; i < g->n_functions; i++)
		g->by_ident[i] = i;
	qsort_r(g->by_ident, g->n_functions, sizeof(*g->by_ident), by_ident, g->functions);
}

struct gcno *gcno_read(const void *data, size_t n, struct error *err)
{
	struct reader r = reader_of(data, n);
	struct gcc_header h = {0};
	struct gathering arcs = {0};
	struct gcno *g;
	int rc = 0;

	if (gcc_header(&r, GCNO_MAGIC, &h, err) < 0)
		return NULL;
	g = xcalloc(1, sizeof(*g));
	g->arena = xcalloc(1, sizeof(*g->arena));
	g->big = r.big;
	g->version = h.version;
	g->major = h.major;
	g->stamp = h.stamp;
	g->cwd = read_string(g, &r);
	rd_u32(&r); /* whether blocks that never run are told */
	if (r.failed)
		rc = error_set(err, ERR_CORRUPT, "header is cut off: the file ends at byte %zu", n);
	if (rc == 0)
		rc = read_records(g, &arcs, &r, err);
	free(arcs.v);
	if (rc == 0) {
		sort_idents(g);
		return g;
	}
	gcno_free(g);
	return NULL;
}

struct gcno *gcno_read_file(const char *path, struct error *err)
{
	struct file_map m = {0};
	struct gcno *g;

	if (file_map(path, &m, err) < 0)
		return NULL;
	g = gcno_read(m.p, m.n, err);
	file_unmap(&m);
	if (!g)
		error_context(err, "notes '%s'", path);
	return g;
}

void gcno_free(struct gcno *g)
{
	if (!g)
		return;
	free(g->functions);
	free(g->by_ident);
	arena_release(g->arena);
	free(g->arena);
	free(g);
}

const struct gcno_function *gcno_find(const struct gcno *g, uint32_t ident)
{
	size_t low = 0, high = g->n_functions;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (g->functions[g->by_ident[mid]].ident < ident)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == g->n_functions || g->functions[g->by_ident[low]].ident != ident)
		return NULL;
	return &g->functions[g->by_ident[low]];
}

static int check_function(
	const struct gcno *notes, const struct gcda_function *d, size_t i, struct error *err)
{
	const struct gcno_function *f = gcno_find(notes, d->ident);
	const struct gcda_counters *arcs = gcda_find(d, GCDA_ARCS);

	if (!f)
		return error_set(err, ERR_MISMATCH,
			"function %zu has ident %" PRIu32 ", which the .gcno does not have", i,
			d->ident);
	if (f->cfg_checksum != d->cfg_checksum || f->lineno_checksum != d->lineno_checksum)
		return error_set(err, ERR_MISMATCH,
			"function '%s' has checksums 0x%08" PRIx32 " and 0x%08" PRIx32
			", but 0x%08" PRIx32 " and 0x%08" PRIx32 " in the .gcno",
			f->name, d->lineno_checksum, d->cfg_checksum, f->lineno_checksum,
			f->cfg_checksum);
	if (arcs && arcs->n != f->n_counted)
		return error_set(err, ERR_MISMATCH,
			"function '%s' has %" PRIu32 " arc counters, but %" PRIu32
			" arcs in the .gcno need one",
			f->name, arcs->n, f->n_counted);
	return 0;
}

int gcno_check(const struct gcno *notes, const struct gcda *data, struct error *err)
{
	if (notes->version != data->version || notes->stamp != data->stamp)
		return error_set(err, ERR_MISMATCH,
			"has stamp 0x%08" PRIx32 ", but the .gcno beside it has 0x%08" PRIx32
			": they are of two compilations; remove the .gcda and train again",
			data->stamp, notes->stamp);
	for (size_t i = 0; i < data->n_functions; i++)
		if (data->functions[i].present &&
			check_function(notes, &data->functions[i], i, err) < 0)
			return -1;
	return 0;
}
