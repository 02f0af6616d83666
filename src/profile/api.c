/* The installed library: include/whet/profile.h over the engine. */
#include <stdlib.h>
#include <string.h>
#include <whet/profile.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "profile/compare.h"
#include "profile/gcc/gcda.h"
#include "profile/model.h"

struct whet_profile {
	struct profile *p;
};

struct whet_gcda {
	struct gcda *g;
};

const char *whet_version(void)
{
	return WHET_VERSION;
}

/* ---- Errors and options --------------------------------------------------------------------- */

static enum whet_result result_of(enum error_code code)
{
	switch (code) {
	case ERR_USAGE:
	case ERR_CONFIG:
		return WHET_INVALID;
	case ERR_IO:
	case ERR_ENVIRONMENT:
		return WHET_IO;
	case ERR_CORRUPT:
		return WHET_CORRUPT;
	case ERR_UNSUPPORTED:
		return WHET_UNSUPPORTED;
	case ERR_MISMATCH:
		return WHET_MISMATCH;
	default:
		return WHET_INTERNAL;
	}
}

/* Hands an own error out and drops it. Returns its code. */
static int fail(struct whet_error *err, struct error *own)
{
	enum whet_result r = result_of(own->code);

	if (err) {
		size_t n = own->msg ? strlen(own->msg) : 0;

		if (n >= sizeof(err->message))
			n = sizeof(err->message) - 1;
		err->code = r;
		memcpy(err->message, own->msg ? own->msg : "", n);
		err->message[n] = '\0';
	}
	error_release(own);
	return r;
}

/* Copies what the caller knows of an option struct; what a newer caller set beyond is refused, it
 * would be ignored otherwise. */
static int options(void *to, size_t n, const void *from, struct error *err)
{
	const unsigned char *bytes = from;
	size_t size;

	if (!from)
		return 0;
	memcpy(&size, from, sizeof(size));
	if (size < sizeof(size))
		return error_set(err, ERR_USAGE,
			"the size of an option struct is %zu: set it with its ..._INIT", size);
	for (size_t i = n; i < size; i++)
		if (bytes[i])
			return error_set(err, ERR_UNSUPPORTED,
				"an option is set that libwhet-profile %s does not have",
				WHET_VERSION);
	memcpy(to, from, size < n ? size : n);
	return 0;
}

static int weight_of(const struct whet_add_options *o, uint64_t *ret, struct error *err)
{
	struct whet_add_options own = WHET_ADD_OPTIONS_INIT;

	if (options(&own, sizeof(own), o, err) < 0)
		return -1;
	*ret = own.weight ? own.weight : 1;
	return 0;
}

static int hand_out(struct buf *b, void **data, size_t *n, struct error *err)
{
	if (buf_failed(b))
		return error_set(err, ERR_UNSUPPORTED, "the result is larger than %zu bytes",
			b->max ? b->max : BUF_MAX_DEFAULT);
	*n = b->n;
	*data = buf_detach(b);
	return 0;
}

/* ---- LLVM profiles -------------------------------------------------------------------------- */

struct whet_profile *whet_profile_new(void)
{
	struct whet_profile *p = xcalloc(1, sizeof(*p));

	p->p = profile_new();
	return p;
}

void whet_profile_free(struct whet_profile *p)
{
	if (!p)
		return;
	profile_free(p->p);
	free(p);
}

int whet_profile_add_file(struct whet_profile *p, const char *path,
	const struct whet_add_options *o, struct whet_error *err)
{
	struct error own = ERROR_INIT;
	uint64_t weight;

	if (weight_of(o, &weight, &own) < 0 || profile_add_file(p->p, path, weight, NULL, &own) < 0)
		return fail(err, &own);
	return WHET_OK;
}

int whet_profile_add_bytes(struct whet_profile *p, const void *data, size_t n,
	const struct whet_add_options *o, struct whet_error *err)
{
	struct error own = ERROR_INIT;
	uint64_t weight;

	if (weight_of(o, &weight, &own) < 0 ||
		profile_add_bytes(p->p, data, n, weight, NULL, &own) < 0)
		return fail(err, &own);
	return WHET_OK;
}

static int choose_consumer(const struct whet_write_options *w, int *llvm, struct error *err)
{
	*llvm = w->consumer ? profile_llvm_of(w->consumer) : PROFILE_LLVM_NEWEST;
	if (*llvm < 0)
		return error_set(err, ERR_USAGE,
			"consumer '%s': expected clang-N or llvm-N with N from %d, or rustc-1.N",
			w->consumer, PROFILE_LLVM_OLDEST);
	if (w->form != WHET_INDEXED && w->form != WHET_TEXT)
		return error_set(err, ERR_USAGE, "form %d is not known", (int)w->form);
	return 0;
}

static int encode(const struct profile *p, const struct whet_write_options *o, struct buf *out,
	struct error *err)
{
	struct whet_write_options w = WHET_WRITE_OPTIONS_INIT;
	struct profile *copy;
	int llvm, r;

	if (options(&w, sizeof(w), o, err) < 0 || choose_consumer(&w, &llvm, err) < 0)
		return -1;
	if (llvm == PROFILE_LLVM_NEWEST)
		return w.form == WHET_TEXT ? profile_encode_text(p, llvm, out, err)
					   : profile_encode_indexed(
						     p, profile_version_for_llvm(llvm), out, err);
	if (profile_copy_for_llvm(p, llvm, &copy, err) < 0)
		return -1;
	r = w.form == WHET_TEXT
		    ? profile_encode_text(copy, llvm, out, err)
		    : profile_encode_indexed(copy, profile_version_for_llvm(llvm), out, err);
	profile_free(copy);
	return r;
}

int whet_profile_write_file(const struct whet_profile *p, const char *path,
	const struct whet_write_options *o, struct whet_error *err)
{
	auto_buf struct buf b = BUF_INIT;
	struct error own = ERROR_INIT;

	if (encode(p->p, o, &b, &own) < 0 ||
		file_write_atomic(path, buf_str(&b), b.n, 0644, &own) < 0)
		return fail(err, &own);
	return WHET_OK;
}

int whet_profile_write_bytes(const struct whet_profile *p, const struct whet_write_options *o,
	void **data, size_t *n, struct whet_error *err)
{
	auto_buf struct buf b = BUF_INIT;
	struct error own = ERROR_INIT;

	if (encode(p->p, o, &b, &own) < 0 || hand_out(&b, data, n, &own) < 0)
		return fail(err, &own);
	return WHET_OK;
}

int whet_profile_summarise(
	const struct whet_profile *p, struct whet_profile_summary *ret, struct whet_error *err)
{
	struct whet_profile_summary all = WHET_PROFILE_SUMMARY_INIT;
	struct error own = ERROR_INIT;
	struct profile_summary s;
	size_t size = ret->size;

	if (size < sizeof(size) || size > sizeof(all)) {
		error_set(&own, ERR_USAGE,
			"the size of the summary is %zu, expected at most %zu: set it with "
			"its ..._INIT",
			size, sizeof(all));
		return fail(err, &own);
	}
	profile_summary(p->p, &s);
	all.functions = s.functions;
	all.executed = s.executed;
	all.counters = s.counters;
	all.total_count = s.total_count;
	all.max_count = s.max_count;
	all.is_ir = s.ir;
	all.is_context_sensitive = s.context_sensitive;
	all.size = size;
	memcpy(ret, &all, size);
	return WHET_OK;
}

int whet_profile_each(const struct whet_profile *p, whet_profile_visit *visit, void *context)
{
	return profile_each(p->p, visit, context);
}

int whet_profile_overlap(const struct whet_profile *base, const struct whet_profile *test,
	double *ret, struct whet_error *err)
{
	struct profile_overlap all;
	struct error own = ERROR_INIT;

	if (profile_overlap(base->p, test->p, false, &all, NULL, NULL, &own) < 0)
		return fail(err, &own);
	*ret = all.share.edges;
	return WHET_OK;
}

/* ---- GCC profiles --------------------------------------------------------------------------- */

static struct whet_gcda *gcda_handle(struct gcda *g, struct error *own, struct whet_error *err)
{
	struct whet_gcda *h;

	if (!g) {
		(void)fail(err, own);
		return NULL;
	}
	h = xcalloc(1, sizeof(*h));
	h->g = g;
	return h;
}

struct whet_gcda *whet_gcda_read_file(const char *path, struct whet_error *err)
{
	struct error own = ERROR_INIT;

	return gcda_handle(gcda_read_file(path, &own), &own, err);
}

struct whet_gcda *whet_gcda_read_bytes(const void *data, size_t n, struct whet_error *err)
{
	struct error own = ERROR_INIT;

	return gcda_handle(gcda_read(data, n, &own), &own, err);
}

void whet_gcda_free(struct whet_gcda *g)
{
	if (!g)
		return;
	gcda_free(g->g);
	free(g);
}

int whet_gcda_merge(struct whet_gcda *into, const struct whet_gcda *from,
	const struct whet_add_options *o, struct whet_error *err)
{
	struct error own = ERROR_INIT;
	uint64_t weight;

	if (weight_of(o, &weight, &own) < 0 || gcda_merge(into->g, from->g, weight, &own) < 0)
		return fail(err, &own);
	return WHET_OK;
}

int whet_gcda_write_file(const struct whet_gcda *g, const char *path, struct whet_error *err)
{
	struct error own = ERROR_INIT;

	return gcda_write_file(g->g, path, &own) < 0 ? fail(err, &own) : WHET_OK;
}

int whet_gcda_write_bytes(const struct whet_gcda *g, void **data, size_t *n, struct whet_error *err)
{
	auto_buf struct buf b = BUF_INIT;
	struct error own = ERROR_INIT;

	if (gcda_write(g->g, &b, &own) < 0 || hand_out(&b, data, n, &own) < 0)
		return fail(err, &own);
	return WHET_OK;
}
