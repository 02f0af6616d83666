/* A binary heap by due time; every client knows its place. */
#include "origin/server.h"

#include "base/mem.h"

static void put(struct timers *t, size_t at, struct client *c)
{
	t->v[at] = c;
	c->heap_at = at;
}

static void up(struct timers *t, size_t at)
{
	struct client *c = t->v[at];

	while (at > 0 && t->v[(at - 1) / 2]->due_ns > c->due_ns) {
		put(t, at, t->v[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	put(t, at, c);
}

static void down(struct timers *t, size_t at)
{
	struct client *c = t->v[at];

	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= t->n)
			break;
		if (child + 1 < t->n && t->v[child + 1]->due_ns < t->v[child]->due_ns)
			child++;
		if (t->v[child]->due_ns >= c->due_ns)
			break;
		put(t, at, t->v[child]);
		at = child;
	}
	put(t, at, c);
}

void timer_set(struct timers *t, struct client *c, uint64_t due_ns)
{
	timer_clear(t, c);
	c->due_ns = due_ns ? due_ns : 1;
	array_reserve(t->v, t->n, t->cap);
	t->v[t->n++] = c;
	up(t, t->n - 1);
}

void timer_clear(struct timers *t, struct client *c)
{
	size_t at = c->heap_at;
	struct client *moved;

	if (c->due_ns == 0)
		return;
	c->due_ns = 0;
	moved = t->v[--t->n];
	if (moved == c)
		return;
	put(t, at, moved);
	up(t, at);
	down(t, moved->heap_at);
}

struct client *timer_first(const struct timers *t)
{
	return t->n ? t->v[0] : NULL;
}
