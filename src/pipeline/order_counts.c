/* The counts of functions by which a link places them: those of the profile, gcc's and LLVM's
 * alike. */
#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "pipeline/run.h"
#include "wrap/order.h"

bool run_is_ordered(const struct run *r)
{
	const struct plan_variant *v = r->track->variant;

	return run_pgo(r)->order != ORDER_NONE && !(v && !v->profile);
}

int run_order_counts(const struct run *r, enum toolchain_mode mode, char **ret, struct error *err)
{
	const struct profile_facts *f = &r->track->profile;
	struct order_weights w = {0};
	auto_buf struct buf text = BUF_INIT;
	auto_free char *path = NULL;
	char hex[SHA256_HEX];
	struct sha256 h;

	if (mode != MODE_OPTIMISED || !run_is_ordered(r))
		return 0;
	for (size_t i = 0; i < f->n; i++)
		order_weights_add(&w, f->v[i].key,
			f->v[i].count > 0 ? f->v[i].count : (double)f->v[i].max_count);
	order_weights_sort(&w);
	order_weights_text(&w, &text);
	order_weights_release(&w);
	sha256_begin(&h);
	sha256_add(&h, buf_str(&text), text.n);
	sha256_end(&h, hex);
	path = xasprintf("%s/%s.counts", r->scratch, hex);
	if (file_write_atomic(path, buf_str(&text), text.n, 0644, err) < 0)
		return -1;
	*ret = take_ptr(path);
	return 0;
}
