/* Value lists lie in sections of their own, unless the program was built with dynamic allocation
 * (-vp-static-alloc=false): then heads and elements come from malloc. They change while the process
 * runs, so they are followed while it stands, one generation of elements in each step. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "snapshot/internal.h"

#define LENGTH_MAX 255         /* of a list, as far as a profile holds it */
#define OUTSIDE_MAX (1u << 22) /* elements that are read one by one */

struct frontier {
	const struct copies *known; /* the sections, sorted */
	uint64_t *v;
	size_t n, cap;
	uint64_t *heads; /* pairs: address, how many */
	size_t n_heads, cap_heads;
};

static void note_node(struct frontier *f, uint64_t at)
{
	if (!at || copies_look(f->known, at, RAW_NODE))
		return;
	array_reserve(f->v, f->n, f->cap);
	f->v[f->n++] = at;
}

static void note_heads(void *ctx, uint64_t at, size_t n)
{
	struct frontier *f = ctx;

	if (copies_look(f->known, at, 8 * n))
		return;
	array_reserve(f->heads, f->n_heads + 1, f->cap_heads);
	f->heads[f->n_heads++] = at;
	f->heads[f->n_heads++] = n;
}

static void note_pointers(struct frontier *f, const uint8_t *p, size_t n, size_t step)
{
	for (size_t k = 0; p && k + 8 <= n; k += step) {
		uint64_t at;

		memcpy(&at, p + k, 8);
		note_node(f, at);
	}
}

static void note_sections(struct frontier *f, const struct images *images)
{
	for (size_t i = 0; i < images->n; i++) {
		const struct image *m = &images->v[i];
		const uint8_t *nodes = m->copies[ELF_PRF_NODES];
		struct raw_sections s;

		image_sections(m, &s);
		raw_lists_each(&s, &m->records, note_heads, f);
		note_pointers(f, m->copies[ELF_PRF_VALUES], m->elf.v[ELF_PRF_VALUES].n, 8);
		note_pointers(f, nodes ? nodes + RAW_NODE_NEXT : NULL,
			nodes && m->elf.v[ELF_PRF_NODES].n > RAW_NODE_NEXT
				? m->elf.v[ELF_PRF_NODES].n - RAW_NODE_NEXT
				: 0,
			RAW_NODE);
	}
}

/* Reads the heads outside, and notes what they lead to. */
static int read_heads(
	struct copies *c, struct frontier *f, pid_t tid, struct copies *more, struct error *err)
{
	for (size_t k = 0; k < f->n_heads; k += 2)
		copies_want(more, f->heads[k], 8 * f->heads[k + 1]);
	if (copies_read(more, 0, tid, err) < 0)
		return -1;
	for (size_t k = 0; k < more->n; k++)
		note_pointers(f, more->v[k].p, more->v[k].n, 8);
	return 0;
}

/* Reads one generation of elements into one block; the next one becomes the frontier. */
static int read_nodes(struct frontier *f, pid_t tid, struct copies *more, struct error *err)
{
	size_t n = f->n, from = more->n;
	uint8_t *block = xmalloc(n * RAW_NODE);

	array_reserve(more->blocks, more->n_blocks, more->cap_blocks);
	more->blocks[more->n_blocks++] = block;
	for (size_t k = 0; k < n; k++) {
		array_reserve(more->v, more->n, more->cap);
		more->v[more->n++] = (struct copy){f->v[k], RAW_NODE, block + k * RAW_NODE};
	}
	if (copies_read(more, from, tid, err) < 0)
		return -1;
	f->n = 0;
	note_pointers(f, block + RAW_NODE_NEXT, n * RAW_NODE - RAW_NODE_NEXT, RAW_NODE);
	return 0;
}

static void join(struct copies *to, struct copies *from)
{
	for (size_t k = 0; k < from->n; k++) {
		array_reserve(to->v, to->n, to->cap);
		to->v[to->n++] = from->v[k];
	}
	for (size_t k = 0; k < from->n_blocks; k++) {
		array_reserve(to->blocks, to->n_blocks, to->cap_blocks);
		to->blocks[to->n_blocks++] = from->blocks[k];
	}
	from->n_blocks = 0;
	copies_release(from);
}

int lists_read(struct copies *c, const struct images *images, pid_t tid, struct error *err)
{
	struct frontier f = {.known = c};
	struct copies more = {0};
	int rc;

	note_sections(&f, images);
	rc = f.n_heads ? read_heads(c, &f, tid, &more, err) : 0;
	for (int k = 0; k < LENGTH_MAX && f.n && rc == 0; k++) {
		if (more.n + f.n > OUTSIDE_MAX)
			rc = error_set(err, ERR_UNSUPPORTED,
				"its value lists have more than %u elements outside their "
				"sections",
				OUTSIDE_MAX);
		else
			rc = read_nodes(&f, tid, &more, err);
	}
	free(f.v);
	free(f.heads);
	join(c, &more);
	return rc;
}
