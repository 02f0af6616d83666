/* Writing a .gcda. What was only read goes out as it came; what was merged in one canonical form.
 */
#include <inttypes.h>

#include "base/file.h"
#include "base/mem.h"
#include "profile/gcc/format.h"
#include "profile/gcc/gcda.h"
#include "profile/gcc/sites.h"

struct writer {
	const struct gcda *g;
	struct buf *out;
};

static void put(struct writer *w, uint32_t v)
{
	if (w->g->big)
		v = __builtin_bswap32(v);
	buf_add(w->out, &v, sizeof(v));
}

static void put_count(struct writer *w, uint64_t v)
{
	put(w, (uint32_t)v);
	put(w, (uint32_t)(v >> 32));
}

/* bytes may be negative: that many of zeros, which are left out */
static void put_tag(struct writer *w, uint32_t tag, int64_t bytes)
{
	put(w, tag);
	put(w, (uint32_t)(bytes / gcc_unit(w->g->major)));
}

static bool all_zero(const struct gcda_counters *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->v[i])
			return false;
	return true;
}

static void put_array(struct writer *w, uint32_t tag, const struct gcda_counters *c)
{
	if (c->elided || (w->g->merged && all_zero(c))) {
		put_tag(w, tag, -8 * (int64_t)c->n);
		return;
	}
	put_tag(w, tag, 8 * (int64_t)c->n);
	for (uint32_t i = 0; i < c->n; i++)
		put_count(w, c->v[i]);
}

static void put_site(struct writer *w, const struct gcda_site *s)
{
	put_count(w, s->dropped ? -s->total : s->total);
	put_count(w, s->n);
	for (uint32_t i = 0; i < s->n; i++) {
		put_count(w, (uint64_t)s->v[i].value);
		put_count(w, s->v[i].count);
	}
}

static void put_sites(struct writer *w, uint32_t tag, const struct gcda_counters *c)
{
	int64_t bytes = 16 * (int64_t)c->n;

	if (c->elided) {
		put_tag(w, tag, -bytes);
		return;
	}
	for (uint32_t i = 0; i < c->n; i++)
		bytes += 16 * (int64_t)c->sites[i].n;
	put_tag(w, tag, bytes);
	for (uint32_t i = 0; i < c->n; i++) {
		struct gcda_site s = c->sites[i];
		auto_free struct gcda_value *sorted = NULL;

		if (w->g->merged)
			s.v = sorted = site_in_order(&s);
		put_site(w, &s);
	}
}

static void put_function(struct writer *w, const struct gcda_function *f)
{
	put_tag(w, TAG_FUNCTION, f->present ? 12 : 0);
	if (!f->present)
		return;
	put(w, f->ident);
	put(w, f->lineno_checksum);
	put(w, f->cfg_checksum);
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t tag = TAG_COUNTERS + ((uint32_t)f->v[i].kind << 17);

		if (gcda_has_sites(f->v[i].kind))
			put_sites(w, tag, &f->v[i]);
		else
			put_array(w, tag, &f->v[i]);
	}
}

int gcda_write(const struct gcda *g, struct buf *out, struct error *err)
{
	struct writer w = {g, out};

	put(&w, GCDA_MAGIC);
	put(&w, g->version);
	put(&w, g->stamp);
	if (gcc_has_checksum(g->major))
		put(&w, g->checksum);
	put_tag(&w, TAG_SUMMARY, 8);
	put(&w, g->runs);
	put(&w, g->sum_max);
	for (size_t i = 0; i < g->n_functions; i++)
		put_function(&w, &g->functions[i]);
	put(&w, 0);
	if (buf_failed(out))
		return error_set(err, ERR_UNSUPPORTED,
			"the merged .gcda is larger than %zu bytes, more than whet writes",
			out->max ? out->max : BUF_MAX_DEFAULT);
	return 0;
}

int gcda_write_file(const struct gcda *g, const char *path, struct error *err)
{
	auto_buf struct buf b = BUF_INIT;

	if (gcda_write(g, &b, err) < 0)
		return error_context(err, "'%s'", path);
	return file_write_atomic(path, b.p, b.n, 0644, err);
}
