#include "store/index.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"

#define MAGIC 0x3278646965687731ULL

/* On disk: the head, then per file an entry followed by the path with its NUL, padded to 8. */
struct head {
	uint64_t magic;
	char sha256[SHA256_HEX + 7]; /* of all that follows: the digests in it are believed */
	uint64_t count;
	int64_t written_ns;
};

#define SEALED offsetof(struct head, count)

struct entry {
	uint64_t dev, ino, size;
	int64_t mtime_ns, ctime_ns;
	uint32_t mode, path_n;
	uint8_t sha256[32];
	uint64_t built;
};

/* A file changed this shortly before the index was written may change again without a visible
 * change of its times: it is hashed again. */
#define RACY_NS 2000000000LL

struct index {
	struct file_map map;
	size_t off, count, seen;
	int64_t written_ns;
	const struct entry *next;
	const char *path;
};

static bool advance(struct index *x)
{
	const uint8_t *p = x->map.p + x->off;
	const struct entry *e = (const struct entry *)(const void *)p;
	size_t left = x->map.n - x->off, size;

	x->next = NULL;
	if (x->seen >= x->count || left < sizeof(*e) || e->path_n > left - sizeof(*e) || !e->path_n)
		return false;
	size = (sizeof(*e) + e->path_n + 7) & ~(size_t)7;
	if (size > left || p[sizeof(*e) + e->path_n - 1] != '\0')
		return false;
	x->next = e;
	x->path = (const char *)p + sizeof(*e);
	x->off += size;
	x->seen++;
	return true;
}

static bool is_whole(const struct file_map *m, struct head *h)
{
	char hex[SHA256_HEX];

	if (m->n < sizeof(*h))
		return false;
	memcpy(h, m->p, sizeof(*h));
	if (h->magic != MAGIC)
		return false;
	sha256_of(m->p + SEALED, m->n - SEALED, hex);
	return memcmp(hex, h->sha256, sizeof(hex)) == 0;
}

struct index *index_open(const char *path)
{
	struct index *x = xcalloc(1, sizeof(*x));
	struct head h;

	if (!path_exists(path) || file_map(path, &x->map, NULL) < 0 || !is_whole(&x->map, &h)) {
		index_close(x);
		return NULL;
	}
	x->off = sizeof(h);
	x->count = h.count;
	x->written_ns = h.written_ns;
	advance(x);
	return x;
}

static bool same_identity(const struct index *x, const struct source_file *f)
{
	const struct entry *e = x->next;

	return e->dev == f->dev && e->ino == f->ino && e->size == f->size &&
	       e->mtime_ns == f->mtime_ns && e->ctime_ns == f->ctime_ns && e->mode == f->mode &&
	       e->mtime_ns < x->written_ns - RACY_NS && e->ctime_ns < x->written_ns - RACY_NS;
}

bool index_lookup(struct index *x, struct source_file *f)
{
	int c = -1;

	if (!x)
		return false;
	while (x->next && (c = strcmp(x->path, f->path)) < 0)
		advance(x);
	if (!x->next || c != 0 || !same_identity(x, f))
		return false;
	memcpy(f->sha256, x->next->sha256, sizeof(f->sha256));
	f->built = x->next->built;
	return true;
}

size_t index_count(const struct index *x)
{
	return x ? x->count : (size_t)-1;
}

int index_write(const char *path, const struct source_tree *t, struct error *err)
{
	auto_buf struct buf b = BUF_INIT;
	struct head h = {MAGIC, "", t->n, (int64_t)clock_real_ns()};
	static const char zeros[8];

	buf_add(&b, &h, sizeof(h));
	for (size_t i = 0; i < t->n; i++) {
		const struct source_file *f = &t->v[i];
		struct entry e = {f->dev, f->ino, f->size, f->mtime_ns, f->ctime_ns, f->mode,
			(uint32_t)strlen(f->path) + 1, {0}, f->built};

		memcpy(e.sha256, f->sha256, sizeof(e.sha256));
		buf_add(&b, &e, sizeof(e));
		buf_add(&b, f->path, e.path_n);
		buf_add(&b, zeros, (8 - b.n % 8) % 8);
	}
	sha256_of(b.p + SEALED, b.n - SEALED, h.sha256);
	memcpy(b.p, &h, sizeof(h));
	return file_write_atomic(path, b.p, b.n, 0644, err);
}

void index_close(struct index *x)
{
	if (!x)
		return;
	file_unmap(&x->map);
	free(x);
}
