/* The counts of the arcs without a counter. They form a tree over the blocks (with one more arc
 * from the exit to the entry), so there is always a block at which only one count is open. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "profile/gcc/gcno.h"
#include "profile/gcc/sites.h"

/* A block's balance: what is known to flow in less what flows out; and its arcs with open counts.
 */
struct node {
	int64_t balance;
	uint32_t open, which; /* how many; all their numbers xor-ed: the number when there is one */
};

struct flow {
	const struct gcno_function *f;
	struct node *nodes;
	uint32_t *todo; /* blocks with one open count */
	size_t n_todo;
	uint64_t *arcs;
	uint64_t entry; /* of the added arc, number n_arcs */
	uint32_t open;
};

static struct gcno_arc arc_of(const struct flow *w, uint32_t i)
{
	return i == w->f->n_arcs ? (struct gcno_arc){.from = 1, .to = 0} : w->f->arcs[i];
}

static void touch(struct flow *w, uint32_t block, uint32_t arc)
{
	struct node *n = &w->nodes[block];

	n->which ^= arc;
	if (--n->open == 1)
		w->todo[w->n_todo++] = block;
}

static int settle(struct flow *w, uint32_t i, uint64_t count, struct error *err)
{
	struct gcno_arc a = arc_of(w, i);
	int64_t *from = &w->nodes[a.from].balance, *to = &w->nodes[a.to].balance;

	if (count > INT64_MAX || __builtin_sub_overflow(*from, (int64_t)count, from) ||
		__builtin_add_overflow(*to, (int64_t)count, to))
		return error_set(err, ERR_CORRUPT,
			"'%s': counts around block %" PRIu32 " do not add up: threads counted at "
			"once without -fprofile-update=atomic, or the file is damaged",
			w->f->name, a.from);
	if (i == w->f->n_arcs)
		w->entry = count;
	else
		w->arcs[i] = count;
	return 0;
}

static void open_arc(struct flow *w, uint32_t i)
{
	struct gcno_arc a = arc_of(w, i);

	w->nodes[a.from].open++;
	w->nodes[a.from].which ^= i;
	w->nodes[a.to].open++;
	w->nodes[a.to].which ^= i;
	w->open++;
}

static int begin(struct flow *w, const uint64_t *counters, struct error *err)
{
	for (uint32_t i = 0; i < w->f->n_arcs; i++)
		if (w->f->arcs[i].flags & GCNO_ON_TREE)
			open_arc(w, i);
		else if (settle(w, i, *counters++, err) < 0)
			return -1;
	open_arc(w, w->f->n_arcs);
	for (uint32_t b = 0; b < w->f->n_blocks; b++)
		if (w->nodes[b].open == 1)
			w->todo[w->n_todo++] = b;
	return 0;
}

static int run(struct flow *w, struct error *err)
{
	while (w->n_todo) {
		uint32_t b = w->todo[--w->n_todo], i;
		struct gcno_arc a;

		if (w->nodes[b].open != 1)
			continue;
		i = w->nodes[b].which;
		a = arc_of(w, i);
		/* Of the two ends one is b, and flow that is missing there comes through this arc.
		 */
		if (settle(w, i,
			    a.to == b ? -(uint64_t)w->nodes[b].balance
				      : (uint64_t)w->nodes[b].balance,
			    err) < 0)
			return -1;
		touch(w, a.from, i);
		touch(w, a.to, i);
		w->open--;
	}
	if (w->open)
		return error_set(err, ERR_CORRUPT,
			"'%s': %" PRIu32 " arcs have no counter and no count that follows from "
			"others: the .gcno is damaged",
			w->f->name, w->open);
	return 0;
}

int gcno_solve(const struct gcno_function *f, const uint64_t *counters, uint64_t *arcs,
	uint64_t *blocks, struct error *err)
{
	struct flow w = {.f = f, .arcs = arcs};
	int rc;

	if (f->n_blocks < 2)
		return error_set(err, ERR_CORRUPT, "'%s' has no blocks in the .gcno", f->name);
	w.nodes = xcalloc(f->n_blocks, sizeof(*w.nodes));
	w.todo = xcalloc(2 * (size_t)f->n_blocks, sizeof(*w.todo));
	rc = begin(&w, counters, err);
	if (rc == 0)
		rc = run(&w, err);
	if (rc == 0) {
		for (uint32_t b = 0; b < f->n_blocks; b++)
			blocks[b] = 0;
		blocks[0] = w.entry;
		for (uint32_t i = 0; i < f->n_arcs; i++)
			blocks[f->arcs[i].to] = gcda_plus(blocks[f->arcs[i].to], arcs[i]);
	}
	free(w.nodes);
	free(w.todo);
	return rc;
}
