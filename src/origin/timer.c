/* A binary heap by due time; every exchange knows its place. */
#include "origin/server.h"

#include "base/mem.h"

static void put(struct timers *t, size_t at, struct exchange *x)
{
	t->v[at] = x;
	x->heap_at = at;
}

static void up(struct timers *t, size_t at)
{
	struct exchange *x = t->v[at];

	while (at > 0 && t->v[(at - 1) / 2]->due_ns > x->due_ns) {
		put(t, at, t->v[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	put(t, at, x);
}

static void down(struct timers *t, size_t at)
{
	struct exchange *x = t->v[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= t->n)
			break;
		if (child + 1 < t->n && t->v[child + 1]->due_ns < t->v[child]->due_ns)
			child++;
		if (t->v[child]->due_ns >= x->due_ns)
			break;
		put(t, at, t->v[child]);
		at = child;
	}
	put(t, at, x);
}

void timer_set(struct timers *t, struct exchange *x, uint64_t due_ns)
{
	timer_clear(t, x);
	x->due_ns = due_ns ? due_ns : 1;
	array_reserve(t->v, t->n, t->cap);
	t->v[t->n++] = x;
	up(t, t->n - 1);
}

void timer_clear(struct timers *t, struct exchange *x)
{
	size_t at = x->heap_at;
	struct exchange *moved;

	if (x->due_ns == 0)
		return;
	x->due_ns = 0;
	moved = t->v[--t->n];
	if (moved == x)
		return;
	put(t, at, moved);
	up(t, at);
	down(t, moved->heap_at);
}

struct exchange *timer_first(const struct timers *t)
{
	return t->n ? t->v[0] : NULL;
}
