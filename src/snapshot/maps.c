#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "snapshot/internal.h"

#define MAPS_MAX ((size_t)256 << 20)

void mappings_release(struct mappings *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->v[i].path);
	free(m->v);
	*m = (struct mappings){0};
}

/* "START-END PERMS OFFSET DEVICE INODE   PATH"; a newline in the path stands as \012. */
static void add_line(struct mappings *m, char *line)
{
	struct mapping e = {0};
	unsigned major = 0, minor = 0;
	char perms[5] = "", *newline;
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &e.start,
		    &e.end, perms, &e.off, &major, &minor, &e.inode, &path) < 7)
		return;
	e.device = (uint64_t)major << 32 | minor;
	e.write = perms[1] == 'w';
	e.exec = perms[2] == 'x';
	e.shared = perms[3] == 's';
	e.path = xstrdup(path ? line + path : "");
	while ((newline = strstr(e.path, "\\012"))) {
		*newline = '\n';
		memmove(newline + 1, newline + 4, strlen(newline + 4) + 1);
	}
	array_reserve(m->v, m->n, m->cap);
	m->v[m->n++] = e;
}

int mappings_read(pid_t pid, pid_t tid, struct mappings *ret, struct error *err)
{
	auto_free char *path = xasprintf("/proc/%d/maps", (int)tid);
	auto_buf struct buf text = BUF_INIT;
	struct mappings m = {0};
	char *save = NULL;

	if (file_read(path, MAPS_MAX, &text, err) < 0)
		return errno == EACCES || errno == EPERM ? process_refused(pid, err)
		       : errno == ENOENT || errno == ESRCH
			       ? error_set(err, ERR_IO, "process %d has ended", (int)pid)
			       : -1;
	if (!text.n)
		return error_set(err, ERR_IO,
			"process %d has no memory of its own: it is a kernel thread, or has ended",
			(int)pid);
	for (char *l = strtok_r(text.p, "\n", &save); l; l = strtok_r(NULL, "\n", &save))
		add_line(&m, l);
	*ret = m;
	return 0;
}

const struct mapping *mapping_at(const struct mappings *m, uint64_t at)
{
	size_t low = 0, high = m->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m->v[mid].end <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return low < m->n && m->v[low].start <= at ? &m->v[low] : NULL;
}

bool mapped(const struct mappings *m, uint64_t at, uint64_t n)
{
	while (n) {
		const struct mapping *e = mapping_at(m, at);
		uint64_t here;

		if (!e)
			return false;
		here = e->end - at < n ? e->end - at : n;
		at += here;
		n -= here;
	}
	return true;
}

bool same_file(const struct mapping *a, const struct mapping *b)
{
	return a->inode && a->inode == b->inode && a->device == b->device;
}

static const struct mapping *next_code(const struct mappings *m, size_t *at)
{
	while (*at < m->n) {
		const struct mapping *e = &m->v[(*at)++];

		if (e->exec && e->inode)
			return e;
	}
	return NULL;
}

bool same_code(const struct mappings *a, const struct mappings *b)
{
	size_t i = 0, k = 0;

	for (;;) {
		const struct mapping *x = next_code(a, &i), *y = next_code(b, &k);

		if (!x || !y)
			return x == y;
		if (!same_file(x, y) || x->start != y->start || x->end != y->end)
			return false;
	}
}
