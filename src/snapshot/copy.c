#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "base/mem.h"
#include "snapshot/internal.h"

#define IOV_COUNT 1024 /* the kernel takes no more in one call */

void copies_release(struct copies *c)
{
	for (size_t i = 0; i < c->n_blocks; i++)
		free(c->blocks[i]);
	free(c->blocks);
	free(c->v);
	*c = (struct copies){0};
}

void copies_want(struct copies *c, uint64_t at, size_t n)
{
	/* Written to, so that it need not be made while the process stands. */
	uint8_t *p = xmalloc(n);

	memset(p, 0xff, n);
	array_reserve(c->blocks, c->n_blocks, c->cap_blocks);
	c->blocks[c->n_blocks++] = p;
	array_reserve(c->v, c->n, c->cap);
	c->v[c->n++] = (struct copy){at, n, p};
}

static int read_failed(pid_t tid, uint64_t at, struct error *err)
{
	if (errno == EPERM)
		return process_refused(tid, err);
	if (errno == ESRCH)
		return error_set(err, ERR_IO, "the process ended while it was read");
	return error_set(err, ERR_IO, "cannot read the process's memory at 0x%" PRIx64 ": %s", at,
		strerror(errno));
}

/* Reads a batch. The kernel stops early at a page that it cannot read, and at 2 GiB. */
static int read_batch(const struct copy *v, size_t n, pid_t tid, struct error *err)
{
	struct iovec to[IOV_COUNT], from[IOV_COUNT];
	size_t done = 0; /* bytes of v[0] that are there */

	while (n) {
		ssize_t got;

		for (size_t i = 0; i < n; i++) {
			size_t skip = i ? 0 : done;

			to[i] = (struct iovec){v[i].p + skip, v[i].n - skip};
			from[i] =
				(struct iovec){(void *)(uintptr_t)(v[i].at + skip), v[i].n - skip};
		}
		got = process_vm_readv(tid, to, n, from, n, 0);
		if (got <= 0)
			return read_failed(tid, v->at + done, err);
		done += (size_t)got;
		while (n && done >= v->n) {
			done -= v->n;
			v++;
			n--;
		}
	}
	return 0;
}

int copies_read(struct copies *c, size_t from, pid_t tid, struct error *err)
{
	for (size_t i = from; i < c->n; i += IOV_COUNT) {
		size_t n = c->n - i < IOV_COUNT ? c->n - i : IOV_COUNT;

		if (read_batch(c->v + i, n, tid, err) < 0)
			return -1;
	}
	return 0;
}

int memory_read(pid_t tid, uint64_t at, void *to, size_t n, struct error *err)
{
	struct copy one = {at, n, to};

	return n ? read_batch(&one, 1, tid, err) : 0;
}

static int by_address(const void *a, const void *b)
{
	const struct copy *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

void copies_sort(struct copies *c)
{
	if (c->n)
		qsort(c->v, c->n, sizeof(*c->v), by_address);
	c->sorted = c->n;
}

const uint8_t *copies_look(const void *copies, uint64_t at, size_t n)
{
	const struct copies *c = copies;
	size_t low = 0, high = c->sorted;

	while (low < high) { /* the last copy that starts at or before `at` */
		size_t mid = low + (high - low) / 2;

		if (c->v[mid].at <= at)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || at - c->v[low - 1].at > c->v[low - 1].n ||
		n > c->v[low - 1].n - (at - c->v[low - 1].at))
		return NULL;
	return c->v[low - 1].p + (at - c->v[low - 1].at);
}
