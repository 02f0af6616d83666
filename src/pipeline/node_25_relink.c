/* Relinks: the same objects with other layouts, to measure what a layout alone changes. The wrapper
 * makes them while the build links (wrap/shim_relink.c); here they are asked for and taken. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "pipeline/layout.h"

int node_relink_probe(struct run *r, struct error *err)
{
	const struct compiler *main = run_main_compiler(r);
	struct error why = ERROR_INIT;

	if (!r->plan.bench.relinks ||
		toolchain_find_lld(r->compilers, r->n_compilers, main ? main->llvm : 0,
			getenv("PATH"), &r->relinker, &why) == 0)
		return 0;
	if (error_is_no_answer(&why))
		return error_move(err, &why);
	r->no_relinks = xstrdup(why.msg);
	events_warning(r->o->events, "no relinks: %s", why.msg);
	error_release(&why);
	return 0;
}

uint32_t node_relink_count(const struct run *r, enum toolchain_mode mode)
{
	/* Of the plan's own: what a layout alone changes is much the same for a variant. */
	return r->relinker.path && mode != MODE_INSTRUMENTED && !r->track->variant
		       ? r->plan.bench.relinks
		       : 0;
}

static int take_one(struct build_out *out, const struct wrap_node *w, const struct binary_fact *b,
	uint32_t i, struct error *err)
{
	auto_free char *why = NULL;
	auto_free char *from = wrap_relink(&out->facts.log, w, b->link, i, &why);
	auto_free char *folder = xasprintf("%s/relinks/%" PRIu32, out->folder, i);
	auto_free char *to = path_join(folder, b->name);

	if (!from) {
		out->no_relinks = xasprintf("'%s': %s", b->name, why);
		return 0;
	}
	return dir_create(folder, 0755, err) < 0 ? -1 : file_copy(from, to, 0755, err);
}

/* Whether the first two differ, as padding at random makes all of them. */
static int check_padding(struct build_out *out, const struct binary_fact *b, struct error *err)
{
	auto_free char *first = xasprintf("%s/relinks/1/%s", out->folder, b->name);
	auto_free char *second = xasprintf("%s/relinks/2/%s", out->folder, b->name);
	char one[SHA256_HEX], other[SHA256_HEX];

	if (sha256_file(first, one, err) < 0 || sha256_file(second, other, err) < 0)
		return -1;
	if (strcmp(one, other) == 0)
		out->no_relinks = xasprintf("'%s': padding changes nothing in it", b->name);
	return 0;
}

int node_relink_take(struct build_out *out, const struct wrap_node *w, struct error *err)
{
	const struct build_facts *f = &out->facts;

	for (size_t b = 0; w->relinks && b < f->n_binaries; b++) {
		for (uint32_t i = 1; i <= w->relinks && !out->no_relinks; i++)
			if (take_one(out, w, &f->binaries[b], i, err) < 0)
				return -1;
		if (!out->no_relinks && check_padding(out, &f->binaries[b], err) < 0)
			return -1;
	}
	return layout_take_relocs(out, w, err);
}
