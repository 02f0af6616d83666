/* Writing the text form, byte for byte as llvm-profdata does. Older ones refuse lines that they do
 * not know, so those are left out for them. */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "profile/llvm/blocks.h"

struct text_writer {
	const struct profile *p;
	int llvm;
	struct buf *out;
	const struct key **refs; /* all keys, by reference */
};

static int ref_compare(const void *a, const void *b)
{
	const struct key *x = *(const struct key *const *)a, *y = *(const struct key *const *)b;

	return x->ref < y->ref ? -1 : x->ref > y->ref;
}

static const char *name_of(const struct text_writer *w, uint64_t ref)
{
	struct key want = {.ref = ref};
	const struct key *k = &want, **found;

	found = bsearch(&k, w->refs, w->p->n_keys, sizeof(*w->refs), ref_compare);
	return found ? (*found)->name : NULL;
}

/* A reader would take these for something else than a name. */
static bool fits_line(const struct key *k, bool in_traces)
{
	const char *s = k->name;
	size_t digits = strspn(*s == '$' ? s + 1 : s, "0123456789");

	return *s != '#' && *s != ':' && digits != k->n - (*s == '$') && !memchr(s, '\n', k->n) &&
	       s[k->n - 1] != '\r' && !(in_traces && strchr(s, ','));
}

static int check_names(const struct text_writer *w, struct error *err)
{
	for (size_t i = 0; i < w->p->n_keys; i++)
		if (!fits_line(w->p->keys[i], w->p->n_traces))
			return error_set(err, ERR_UNSUPPORTED,
				"the text form cannot hold the name '%s'; write an indexed profile",
				w->p->keys[i]->name);
	return 0;
}

static bool has_names(const struct text_writer *w, const struct trace *t)
{
	for (size_t k = 0; k < t->n; k++)
		if (name_of(w, t->refs[k]))
			return true;
	return false;
}

static void put_trace(struct text_writer *w, const struct trace *t)
{
	buf_addf(w->out, "# Weight:\n%" PRIu64 "\n", t->weight);
	for (size_t k = 0; k < t->n; k++) {
		const char *name = name_of(w, t->refs[k]);

		if (name)
			buf_addf(w->out, "%s,", name);
	}
	buf_addc(w->out, '\n');
}

/* Functions that are no keys have no name here. */
static void put_traces(struct text_writer *w)
{
	const struct profile *p = w->p;
	size_t named = 0;

	for (size_t i = 0; i < p->n_traces; i++)
		named += has_names(w, &p->traces[i]);
	buf_addf(w->out,
		":temporal_prof_traces\n# Num Temporal Profile Traces:\n%zu\n"
		"# Temporal Profile Trace Stream Size:\n%" PRIu64 "\n",
		named, p->trace_stream);
	for (size_t i = 0; i < p->n_traces; i++)
		if (has_names(w, &p->traces[i]))
			put_trace(w, &p->traces[i]);
	buf_addc(w->out, '\n');
}

static void put_header(struct text_writer *w)
{
	uint64_t flags = w->p->flags;

	if (flags & FLAG_CS)
		buf_adds(w->out, "# CSIR level Instrumentation Flag\n:csir\n");
	else if (flags & FLAG_IR)
		buf_adds(w->out, "# IR level Instrumentation Flag\n:ir\n");
	if (flags & FLAG_ENTRY_FIRST)
		buf_adds(w->out, "# Always instrument the function entry block\n:entry_first\n");
	if ((flags & FLAG_BYTE_COVERAGE) && w->llvm >= 17)
		buf_adds(w->out, "# Instrument block coverage\n:single_byte_coverage\n");
	if ((flags & FLAG_LOOP_ENTRIES) && w->llvm >= 20)
		buf_adds(w->out, "# Always instrument the loop entry blocks\n"
				 ":instrument_loop_entries\n");
	if ((flags & FLAG_TEMPORAL) && w->llvm >= 17)
		put_traces(w);
}

static void put_value(struct text_writer *w, int kind, const struct value_datum *d)
{
	const char *name;

	if (kind == VALUE_MEMOP_SIZE) {
		buf_addf(w->out, "%" PRIu64 ":%" PRIu64 "\n", d->value, d->count);
		return;
	}
	name = name_of(w, d->value);
	buf_addf(w->out, "%s:%" PRIu64 "\n", name ? name : "** External Symbol **", d->count);
}

/* The values of a site, targets that are no keys as what they are read as again. */
static uint32_t site_of(struct text_writer *w, int kind, const struct record *r,
	const struct value_site *s, struct value_datum out[SITE_MAX])
{
	uint32_t n = site_order(r, s, out);

	if (kind == VALUE_MEMOP_SIZE)
		return n;
	for (uint32_t i = 0; i < n; i++)
		if (!name_of(w, out[i].value))
			out[i].value = 0;
	order_saturated(out, n);
	return n;
}

static void put_values(struct text_writer *w, const struct record *r)
{
	static const char *const names[] = {
		"IPVK_IndirectCallTarget", "IPVK_MemOPSize", "IPVK_VTableTarget"};
	int known = w->llvm >= 19 ? 3 : 2, used = 0;
	const struct value_site *site = r->sites;

	for (int kind = 0; kind < known; kind++)
		used += r->n_sites[kind] != 0;
	if (!used)
		return;
	buf_addf(w->out, "# Num Value Kinds:\n%d\n", used);
	for (int kind = 0; kind < known; kind++) {
		if (r->n_sites[kind])
			buf_addf(w->out, "# ValueKind = %s:\n%d\n# NumValueSites:\n%u\n",
				names[kind], kind, r->n_sites[kind]);
		for (uint32_t s = 0; s < r->n_sites[kind]; s++, site++) {
			struct value_datum v[SITE_MAX];
			uint32_t n = site_of(w, kind, r, site, v);

			buf_addf(w->out, "%u\n", n);
			for (uint32_t i = 0; i < n; i++)
				put_value(w, kind, &v[i]);
		}
	}
}

static void put_record(struct text_writer *w, const struct record *r)
{
	buf_addf(w->out, "%s\n# Func Hash:\n%" PRIu64 "\n# Num Counters:\n%u\n# Counter Values:\n",
		r->key->name, r->hash, r->n_counts);
	for (uint32_t i = 0; i < r->n_counts; i++)
		buf_addf(w->out, "%" PRIu64 "\n", r->counts[i]);
	if (r->n_bitmap && w->llvm >= 18) {
		buf_addf(w->out, "# Num Bitmap Bytes:\n$%u\n# Bitmap Byte Values:\n", r->n_bitmap);
		for (uint32_t i = 0; i < r->n_bitmap; i++)
			buf_addf(w->out, "0x%x\n", r->bitmap[i]);
		buf_addc(w->out, '\n');
	}
	put_values(w, r);
	buf_addc(w->out, '\n');
}

static int put_visited(void *ctx, const struct record *r)
{
	struct text_writer *w = ctx;

	/* The form has no record without counters. */
	if (r->n_counts)
		put_record(w, r);
	return 0;
}

/* Readers know the form by its first bytes, which must be plain ASCII; without a header they are
 * those of a function's name. */
static void make_recognisable(struct buf *out)
{
	static const char first[] = "# Front-end counters\n";

	if (!out->n || text_magic((const uint8_t *)out->p, out->n))
		return;
	buf_adds(out, first);
	memmove(out->p + sizeof(first) - 1, out->p, out->n - (sizeof(first) - 1));
	memcpy(out->p, first, sizeof(first) - 1);
}

int profile_encode_text(const struct profile *p, int llvm, struct buf *out, struct error *err)
{
	struct text_writer w = {.p = p, .llvm = llvm, .out = out};
	int rc = check_names(&w, err);

	if (rc < 0)
		return rc;
	w.refs = xreallocarray(NULL, p->n_keys + 1, sizeof(*w.refs));
	if (p->n_keys)
		memcpy(w.refs, p->keys, p->n_keys * sizeof(*w.refs));
	qsort(w.refs, p->n_keys, sizeof(*w.refs), ref_compare);
	out->max = SIZE_MAX / 2;
	put_header(&w);
	profile_each_record(p, put_visited, &w);
	free(w.refs);
	make_recognisable(out);
	return 0;
}

int profile_write_text(struct profile *p, int llvm_major, const char *path, struct error *err)
{
	auto_buf struct buf out = BUF_INIT;

	if (profile_encode_text(p, llvm_major, &out, err) < 0)
		return error_context(err, "text profile '%s'", path);
	return file_write_atomic(path, out.p, out.n, 0644, err);
}
