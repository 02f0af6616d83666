#include "snapshot/snapshot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "profile/profile.h"
#include "snapshot/internal.h"

#define TRIES 5 /* when images come or go meanwhile */
#define PROFILE_MAX ((size_t)4 << 30)

void snapshot_release(struct snapshot *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->v[i].path);
		free(s->v[i].build_id);
	}
	free(s->v);
	strv_release(&s->notes);
	*s = (struct snapshot){0};
}

struct taking {
	pid_t pid, tid;
	bool rested; /* without stopping it, when it rests */
	struct images images;
	struct mappings maps;
	struct copies copies;
};

static void taking_clear(struct taking *t)
{
	images_release(&t->images);
	mappings_release(&t->maps);
	copies_release(&t->copies);
}

static const enum elf_prf changing[] = {
	ELF_PRF_COUNTERS, ELF_PRF_DATA, ELF_PRF_VALUES, ELF_PRF_NODES, ELF_PRF_BITMAP};

/* All that is needed in memory is there before the process is stopped. */
static void prepare(struct taking *t)
{
	for (size_t i = 0; i < t->images.n; i++) {
		struct image *m = &t->images.v[i];

		for (size_t k = 0; k < ARRAY_SIZE(changing); k++) {
			size_t n = m->elf.v[changing[k]].n;

			if (!n)
				continue;
			copies_want(&t->copies, image_place(m, changing[k]), n);
			m->copies[changing[k]] = t->copies.v[t->copies.n - 1].p;
		}
	}
	copies_sort(&t->copies);
}

static int read_stopped(void *ctx, struct error *err)
{
	struct taking *t = ctx;

	copies_forget_lists(&t->copies);
	if (copies_read(&t->copies, 0, t->tid, err) < 0)
		return -1;
	return lists_read(&t->copies, &t->images, t->tid, err);
}

static int read_now(struct taking *t, struct snapshot *s, struct error *err)
{
	struct stop_facts stop = {0};
	int rc = t->rested ? rested_call(t->pid, read_stopped, t, err) : 1;

	if (rc == 1)
		rc = stopped_call(t->pid, read_stopped, t, &stop, err);
	s->stopped_ns = stop.ns;
	s->threads = stop.threads;
	return rc;
}

/* 0 taken, 1 what is loaded has changed meanwhile, -1 error. */
static int try_once(struct taking *t, struct snapshot *s, struct error *err)
{
	struct mappings now = {0};
	struct error failed = ERROR_INIT;
	bool same;
	char state;
	int rc;

	if (process_find(t->pid, &t->pid, &t->tid, err) < 0 ||
		images_find(t->pid, t->tid, &t->images, &t->maps, &s->notes, err) < 0)
		return -1;
	/* With that thread its files in /proc are gone: what was not found may be there. */
	state = process_state(t->pid, t->tid);
	if (!state || state == 'Z' || state == 'X')
		return 1;
	prepare(t);
	rc = read_now(t, s, &failed);
	/* The process may be gone by now, killed right after it was read: the copies are good. */
	same = mappings_read(t->pid, t->tid, &now, NULL) < 0 || same_code(&t->maps, &now);
	mappings_release(&now);
	if (!same) {
		error_release(&failed);
		return 1;
	}
	return rc < 0 ? error_move(err, &failed) : 0;
}

/* Whatever was found wrong with a process that is gone: that is what there is to say. */
static int explain(pid_t pid, struct error *err)
{
	struct error gone = ERROR_INIT;
	pid_t ignored;

	if (process_find(pid, &ignored, &ignored, &gone) < 0)
		return error_move(err, &gone);
	return -1;
}

static int take(struct taking *t, struct snapshot *s, struct error *err)
{
	for (int k = 0; k < TRIES; k++) {
		struct timespec pause = {0, 20 * (long)NS_PER_MS};
		int rc = try_once(t, s, err);

		if (rc <= 0)
			return rc < 0 ? explain(t->pid, err) : 0;
		taking_clear(t);
		strv_release(&s->notes);
		nanosleep(&pause, NULL);
	}
	return error_set(err, ERR_IO,
		"process %d loads or unloads shared objects all the time; what was read may miss "
		"some",
		(int)t->pid);
}

/* Reads the image's profile with whet's own reader: what that refuses is not written. */
static int describe(const struct image *m, const char *p, size_t n, struct snapshot_image *ret,
	struct error *err)
{
	struct profile_images found = {0};
	struct profile *check = profile_new();
	int rc = profile_add_bytes(check, p, n, 1, &found, err);

	profile_free(check);
	if (rc < 0)
		error_context(err, "'%s': what its memory holds is no valid profile", m->path);
	*ret = (struct snapshot_image){.path = xstrdup(m->path), .assumed = m->assumed};
	for (size_t k = 0; k < found.n && rc == 0; k++) {
		if (!k) {
			ret->version = found.v[k].version;
			ret->build_id = take_ptr(found.v[k].build_id);
		}
		ret->profiles++;
		ret->records += found.v[k].records;
		ret->counters += found.v[k].counters;
		ret->executed += found.v[k].executed;
	}
	profile_images_release(&found);
	for (size_t k = 0; k < ELF_PRF_SECTIONS; k++)
		ret->bytes += m->elf.v[k].n;
	return rc;
}

static int put_image(
	struct taking *t, size_t k, struct buf *out, struct snapshot *s, struct error *err)
{
	const struct image *m = &t->images.v[k];
	struct raw_sections sections;
	size_t start = out->n;

	image_sections(m, &sections);
	if (raw_write(out, &sections, &m->records, copies_look, &t->copies, err) < 0)
		return error_context(err, "'%s'", m->path);
	array_reserve(s->v, s->n, s->cap);
	s->n++;
	if (describe(m, out->p + start, out->n - start, &s->v[s->n - 1], err) < 0)
		return -1;
	s->sections += s->v[s->n - 1].bytes;
	return 0;
}

static int write_all(struct taking *t, const char *path, struct snapshot *s, struct error *err)
{
	auto_buf struct buf out = {.max = PROFILE_MAX};

	copies_sort(&t->copies);
	for (size_t k = 0; k < t->images.n; k++)
		if (put_image(t, k, &out, s, err) < 0)
			return -1;
	s->bytes = out.n;
	return file_write_atomic(path, out.p, out.n, 0644, err);
}

static int write_taken(struct taking *t, const char *path, struct snapshot *ret, struct error *err)
{
	struct snapshot s = {0};
	int rc = take(t, &s, err);

	if (rc == 0)
		rc = write_all(t, path, &s, err);
	taking_clear(t);
	if (rc < 0) {
		snapshot_release(&s);
		return -1;
	}
	*ret = s;
	return 0;
}

int snapshot_write(pid_t pid, const char *path, struct snapshot *ret, struct error *err)
{
	struct taking t = {.pid = pid};

	return write_taken(&t, path, ret, err);
}

int snapshot_write_rested(pid_t pid, const char *path, struct snapshot *ret, struct error *err)
{
	struct taking t = {.pid = pid, .rested = true};

	return write_taken(&t, path, ret, err);
}
