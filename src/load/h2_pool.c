#include "load/h2_pool.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define STEP ((size_t)64) /* sizes are rounded up to a multiple */
#define CLASSES 16        /* larger blocks come from malloc */

/* Before each block. */
union head {
	_Alignas(max_align_t) size_t size; /* of the block, rounded up: in use */
	union head *next;                  /* free */
};

struct h2_pool {
	nghttp2_mem mem;
	union head *kept[CLASSES]; /* free blocks, by size / STEP - 1 */
};

static void *take(size_t n, void *ctx)
{
	struct h2_pool *p = ctx;
	size_t size = n ? (n + STEP - 1) / STEP * STEP : STEP;
	size_t class = size / STEP - 1;
	union head *h;

	if (n > SIZE_MAX / 2)
		return NULL;
	if (class < CLASSES && p->kept[class]) {
		h = p->kept[class];
		p->kept[class] = h->next;
	} else {
		h = malloc(sizeof(*h) + size);
	}
	if (!h)
		return NULL;
	h->size = size;
	return h + 1;
}

static void give(void *block, void *ctx)
{
	struct h2_pool *p = ctx;
	union head *h = block;
	size_t class;

	if (!h)
		return;
	h--;
	class = h->size / STEP - 1;
	if (class >= CLASSES) {
		free(h);
		return;
	}
	h->next = p->kept[class];
	p->kept[class] = h;
}

static void *take_zeroed(size_t n, size_t size, void *ctx)
{
	size_t whole;
	void *block = __builtin_mul_overflow(n, size, &whole) ? NULL : take(whole, ctx);

	return block ? memset(block, 0, whole) : NULL;
}

static void *resize(void *block, size_t n, void *ctx)
{
	const union head *h = block;
	void *to;

	if (h && n <= h[-1].size)
		return block;
	to = take(n, ctx);
	if (to && h) {
		memcpy(to, block, h[-1].size);
		give(block, ctx);
	}
	return to;
}

struct h2_pool *h2_pool_new(void)
{
	struct h2_pool *p = xcalloc(1, sizeof(*p));

	p->mem = (nghttp2_mem){p, take, give, take_zeroed, resize};
	return p;
}

void h2_pool_free(struct h2_pool *p)
{
	for (size_t i = 0; p && i < CLASSES; i++) {
		while (p->kept[i]) {
			union head *h = p->kept[i];

			p->kept[i] = h->next;
			free(h);
		}
	}
	free(p);
}

nghttp2_mem *h2_pool_mem(struct h2_pool *p)
{
	return &p->mem;
}
