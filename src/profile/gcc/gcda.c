/* Reading a .gcda: header, object summary, functions with their counters, end mark. */
#include "profile/gcc/gcda.h"

#include <inttypes.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/reader.h"
#include "profile/gcc/format.h"
#include "profile/model.h"

static const char *const kind_names[GCDA_KINDS] = {"arcs", "interval", "pow2", "topn",
	"indirect_call", "average", "ior", "time_profiler", "conditions", "paths"};

const char *gcda_kind_name(unsigned kind)
{
	return kind < GCDA_KINDS ? kind_names[kind] : "unknown";
}

bool gcda_has_sites(unsigned kind)
{
	return kind == GCDA_TOPN || kind == GCDA_INDIRECT;
}

static bool magic_of(const uint8_t *data, size_t n, uint32_t magic, bool *big)
{
	struct reader r = reader_of(data, n);
	uint32_t word = rd_u32(&r);

	*big = word == __builtin_bswap32(magic);
	return !r.failed && (*big || word == magic);
}

bool gcda_magic(const uint8_t *data, size_t n)
{
	bool big;

	return magic_of(data, n, GCDA_MAGIC, &big);
}

unsigned gcda_major(uint32_t version)
{
	unsigned tens = version >> 24, ones = version >> 16 & 0xff, minor = version >> 8 & 0xff;

	if (tens < 'A' || tens > 'Z' || ones < '0' || ones > '9' || minor < '0' || minor > '9')
		return 0;
	return (tens - 'A') * 10 + (ones - '0');
}

char *gcda_version_text(uint32_t version)
{
	char c[5] = {0};

	if (!gcda_major(version))
		return xasprintf("version word 0x%08" PRIx32, version);
	for (int i = 0; i < 4; i++)
		c[i] = (char)(version >> (24 - 8 * i));
	if (c[3] < ' ' || c[3] > '~')
		c[3] = '?';
	return xasprintf("gcc %u.%c (%s)", gcda_major(version), c[2], c);
}

int gcc_header(struct reader *r, uint32_t magic, struct gcc_header *ret, struct error *err)
{
	auto_free char *text = NULL;

	if (r->n == 0)
		return error_set(err, ERR_CORRUPT,
			"is empty: the process that should have written it was killed, or never "
			"reached its exit");
	if (magic == GCDA_MAGIC && magic_of(r->p, r->n, GCNO_MAGIC, &r->big))
		return error_set(
			err, ERR_CORRUPT, "is a .gcno file, which holds no counts: name the .gcda");
	if (!magic_of(r->p, r->n, magic, &r->big))
		return error_set(err, ERR_CORRUPT, "is no %s file: its first bytes are not '%s'",
			magic == GCDA_MAGIC ? ".gcda" : ".gcno",
			magic == GCDA_MAGIC ? "adcg' or 'gcda" : "oncg' or 'gcno");
	rd_u32(r);
	ret->version = rd_u32(r);
	ret->stamp = rd_u32(r);
	ret->major = gcda_major(ret->version);
	if (r->failed)
		return error_set(
			err, ERR_CORRUPT, "header is cut off: the file ends at byte %zu", r->n);
	text = gcda_version_text(ret->version);
	if (ret->major < GCC_OLDEST || ret->major > GCC_NEWEST)
		return error_set(err, ERR_UNSUPPORTED,
			"was written by %s; files of gcc %d to %d are read", text, GCC_OLDEST,
			GCC_NEWEST);
	ret->checksum = gcc_has_checksum(ret->major) ? rd_u32(r) : 0;
	if (r->failed)
		return error_set(
			err, ERR_CORRUPT, "header is cut off: the file ends at byte %zu", r->n);
	return 0;
}

/* A record's tag and its length in bytes; a negative one says that the content is all zeros. */
struct tag {
	size_t at;
	uint32_t tag;
	int64_t n;
};

static int read_tag(struct reader *r, unsigned major, struct tag *ret, struct error *err)
{
	*ret = (struct tag){.at = r->off, .tag = rd_u32(r)};
	if (r->failed)
		return error_set(err, ERR_CORRUPT,
			"is cut off: a record or the end mark is expected at byte %zu, but the "
			"file "
			"ends at %zu",
			ret->at, r->n);
	if (ret->tag == 0)
		return 0;
	ret->n = (int64_t)(int32_t)rd_u32(r) * gcc_unit(major);
	if (r->failed || ret->n > (int64_t)(r->n - r->off))
		return error_set(err, ERR_CORRUPT,
			"is cut off: record 0x%08" PRIx32 " at byte %zu has %" PRId64
			" bytes, but the file ends at %zu",
			ret->tag, ret->at, ret->n, r->n);
	return 0;
}

static void *alloc(struct gcda *g, size_t n, size_t size)
{
	return n ? arena_zalloc(g->arena, n * size) : NULL;
}

static uint64_t read_count(struct reader *r)
{
	uint64_t low = rd_u32(r), high = rd_u32(r);

	return high << 32 | low;
}

/* Counts that are added up; the rest are values or bits. */
static bool is_count(unsigned kind)
{
	return kind == GCDA_ARCS || kind == GCDA_INTERVAL || kind == GCDA_POW2 ||
	       kind == GCDA_AVERAGE || kind == GCDA_TIME;
}

static int read_array(struct gcda *g, struct reader *r, struct gcda_counters *c,
	const struct tag *t, struct error *err)
{
	c->n = (uint32_t)(t->n / 8);
	c->v = alloc(g, c->n, sizeof(*c->v));
	for (uint32_t i = 0; i < c->n; i++) {
		c->v[i] = read_count(r);
		if (c->v[i] > GCDA_COUNT_MAX && is_count(c->kind))
			return error_set(err, ERR_CORRUPT,
				"%s counter %" PRIu32 " at byte %zu is negative (%" PRId64
				"): the file is damaged",
				kind_names[c->kind], i, r->off - 8, (int64_t)c->v[i]);
	}
	return 0;
}

/* One site is its total, the number of its values, and the values with their counts. */
static int read_site(struct gcda *g, struct reader *r, struct gcda_site *s, struct error *err)
{
	size_t at = r->off;
	int64_t total = (int64_t)read_count(r);
	uint64_t n = read_count(r);

	if (r->failed || n > (r->n - r->off) / 16 || total == INT64_MIN)
		return error_set(err, ERR_CORRUPT,
			"value site at byte %zu has a total of %" PRId64 " and %" PRIu64
			" values, which do not fit into its record (it ends at byte %zu)",
			at, total, n, r->n);
	s->dropped = total < 0;
	s->total = (uint64_t)(total < 0 ? -total : total);
	s->n = (uint32_t)n;
	s->v = alloc(g, s->n, sizeof(*s->v));
	for (uint32_t i = 0; i < s->n; i++) {
		s->v[i].value = (int64_t)read_count(r);
		s->v[i].count = read_count(r);
		if (s->v[i].count > GCDA_COUNT_MAX)
			return error_set(err, ERR_CORRUPT,
				"value %" PRIu32
				" of the site at byte %zu has a negative count: the "
				"file is damaged",
				i, at);
	}
	return 0;
}

static int read_sites(struct gcda *g, struct reader *r, struct gcda_counters *c,
	const struct tag *t, struct error *err)
{
	struct reader in = *r;
	uint32_t n = 0;

	in.n = r->off + (size_t)t->n;
	for (struct reader count = in; count.off < count.n && !count.failed; n++) {
		uint64_t values;

		read_count(&count);
		values = read_count(&count);
		rd_bytes(&count, values <= count.n / 16 ? values * 16 : UINT64_MAX);
	}
	c->n = n;
	c->sites = alloc(g, n, sizeof(*c->sites));
	for (uint32_t i = 0; i < n; i++)
		if (read_site(g, &in, &c->sites[i], err) < 0)
			return -1;
	r->off = in.n;
	return 0;
}

static int read_counters(struct gcda *g, struct reader *r, struct gcda_counters *c,
	const struct tag *t, struct error *err)
{
	unsigned width = gcda_has_sites(c->kind) ? 16 : 8;
	uint64_t n = (uint64_t)(t->n < 0 ? -t->n : t->n);

	if (n % 8 || (t->n < 0 && n % width))
		return error_set(err, ERR_CORRUPT,
			"%s counters at byte %zu have %" PRIu64
			" bytes, which is no multiple of %u",
			kind_names[c->kind], t->at, n, width);
	if (t->n < 0) {
		c->elided = true;
		c->n = (uint32_t)(n / width);
		return 0;
	}
	return gcda_has_sites(c->kind) ? read_sites(g, r, c, t, err) : read_array(g, r, c, t, err);
}

/* Conditions came with gcc 14 and paths with gcc 15; not tested with their compilers. */
static unsigned kinds_of(unsigned major)
{
	return major >= 15 ? GCDA_KINDS : major == 14 ? GCDA_PATHS : GCDA_CONDITIONS;
}

static bool is_counter(uint32_t tag, unsigned major, uint8_t *kind)
{
	uint32_t k = (tag - TAG_COUNTERS) >> 17;

	*kind = (uint8_t)k;
	return tag >= TAG_COUNTERS && (tag - TAG_COUNTERS) % (1U << 17) == 0 && k < kinds_of(major);
}

/* All counters of the function up to the next function or the end mark; *t is read already. */
static int read_kinds(
	struct gcda *g, struct reader *r, struct gcda_function *f, struct tag *t, struct error *err)
{
	struct gcda_counters got[GCDA_KINDS] = {{0}};
	int last = -1;
	uint8_t kind;

	for (; is_counter(t->tag, g->major, &kind); last = kind) {
		if (kind <= last)
			return error_set(err, ERR_CORRUPT,
				"%s counters at byte %zu follow those of %s: they are out of order",
				kind_names[kind], t->at, kind_names[last]);
		got[f->n].kind = kind;
		if (read_counters(g, r, &got[f->n++], t, err) < 0 ||
			read_tag(r, g->major, t, err) < 0)
			return -1;
	}
	f->v = alloc(g, f->n, sizeof(*f->v));
	if (f->n)
		memcpy(f->v, got, f->n * sizeof(*f->v));
	return 0;
}

static int read_function(struct gcda *g, struct reader *r, struct tag *t, struct error *err)
{
	struct gcda_function f = {.present = t->n != 0};

	if (t->n != 0 && t->n != 12)
		return error_set(err, ERR_CORRUPT,
			"function record at byte %zu has %" PRId64 " bytes, expected 12 or none",
			t->at, t->n);
	if (f.present) {
		f.ident = rd_u32(r);
		f.lineno_checksum = rd_u32(r);
		f.cfg_checksum = rd_u32(r);
	}
	if (read_tag(r, g->major, t, err) < 0 || (f.present && read_kinds(g, r, &f, t, err) < 0))
		return error_context(err, "function %zu", g->n_functions);
	array_reserve(g->functions, g->n_functions, g->cap_functions);
	g->functions[g->n_functions++] = f;
	return 0;
}

static int read_content(struct gcda *g, struct reader *r, struct error *err)
{
	struct tag t;

	if (read_tag(r, g->major, &t, err) < 0)
		return -1;
	if (t.tag != TAG_SUMMARY || t.n != 8)
		return error_set(err, ERR_CORRUPT,
			"object summary of 8 bytes expected at byte %zu, not record 0x%08" PRIx32
			" of %" PRId64,
			t.at, t.tag, t.n);
	g->runs = rd_u32(r);
	g->sum_max = rd_u32(r);
	if (read_tag(r, g->major, &t, err) < 0)
		return -1;
	while (t.tag == TAG_FUNCTION)
		if (read_function(g, r, &t, err) < 0)
			return -1;
	if (t.tag)
		return error_set(err, ERR_CORRUPT,
			"record at byte %zu has tag 0x%08" PRIx32
			"; expected a function (0x01000000), counters of it, or the end mark (0)",
			t.at, t.tag);
	g->end = r->off;
	return 0;
}

struct gcda *gcda_read(const void *data, size_t n, struct error *err)
{
	struct reader r = reader_of(data, n);
	struct gcda *g;
	struct gcc_header h = {0};

	if (gcc_header(&r, GCDA_MAGIC, &h, err) < 0)
		return NULL;
	g = xcalloc(1, sizeof(*g));
	g->arena = xcalloc(1, sizeof(*g->arena));
	g->big = r.big;
	g->version = h.version;
	g->major = h.major;
	g->stamp = h.stamp;
	g->checksum = h.checksum;
	if (read_content(g, &r, err) < 0) {
		gcda_free(g);
		return NULL;
	}
	return g;
}

struct gcda *gcda_read_file(const char *path, struct error *err)
{
	struct file_map m = {0};
	struct gcda *g;

	if (file_map(path, &m, err) < 0)
		return NULL;
	g = gcda_read(m.p, m.n, err);
	file_unmap(&m);
	if (!g)
		error_context(err, "profile '%s'", path);
	return g;
}

void gcda_free(struct gcda *g)
{
	if (!g)
		return;
	free(g->functions);
	arena_release(g->arena);
	free(g->arena);
	free(g);
}
